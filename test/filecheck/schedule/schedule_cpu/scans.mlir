// RUN: stepwell-opt %s -p schedule-cpu | filecheck %s

/// Sums down the columns: rows keep their order, and each column has numbers of its own.
// CHECK-LABEL: @down(
// CHECK-NEXT:  tensor_loop.for %i in 15 {
// CHECK-NEXT:    tensor_loop.for %j in 64 vectorized {
tensor_loop.func @down(%x: memref<16x64xf32>) outs(%y: memref<16x64xf32> {stepwell.in_place}) {
  tensor_loop.grid (%i, %j) in (15, 64) {
    tensor_loop.block "down" reduce(%vi in 15 = %i) spatial(%vj in 64 = %j) {
      %c1 = arith.constant 1 : index
      %n = arith.addi %vi, %c1 : index
      %a = memref.load %y[%vi, %vj] : memref<16x64xf32>
      %b = memref.load %x[%n, %vj] : memref<16x64xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %y[%n, %vj] : memref<16x64xf32>
    }
  }
}

/// Sums along the rows need every loop in its order.
// CHECK-LABEL: @along(
// CHECK-NOT:   vectorized
tensor_loop.func @along(%x: memref<16x64xf32>) outs(%y: memref<16x64xf32> {stepwell.in_place}) {
  tensor_loop.grid (%i, %j) in (16, 63) {
    tensor_loop.block "along" spatial(%vi in 16 = %i) reduce(%vj in 63 = %j) {
      %c1 = arith.constant 1 : index
      %n = arith.addi %vj, %c1 : index
      %a = memref.load %y[%vi, %vj] : memref<16x64xf32>
      %b = memref.load %x[%vi, %n] : memref<16x64xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %y[%vi, %n] : memref<16x64xf32>
    }
  }
}
