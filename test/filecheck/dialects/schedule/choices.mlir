// RUN: %roundtrip
// RUN: %generic

// CHECK: schedule.annotate %b "stepwell.tiling" with #schedule.depthwise<rows = 3, pixels = 4>
// CHECK-NEXT: schedule.annotate %b "stepwell.tiling" with #schedule.winograd<images = 1, rows = 7, tile_rows = 12, tile_columns = 32>
// CHECK-NEXT: schedule.annotate %b "stepwell.tiling" with #schedule.dots<rows = 6, columns = 64>
// CHECK-NEXT: schedule.annotate %b "stepwell.tiling" with #schedule.tile_registers<panels = 4>
// GENERIC: value = #schedule.depthwise<rows = 3, pixels = 4>
// GENERIC: value = #schedule.winograd<images = 1, rows = 7, tile_rows = 12, tile_columns = 32>
// GENERIC: value = #schedule.dots<rows = 6, columns = 64>
// GENERIC: value = #schedule.tile_registers<panels = 4>
schedule.program {
  %b = schedule.get_block "conv" in @f
  schedule.annotate %b "stepwell.tiling" with #schedule.depthwise<pixels = 4, rows = 3>
  schedule.annotate %b "stepwell.tiling" with #schedule.winograd<images = 1, rows = 7, tile_rows = 12, tile_columns = 32>
  schedule.annotate %b "stepwell.tiling" with #schedule.dots<columns = 64, rows = 6>
  schedule.annotate %b "stepwell.tiling" with #schedule.tile_registers<panels = 4>
}
