// RUN: %invalid

// CHECK: 2 factors are to be inferred, expected one at most
schedule.program {
  %b = schedule.get_block "mm" in @f
  %i = schedule.get_loops %b : 1
  %i0, %i1 = schedule.split %i [?, ?]
}

// -----
// CHECK: // -----

// CHECK: a handle is of type !schedule.block, expected !schedule.loop
schedule.program {
  %b = schedule.get_block "mm" in @f
  schedule.unroll %b
}

// -----
// CHECK: // -----

// CHECK: unknown form "dot", expected "mma" or "row"
schedule.program {
  %b = schedule.get_block "mm" in @f
  schedule.tensorize %b "dot"
}

// -----
// CHECK: // -----

// CHECK: handle %x is not defined before this step
schedule.program {
  schedule.unroll %x
}

// -----
// CHECK: // -----

// CHECK: 1 handles, expected 2 or more
schedule.program {
  %b = schedule.get_block "mm" in @f
  %i = schedule.get_loops %b : 1
  schedule.reorder %i
}
