// RUN: stepwell-opt %s -p schedule-cpu --split-input-file | filecheck %s

/// Index 256 * a + b of a repeated row is element b of the row.
// CHECK-LABEL: @repeated(
// CHECK-NEXT:  tensor_loop.for %i_a in 8 {
// CHECK-NEXT:    tensor_loop.for %i_b in 256 vectorized {
// CHECK-NEXT:      tensor_loop.block "tile" spatial(%vi_a in 8 = %i_a, %vi_b in 256 = %i_b) reads(%x[%vi_b]) writes(%y[%vi_a * 256 + %vi_b])
// CHECK-NOT:         remui
tensor_loop.func @repeated(%x: memref<256xf32>) outs(%y: memref<2048xf32>) {
  tensor_loop.grid (%i) in (2048) {
    tensor_loop.block "tile" spatial(%vi in 2048 = %i) {
      %c256 = arith.constant 256 : index
      %r = arith.remui %vi, %c256 : index
      %a = memref.load %x[%r] : memref<256xf32>
      memref.store %a, %y[%vi] : memref<2048xf32>
    }
  }
}

// -----

/// Two divisions of one index make three digits of it.
// CHECK-LABEL: @three(
// CHECK:       tensor_loop.block "three" spatial(%vi_a in 2 = %{{.*}}, %vi_b in 2 = %{{.*}}, %vi_c in 16 = %{{.*}}) reads(%x[%vi_c, %vi_b, %vi_a])
tensor_loop.func @three(%x: memref<16x2x2xf32>) outs(%y: memref<64xf32>) {
  tensor_loop.grid (%i) in (64) {
    tensor_loop.block "three" spatial(%vi in 64 = %i) {
      %c2 = arith.constant 2 : index
      %c16 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %a = arith.divui %vi, %c32 : index
      %q = arith.divui %vi, %c16 : index
      %b = arith.remui %q, %c2 : index
      %c = arith.remui %vi, %c16 : index
      %v = memref.load %x[%c, %b, %a] : memref<16x2x2xf32>
      memref.store %v, %y[%vi] : memref<64xf32>
    }
  }
}

// -----

/// 7 does not divide 64: the division stays.
// CHECK-LABEL: @odd(
// CHECK:       tensor_loop.for %i in 64 {
// CHECK:         arith.remui
tensor_loop.func @odd(%x: memref<7xf32>) outs(%y: memref<64xf32>) {
  tensor_loop.grid (%i) in (64) {
    tensor_loop.block "odd" spatial(%vi in 64 = %i) {
      %c7 = arith.constant 7 : index
      %r = arith.remui %vi, %c7 : index
      %v = memref.load %x[%r] : memref<7xf32>
      memref.store %v, %y[%vi] : memref<64xf32>
    }
  }
}
