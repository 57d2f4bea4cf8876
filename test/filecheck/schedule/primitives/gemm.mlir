// RUN: stepwell-opt %s -p apply-schedule{check=true} | filecheck %s

/// The blocks of a product: split, reorder, the init apart, the epilogue under the tiles.
schedule.program {
  %mm = schedule.get_block "mm" in @gemm
  %i, %j, %k = schedule.get_loops %mm : 3
  %i0, %i1 = schedule.split %i [?, 4]
  %j0, %j1 = schedule.split %j [?, 8]
  schedule.reorder %i0, %j0, %k, %i1, %j1
  %init = schedule.decompose_reduction %mm, %k
  %relu = schedule.get_block "relu" in @gemm
  schedule.vectorize %j1
}

// CHECK-NOT: schedule.program
// CHECK-LABEL: @gemm
// CHECK: tensor_loop.for %[[I0:.*]] in 3 {
// CHECK-NEXT: tensor_loop.for %[[J0:.*]] in 2 {
// CHECK-NEXT: tensor_loop.for %[[X:.*]] in 4 {
// CHECK-NEXT: tensor_loop.for %[[Y:.*]] in 8 {
// CHECK-NEXT: tensor_loop.block "mm_init" spatial(%{{.*}} in 12 = %[[I0]] * 4 + %[[X]], %{{.*}} in 16 = %[[J0]] * 8 + %[[Y]])
// CHECK-NOT: init {
// CHECK: tensor_loop.for %[[K:.*]] in 5 {
// CHECK-NEXT: tensor_loop.for %[[I1:.*]] in 4 {
// CHECK-NEXT: tensor_loop.for %[[J1:.*]] in 8 vectorized {
// CHECK-NEXT: tensor_loop.block "mm"
tensor_loop.func @gemm(%A: memref<12x5xf32>, %B: memref<5x16xf32>) outs(%C: memref<12x16xf32>) {
  %S = tensor_loop.alloc : memref<12x16xf32>
  tensor_loop.grid (%i, %j, %k) in (12, 16, 5) {
    tensor_loop.block "mm" spatial(%vi in 12 = %i, %vj in 16 = %j) reduce(%vk in 5 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %S[%vi, %vj] : memref<12x16xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<12x5xf32>
      %b = memref.load %B[%vk, %vj] : memref<5x16xf32>
      %c = memref.load %S[%vi, %vj] : memref<12x16xf32>
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      memref.store %s, %S[%vi, %vj] : memref<12x16xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (12, 16) {
    tensor_loop.block "relu" spatial(%vx in 12 = %x, %vy in 16 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<12x16xf32>
      %zero = arith.constant 0.0 : f32
      %v = arith.maximumf %u, %zero : f32
      memref.store %v, %C[%vx, %vy] : memref<12x16xf32>
    }
  }
}
