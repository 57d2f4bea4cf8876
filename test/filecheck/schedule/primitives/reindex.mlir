// RUN: stepwell-opt %s -p apply-schedule | filecheck %s

/// A window as rows: one dimension per axis.
schedule.program {
  %add = schedule.get_block "add" in @f
  %i = schedule.get_loops %add : 1
  %mul = schedule.get_block "mul" in @f
  %j = schedule.get_loops %mul : 1
  %window = schedule.get_block "window" in @f
  %n, %w = schedule.get_loops %window : 2
  schedule.compute_inline %add
  %c = schedule.reindex %window "read" 0
}

// CHECK-LABEL: tensor_loop.func @f
// CHECK: tensor_loop.block "mul" spatial(%[[VJ:.*]] in 24 = %[[J:.*]]) reads(%[[A:.*]]{{\[}}%[[VJ]]]) writes(%[[C:.*]]{{\[}}%[[VJ]]]) {
// CHECK: %[[A_REINDEX:.*]] = tensor_loop.alloc : memref<8x3xf32>
// CHECK: tensor_loop.for %[[D0:.*]] in 8 {
// CHECK: tensor_loop.for %[[D1:.*]] in 3 {
// CHECK: tensor_loop.block "A_reindex" spatial(%[[VD0:.*]] in 8 = %[[D0]], %[[VD1:.*]] in 3 = %[[D1]]) reads(%[[A]]{{\[}}%[[VD0]] * 3 + %[[VD1]]]) writes(%[[A_REINDEX]]{{\[}}%[[VD0]], %[[VD1]]]) {
// CHECK: tensor_loop.for %[[N:.*]] in 8 {
// CHECK: tensor_loop.for %[[W:.*]] in 3 {
// CHECK: tensor_loop.block "window" spatial(%[[VN:.*]] in 8 = %[[N]]) reduce(%[[VW:.*]] in 3 = %[[W]]) reads(%[[A_REINDEX]]{{\[}}%[[VN]], %[[VW]]]) writes(%[[D:.*]]{{\[}}%[[VN]]]) {
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
