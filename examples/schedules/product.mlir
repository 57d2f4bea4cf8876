// RUN: stepwell-opt %s -p 'apply-schedule{file="%S/gemm.mlir"}' | filecheck %s

// CHECK: tensor_loop.for %[[J0:.*]] in 6 {
// CHECK-NEXT: tensor_loop.for %[[I0:.*]] in 64 {
// CHECK: tensor_loop.block "product_init"
// CHECK: tensor_loop.for %[[K:.*]] in 384 {
// CHECK-NEXT: tensor_loop.for %[[I1:.*]] in 6 unrolled {
// CHECK-NEXT: tensor_loop.for %[[J1:.*]] in 64 vectorized {
// CHECK-NEXT: tensor_loop.block "product" spatial(%{{.*}} in 384 = %[[I0]] * 6 + %[[I1]], %{{.*}} in 384 = %[[J0]] * 64 + %[[J1]]) reduce(%{{.*}} in 384 = %[[K]])
tensor_loop.func @gemm(%A: memref<384x384xf32>, %B: memref<384x384xf32>) outs(%C: memref<384x384xf32>) {
  tensor_loop.grid (%i, %j, %k) in (384, 384, 384) {
    tensor_loop.block "product" spatial(%vi in 384 = %i, %vj in 384 = %j) reduce(%vk in 384 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %C[%vi, %vj] : memref<384x384xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<384x384xf32>
      %b = memref.load %B[%vk, %vj] : memref<384x384xf32>
      %c = memref.load %C[%vi, %vj] : memref<384x384xf32>
      %ab = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %sum = arith.addf %c, %ab fastmath<reassoc,contract> : f32
      memref.store %sum, %C[%vi, %vj] : memref<384x384xf32>
    }
  }
}
