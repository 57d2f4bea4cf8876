// RUN: %roundtrip
// RUN: %generic

// CHECK: schedule.annotate %b "stepwell.tiling" with #schedule.tiling<rows = 6, columns = 64>
// GENERIC: value = #schedule.tiling<rows = 6, columns = 64>
schedule.program {
  %b = schedule.get_block "mm" in @f
  schedule.annotate %b "stepwell.tiling" with #schedule.tiling<rows = 6, columns = 64>
}

/// The order does not matter, and what is as by default is left out.
// CHECK: #schedule.tiling<rows = 8, columns = 48, packed, parts = 4, panels = 2, panels_outside>
// CHECK-NEXT: schedule.annotate %b "stepwell.tiling" with #schedule.tiling<rows = 1, columns = 16>
schedule.program {
  %b = schedule.get_block "mm" in @f
  schedule.annotate %b "stepwell.tiling" with #schedule.tiling<panels_outside, panels = 2, parts = 4, packed, columns = 48, rows = 8>
  schedule.annotate %b "stepwell.tiling" with #schedule.tiling<rows = 1, columns = 16, parts = 1>
}
