// RUN: stepwell-opt %s -p schedule-cpu | filecheck %s

/// 7 rows of 7 numbers are 49 numbers.
// CHECK-LABEL: @pixels(
// CHECK-NEXT:  %x_joined = memref.collapse_shape %x {{.*}} : memref<5x7x7xf32> into memref<5x49xf32>
// CHECK-NEXT:  tensor_loop.for %c in 5 {
// CHECK-NEXT:    tensor_loop.for %w in 49 vectorized {
// CHECK-NEXT:      tensor_loop.block "sum" spatial(%vc in 5 = %c) reduce(%vw in 49 = %w) reads(%x_joined[%vc, %vw]) writes(%y[%vc])
tensor_loop.func @pixels(%x: memref<5x7x7xf32>) outs(%y: memref<5xf32>) {
  tensor_loop.grid (%c, %h, %w) in (5, 7, 7) {
    tensor_loop.block "sum" spatial(%vc in 5 = %c) reduce(%vh in 7 = %h, %vw in 7 = %w) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %y[%vc] : memref<5xf32>
      }
      %a = memref.load %x[%vc, %vh, %vw] : memref<5x7x7xf32>
      %o = memref.load %y[%vc] : memref<5xf32>
      %s = arith.addf %o, %a fastmath<reassoc> : f32
      memref.store %s, %y[%vc] : memref<5xf32>
    }
  }
}

/// Without leave to regroup the sum keeps its order and its axes.
// CHECK-LABEL: @in_order(
// CHECK-NOT:   collapse_shape
tensor_loop.func @in_order(%x: memref<5x7x7xf32>) outs(%y: memref<5xf32>) {
  tensor_loop.grid (%c, %h, %w) in (5, 7, 7) {
    tensor_loop.block "sum" spatial(%vc in 5 = %c) reduce(%vh in 7 = %h, %vw in 7 = %w) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %y[%vc] : memref<5xf32>
      }
      %a = memref.load %x[%vc, %vh, %vw] : memref<5x7x7xf32>
      %o = memref.load %y[%vc] : memref<5xf32>
      %s = arith.addf %o, %a : f32
      memref.store %s, %y[%vc] : memref<5xf32>
    }
  }
}
