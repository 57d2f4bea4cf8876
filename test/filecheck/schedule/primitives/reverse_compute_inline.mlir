// RUN: stepwell-opt %s -p apply-schedule | filecheck %s

/// The product where the sum is stored.
schedule.program {
  %add = schedule.get_block "add" in @f
  %i = schedule.get_loops %add : 1
  %mul = schedule.get_block "mul" in @f
  %j = schedule.get_loops %mul : 1
  schedule.reverse_compute_inline %mul
}

// CHECK-LABEL: tensor_loop.func @f
// CHECK: tensor_loop.block "add" spatial(%[[VI:.*]] in 24 = %[[I:.*]]) reads(%[[A:.*]]{{\[}}%[[VI]]]) writes(%[[C:.*]]{{\[}}%[[VI]]]) {
tensor_loop.func @f(%A: memref<24xf32>) outs(%C: memref<24xf32>) {
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
  
}
