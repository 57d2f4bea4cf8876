// RUN: stepwell-opt %s -p 'integer-arithmetic' | filecheck %s
// RUN: stepwell-opt %s -p 'integer-arithmetic{numerics="strict"}' | filecheck %s --check-prefix=STRICT

/// The right operand gets signs through the moves on the way to it, and its conversions are the only ones. A product
/// with the reciprocal follows.
// CHECK-LABEL: func.func @signed_bytes(
// STRICT-LABEL: func.func @signed_bytes(
func.func @signed_bytes(%x: tensor<4x16xui8>, %k: tensor<4x16xf32>, %t: tensor<f32>) -> tensor<4x4xf32> {
  // CHECK: %[[Z:.*]] = graph.full -118 : tensor<i8>
  // CHECK: %[[Q:.*]] = graph.requantize %k, %{{.*}}, %[[Z]] {{.*}} -> tensor<4x16xi8>
  // CHECK: %[[M:.*]] = graph.permute_dims %[[Q]] : (tensor<4x16xi8>) -> tensor<16x4xi8>
  // CHECK: graph.matmul %x, %[[M]], out_dtype = i32 : (tensor<4x16xui8>, tensor<16x4xi8>)
  // STRICT: graph.quantize %k, %{{.*}} -> tensor<4x16xui8>
  %s = graph.full 0.25 : tensor<f32>
  %z = graph.full 10 : tensor<ui8>
  %q = graph.quantize %k, %s, %z : (tensor<4x16xf32>, tensor<f32>, tensor<ui8>)
  %m = graph.permute_dims %q : (tensor<4x16xui8>)
  %b = graph.dequantize %m, %s, %z : (tensor<16x4xui8>, tensor<f32>, tensor<ui8>)
  %a = graph.dequantize %x, %t, %z : (tensor<4x16xui8>, tensor<f32>, tensor<ui8>)
  %y = graph.matmul %a, %b : (tensor<4x16xf32>, tensor<16x4xf32>)
  func.return %y : tensor<4x4xf32>
}

/// A left operand has none.
// CHECK-LABEL: func.func @unsigned_bytes(
func.func @unsigned_bytes(%x: tensor<4x16xf32>, %w: tensor<16x4xi8>, %t: tensor<f32>) -> tensor<4x4xf32> {
  // CHECK: %[[Z:.*]] = graph.full 138 : tensor<ui8>
  // CHECK: %[[Q:.*]] = graph.requantize %{{.*}}, %{{.*}}, %[[Z]] {{.*}} -> tensor<4x16xui8>
  // CHECK: graph.matmul %[[Q]], %w, out_dtype = i32 : (tensor<4x16xui8>, tensor<16x4xi8>)
  %s = graph.full 0.25 : tensor<f32>
  %z = graph.full 10 : tensor<i8>
  %q = graph.quantize %x, %s, %z : (tensor<4x16xf32>, tensor<f32>, tensor<i8>)
  %a = graph.dequantize %q, %s, %z : (tensor<4x16xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %t, %z : (tensor<16x4xi8>, tensor<f32>, tensor<i8>)
  %y = graph.matmul %a, %b : (tensor<4x16xf32>, tensor<16x4xf32>)
  func.return %y : tensor<4x4xf32>
}

/// Both operands come from one tensor. All that is read of it gets signs.
// CHECK-LABEL: func.func @bytes_on_both_sides(
func.func @bytes_on_both_sides(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // CHECK: %[[Q:.*]] = graph.requantize {{.*}} -> tensor<16x16xi8>
  // CHECK: graph.matmul %[[Q]], %[[Q]], out_dtype = i32
  %s = graph.full 0.25 : tensor<f32>
  %z = graph.full 10 : tensor<ui8>
  %q = graph.quantize %x, %s, %z : (tensor<16x16xf32>, tensor<f32>, tensor<ui8>)
  %a = graph.dequantize %q, %s, %z : (tensor<16x16xui8>, tensor<f32>, tensor<ui8>)
  %b = graph.dequantize %q, %s, %z : (tensor<16x16xui8>, tensor<f32>, tensor<ui8>)
  %y = graph.matmul %a, %b : (tensor<16x16xf32>, tensor<16x16xf32>)
  func.return %y : tensor<16x16xf32>
}

/// Nothing multiplies these.
// CHECK-LABEL: func.func @no_signed_bytes_without_product(
func.func @no_signed_bytes_without_product(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[Q:.*]] = graph.requantize %{{.*}} -> tensor<4xui8>
  // CHECK-NEXT: graph.dequantize %[[Q]], {{.*}}ui8
  %s = graph.full 0.25 : tensor<f32>
  %z = graph.full 10 : tensor<ui8>
  %q = graph.quantize %x, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<ui8>)
  %y = graph.dequantize %q, %s, %z : (tensor<4xui8>, tensor<f32>, tensor<ui8>)
  func.return %y : tensor<4xf32>
}

/// The unsigned bytes are a result. The product gets signs by itself.
// CHECK-LABEL: func.func @no_signed_bytes(
func.func @no_signed_bytes(%x: tensor<4x16xui8>, %k: tensor<16x4xf32>, %s: tensor<f32>) -> (tensor<16x4xui8>, tensor<4x4xf32>) {
  // CHECK: %[[Q:.*]] = graph.quantize %k, {{.*}} -> tensor<16x4xui8>
  // CHECK: %[[F:.*]] = graph.bitwise_xor %[[Q]]
  // CHECK: %[[B:.*]] = graph.astype %[[F]], dtype = i8
  // CHECK: graph.matmul %x, %[[B]], out_dtype = i32
  %z = graph.full 10 : tensor<ui8>
  %q = graph.quantize %k, %s, %z : (tensor<16x4xf32>, tensor<f32>, tensor<ui8>)
  %b = graph.dequantize %q, %s, %z : (tensor<16x4xui8>, tensor<f32>, tensor<ui8>)
  %a = graph.dequantize %x, %s, %z : (tensor<4x16xui8>, tensor<f32>, tensor<ui8>)
  %y = graph.matmul %a, %b : (tensor<4x16xf32>, tensor<16x4xf32>)
  func.return %q, %y : tensor<16x4xui8>, tensor<4x4xf32>
}
