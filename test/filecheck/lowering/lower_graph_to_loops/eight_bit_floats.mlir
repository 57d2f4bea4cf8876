// RUN: stepwell-opt %s -p lower-graph-to-loops --split-input-file | filecheck %s

/// Types of one size meet in f32.
// CHECK: tensor_loop.func private @astype(%operand: memref<4xf8E4M3FN>) outs(%out: memref<4xf8E5M2>)
// CHECK: %[[X:.*]] = memref.load %operand[%{{.*}}] : memref<4xf8E4M3FN>
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[X]] : f8E4M3FN to f32
// CHECK-NEXT: %[[Y:.*]] = arith.truncf %[[W]] : f32 to f8E5M2
// CHECK-NEXT: memref.store %[[Y]]
func.func @main(%x: tensor<4xf8E4M3FN>) -> tensor<4xf8E5M2> {
  %0 = graph.astype %x, dtype = f8E5M2 : (tensor<4xf8E4M3FN>) -> tensor<4xf8E5M2>
  func.return %0 : tensor<4xf8E5M2>
}

// -----

/// The bounds of i16 are no values of f8E4M3FN: they are compared with in f32.
// CHECK: tensor_loop.func private @astype(%operand: memref<4xf8E4M3FN>) outs(%out: memref<4xi16>)
// CHECK: arith.extf %{{.*}} : f8E4M3FN to f32
// CHECK-NEXT: arith.constant -3.276800e+04 : f32
func.func @main(%x: tensor<4xf8E4M3FN>) -> tensor<4xi16> {
  %0 = graph.astype %x, dtype = i16 : (tensor<4xf8E4M3FN>) -> tensor<4xi16>
  func.return %0 : tensor<4xi16>
}

// -----

/// What only moves is not converted.
// CHECK: tensor_loop.func private @permute_dims(%operand: memref<4x8xf8E5M2>) outs(%out: memref<8x4xf8E5M2>)
// CHECK-NOT: arith.extf
// CHECK: memref.store %{{.*}}, %out[%{{.*}}] : memref<8x4xf8E5M2>
func.func @no_conversion(%x: tensor<4x8xf8E5M2>) -> tensor<8x4xf8E5M2> {
  %0 = graph.permute_dims %x, axes = [1, 0] : (tensor<4x8xf8E5M2>) -> tensor<8x4xf8E5M2>
  func.return %0 : tensor<8x4xf8E5M2>
}
