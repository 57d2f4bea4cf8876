// RUN: stepwell-opt %s -p apply-schedule | filecheck %s

/// The part of the temporary that a tile reads, right before it.
schedule.program {
  %add = schedule.get_block "add" in @f
  %i = schedule.get_loops %add : 1
  %mul = schedule.get_block "mul" in @f
  %j = schedule.get_loops %mul : 1
  %a, %b = schedule.split %j [?, 8]
  schedule.compute_at %add, %a
}

// CHECK-LABEL: tensor_loop.func @f
// CHECK: tensor_loop.for %[[J0:.*]] in 3 {
// CHECK: tensor_loop.for %[[I:.*]] in 8 {
// CHECK: tensor_loop.block "add" spatial(%[[VI:.*]] in 24 = %[[J0]] * 8 + %[[I]])
// CHECK: tensor_loop.for %[[J1:.*]] in 8 {
// CHECK: tensor_loop.block "mul" spatial(%[[VJ:.*]] in 24 = %[[J0]] * 8 + %[[J1]])
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
