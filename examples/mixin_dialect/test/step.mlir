// RUN: stepwell-opt %S/../product.mlir -p 'lower-quaternion-products,apply-schedule{file="%S/../schedule.mlir"}' --check-schedule | filecheck %s
// RUN: not stepwell-opt %s -p apply-schedule 2>&1 | filecheck %s --check-prefix=REFUSED

// CHECK: tensor_loop.for %i00 in 2 {
// CHECK-NEXT: tensor_loop.for %i01 in 4 vectorized {

// REFUSED: step.mlir:{{.*}}: error: 'quaternion.vectorize_product': the loop is not right around one product
// REFUSED: > tensor_loop.for %i in 2 {
tensor_loop.func @f(%x: memref<2x3xf32>) outs(%y: memref<2x3xf32>) {
  tensor_loop.for %i in 2 {
    tensor_loop.for %j in 3 {
      tensor_loop.block "hamilton" spatial(%vi in 2 = %i, %vj in 3 = %j) {
        %0 = memref.load %x[%vi, %vj] : memref<2x3xf32>
        memref.store %0, %y[%vi, %vj] : memref<2x3xf32>
      }
    }
  }
}
schedule.program {
  %b = schedule.get_block "hamilton" in @f
  %i, %j = schedule.get_loops %b : 2
  quaternion.vectorize_product %i
}
