// RUN: stepwell-opt %s -p 'integer-arithmetic' | filecheck %s

/// Rows of f16 become f32 for a product with packed weights, and scales with them.
// CHECK-LABEL: func.func @packed_product_in_f32(
func.func @packed_product_in_f32(%x: tensor<2x64xf16>, %w: tensor<16x32xui8>, %s: tensor<16x2xf16>, %z: tensor<ui8>) -> tensor<2x16xf16> {
  // CHECK-NEXT: %[[X:.*]] = graph.astype %x, dtype = f32 : (tensor<2x64xf16>) -> tensor<2x64xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.astype %s, dtype = f32 : (tensor<16x2xf16>) -> tensor<16x2xf32>
  // CHECK-NEXT: %[[P:.*]] = graph.matmul_packed %[[X]], %w, %[[S]], %z, rounded_bits = 8 : (tensor<2x64xf32>, tensor<16x32xui8>, tensor<16x2xf32>, tensor<ui8>) -> tensor<2x16xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.astype %[[P]], dtype = f16 : (tensor<2x16xf32>) -> tensor<2x16xf16>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x16xf16>
  %r = graph.matmul_packed %x, %w, %s, %z, rounded_bits = 8 : (tensor<2x64xf16>, tensor<16x32xui8>, tensor<16x2xf16>, tensor<ui8>) -> tensor<2x16xf16>
  func.return %r : tensor<2x16xf16>
}

// CHECK-LABEL: func.func @no_packed_product_in_f32(
func.func @no_packed_product_in_f32(%x: tensor<2x64xf64>, %w: tensor<16x32xui8>, %s: tensor<16x2xf64>, %z: tensor<ui8>) -> tensor<2x16xf64> {
  // CHECK-NEXT: %[[R:.*]] = graph.matmul_packed %x
  // CHECK-NEXT: func.return %[[R]]
  %r = graph.matmul_packed %x, %w, %s, %z : (tensor<2x64xf64>, tensor<16x32xui8>, tensor<16x2xf64>, tensor<ui8>) -> tensor<2x16xf64>
  func.return %r : tensor<2x16xf64>
}
