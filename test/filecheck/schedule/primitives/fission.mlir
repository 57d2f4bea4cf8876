// RUN: stepwell-opt %s -p apply-schedule | filecheck %s

/// The zeros of a row stand in a loop of their own, then those of all rows in a nest of their own.
schedule.program {
  %mm = schedule.get_block "mm" in @f
  %i, %j, %k = schedule.get_loops %mm : 3
  %init = schedule.decompose_reduction %mm, %k
  %j1 = schedule.fission %j, %init
  %i1 = schedule.fission %i, %init
  schedule.vectorize %j
  schedule.parallel %i1
}

// CHECK-LABEL: tensor_loop.func @f
// CHECK: tensor_loop.for %[[I0:.*]] in 12 {
// CHECK-NEXT: tensor_loop.for %[[J0:.*]] in 20 vectorized {
// CHECK-NEXT: tensor_loop.block "mm_init" spatial(%{{.*}} in 12 = %[[I0]], %{{.*}} in 20 = %[[J0]])
// CHECK: tensor_loop.for %[[I1:.*]] in 12 parallel {
// CHECK-NEXT: tensor_loop.for %[[J1:.*]] in 20 {
// CHECK-NEXT: tensor_loop.for %[[K:.*]] in 16 {
// CHECK-NEXT: tensor_loop.block "mm" spatial(%{{.*}} in 12 = %[[I1]], %{{.*}} in 20 = %[[J1]]) reduce(%{{.*}} in 16 = %[[K]])
tensor_loop.func @f(%A: memref<12x16xf32>, %B: memref<16x20xf32>) outs(%C: memref<12x20xf32>) {
  %S = tensor_loop.alloc : memref<12x20xf32>
  tensor_loop.grid (%i, %j, %k) in (12, 20, 16) {
    tensor_loop.block "mm" spatial(%vi in 12 = %i, %vj in 20 = %j) reduce(%vk in 16 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<12x20xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<12x16xf32>
      %b = memref.load %B[%vk, %vj] : memref<16x20xf32>
      %c = memref.load %S[%vi, %vj] : memref<12x20xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %S[%vi, %vj] : memref<12x20xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (12, 20) {
    tensor_loop.block "relu" spatial(%vx in 12 = %x, %vy in 20 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<12x20xf32>
      %zero = arith.constant 0.0 : f32
      %v = arith.maximumf %u, %zero : f32
      memref.store %v, %C[%vx, %vy] : memref<12x20xf32>
    }
  }
}
