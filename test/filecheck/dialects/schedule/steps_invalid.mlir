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

// -----
// CHECK: // -----

// CHECK: a handle in a list of numbers is no number
schedule.program {
  %b = schedule.get_block "mm" in @f
  %i, %j = schedule.get_loops %b : 2
  %i0, %i1 = schedule.split %i [?, %j]
}

// -----
// CHECK: // -----

// CHECK: a handle is a number, expected a loop or block
schedule.program {
  %n = schedule.sample_categorical [4]
  %u = schedule.add_unit_loop %n
}

// -----
// CHECK: // -----

// CHECK: 0 results, expected 1 or more
schedule.program {
  %b = schedule.get_block "mm" in @f
  %i = schedule.get_loops %b : 1
  schedule.sample_perfect_tile %i : 0
}

// -----
// CHECK: // -----

// CHECK: the largest innermost factor is 0, expected a positive number
schedule.program {
  %b = schedule.get_block "mm" in @f
  %i = schedule.get_loops %b : 1
  %t = schedule.sample_perfect_tile %i most 0 : 1
}

// -----
// CHECK: // -----

// CHECK: a decision of 1 numbers for 2 results, expected one each
schedule.program {
  %b = schedule.get_block "mm" in @f
  %i = schedule.get_loops %b : 1
  %t, %u = schedule.sample_perfect_tile %i decision [4] : 2
}

// -----
// CHECK: // -----

// CHECK: the decision is [-1, -4], expected positive numbers
schedule.program {
  %b = schedule.get_block "mm" in @f
  %i = schedule.get_loops %b : 1
  %t, %u = schedule.sample_perfect_tile %i decision [-1, -4] : 2
}

// -----
// CHECK: // -----

// CHECK: the candidates must be numbers, at least one
schedule.program {
  %n = schedule.sample_categorical []
}

// -----
// CHECK: // -----

// CHECK: weights [1, -1] of 2 candidates, expected one each, none negative, not all 0
schedule.program {
  %n = schedule.sample_categorical [1, 2] weights [1, -1]
}

// -----
// CHECK: // -----

// CHECK: the decision is number 2, expected 0 to 1
schedule.program {
  %n = schedule.sample_categorical [1, 2] decision 2
}

// -----
// CHECK: // -----

// CHECK: which buffer is "first", expected "read" or "write"
schedule.program {
  %b = schedule.get_block "mm" in @f
  %c = schedule.reindex %b "first" 0
}

// -----
// CHECK: // -----

// CHECK: factor 4 and offset 4, expected 0 <= offset < factor
schedule.program {
  %b = schedule.get_block "mm" in @f
  schedule.storage_align %b 0 dimension 0 factor 4 offset 4
}
