// RUN: stepwell-opt %s -p 'apply-schedule{file="%S/gemm.mlir"}' --check-schedule | filecheck %s

/// The schedule of gemm.mlir on a shape that its tiles do not divide.
// CHECK: where(%{{.*}} * 6 + %{{.*}} < 20, %{{.*}} * 64 + %{{.*}} < 20)
tensor_loop.func @gemm(%A: memref<20x20xf32>, %B: memref<20x20xf32>) outs(%C: memref<20x20xf32>) {
  tensor_loop.grid (%i, %j, %k) in (20, 20, 20) {
    tensor_loop.block "product" spatial(%vi in 20 = %i, %vj in 20 = %j) reduce(%vk in 20 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %C[%vi, %vj] : memref<20x20xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<20x20xf32>
      %b = memref.load %B[%vk, %vj] : memref<20x20xf32>
      %c = memref.load %C[%vi, %vj] : memref<20x20xf32>
      %ab = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %sum = arith.addf %c, %ab fastmath<reassoc,contract> : f32
      memref.store %sum, %C[%vi, %vj] : memref<20x20xf32>
    }
  }
}
