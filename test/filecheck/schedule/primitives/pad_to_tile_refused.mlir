// RUN: not stepwell-opt %s -p apply-schedule 2>&1 | filecheck %s

/// A window is more than an axis.
schedule.program {
  %add = schedule.get_block "add" in @f
  %i = schedule.get_loops %add : 1
  %mul = schedule.get_block "mul" in @f
  %j = schedule.get_loops %mul : 1
  %window = schedule.get_block "window" in @f
  %n, %w = schedule.get_loops %window : 2
  schedule.pad_to_tile %window [8, 4]
}

// CHECK: pad_to_tile_refused.mlir:{{.*}}: error: 'schedule.pad_to_tile': block "window" indexes %T by more than an axis that is padded
// CHECK-NEXT:   ...
// CHECK-NEXT:     tensor_loop.block "add" spatial(%vi in 24 = %i)
// CHECK-NEXT:   tensor_loop.for %j in 24 {
// CHECK-NEXT:     tensor_loop.block "mul" spatial(%vj in 24 = %j)
// CHECK-NEXT:   tensor_loop.for %n in 8 {
// CHECK-NEXT:     tensor_loop.for %w in 3 {
// CHECK-NEXT: >     tensor_loop.block "window" spatial(%vn in 8 = %n) reduce(%vw in 3 = %w)
tensor_loop.func @f(%A: memref<24xf32>) outs(%C: memref<24xf32>, %D: memref<8xf32>) {
  %T = tensor_loop.alloc : memref<24xf32>
  tensor_loop.grid (%i) in (24) {
    tensor_loop.block "add" spatial(%vi in 24 = %i) {
      %a = memref.load %A[%vi] : memref<24xf32>
      %one = arith.constant 1.0 : f32
      %b = arith.addf %a, %one : f32
      memref.store %b, %T[%vi] : memref<24xf32>
    }
  }
  tensor_loop.grid (%j) in (24) {
    tensor_loop.block "mul" spatial(%vj in 24 = %j) {
      %t = memref.load %T[%vj] : memref<24xf32>
      %two = arith.constant 2.0 : f32
      %m = arith.mulf %t, %two : f32
      memref.store %m, %C[%vj] : memref<24xf32>
    }
  }
  tensor_loop.grid (%n, %w) in (8, 3) {
    tensor_loop.block "window" spatial(%vn in 8 = %n) reduce(%vw in 3 = %w) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %D[%vn] : memref<8xf32>
      }
      %three = arith.constant 3 : index
      %q = arith.muli %vn, %three : index
      %r = arith.addi %q, %vw : index
      %e = memref.load %T[%r] : memref<24xf32>
      %d = memref.load %D[%vn] : memref<8xf32>
      %g = arith.addf %d, %e : f32
      memref.store %g, %D[%vn] : memref<8xf32>
    }
  }
}
