// RUN: stepwell-opt %s -p 'integer-arithmetic' | filecheck %s
// RUN: stepwell-opt %s -p 'integer-arithmetic' --remarks 2>&1 | filecheck %s --check-prefix=REMARK

/// The axis of the scales moves along.
// CHECK-LABEL: func.func @integer_moves(
func.func @integer_moves(%w: tensor<4x8xi8>, %s: tensor<4xf32>, %z: tensor<4xi8>) -> tensor<8x4xf32> {
  // CHECK-NEXT: %[[M:.*]] = graph.permute_dims %w : (tensor<4x8xi8>) -> tensor<8x4xi8>
  // CHECK-NEXT: graph.dequantize %[[M]], %s, %z : (tensor<8x4xi8>
  %d = graph.dequantize %w, %s, %z, axis = 0 : (tensor<4x8xi8>, tensor<4xf32>, tensor<4xi8>)
  %y = graph.permute_dims %d : (tensor<4x8xf32>)
  func.return %y : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @no_integer_moves(
func.func @no_integer_moves(%w: tensor<4x8xi8>, %s: tensor<4xf32>, %z: tensor<4xi8>) -> tensor<32xf32> {
  // CHECK-NEXT: graph.dequantize
  // CHECK-NEXT: graph.reshape
  // REMARK: remark: {{.*}}kept on floats: the scales do not move along
  %d = graph.dequantize %w, %s, %z, axis = 0 : (tensor<4x8xi8>, tensor<4xf32>, tensor<4xi8>)
  %y = graph.reshape %d, shape = [32] : (tensor<4x8xf32>)
  func.return %y : tensor<32xf32>
}

/// Bytes that are moved and converted back by the same scale have never been floats.
// CHECK-LABEL: func.func @returned_moves(
func.func @returned_moves(%q: tensor<4x8xui8>) -> tensor<8x4xui8> {
  // CHECK-NEXT: %[[M:.*]] = graph.permute_dims %q : (tensor<4x8xui8>) -> tensor<8x4xui8>
  // CHECK-NEXT: func.return %[[M]]
  %s = graph.full 0.25 : tensor<f32>
  %z = graph.full 10 : tensor<ui8>
  %d = graph.dequantize %q, %s, %z : (tensor<4x8xui8>, tensor<f32>, tensor<ui8>)
  %m = graph.permute_dims %d : (tensor<4x8xf32>)
  %y = graph.quantize %m, %s, %z : (tensor<8x4xf32>, tensor<f32>, tensor<ui8>)
  func.return %y : tensor<8x4xui8>
}

/// Another scale makes other bytes.
// CHECK-LABEL: func.func @no_returned_moves(
func.func @no_returned_moves(%q: tensor<4x8xui8>) -> tensor<8x4xui8> {
  // CHECK: %[[M:.*]] = graph.permute_dims %q
  // CHECK: %[[D:.*]] = graph.dequantize %[[M]]
  // CHECK: graph.requantize
  %s = graph.full 0.25 : tensor<f32>
  %t = graph.full 0.5 : tensor<f32>
  %z = graph.full 10 : tensor<ui8>
  %d = graph.dequantize %q, %s, %z : (tensor<4x8xui8>, tensor<f32>, tensor<ui8>)
  %m = graph.permute_dims %d : (tensor<4x8xf32>)
  %y = graph.quantize %m, %t, %z : (tensor<8x4xf32>, tensor<f32>, tensor<ui8>)
  func.return %y : tensor<8x4xui8>
}

// CHECK-LABEL: func.func @returned_takes(
func.func @returned_takes(%q: tensor<4x8xi8>, %i: tensor<3xi64>) -> tensor<3x8xi8> {
  // CHECK-NEXT: %[[T:.*]] = graph.take %q, %i, axis = 0 : (tensor<4x8xi8>, tensor<3xi64>) -> tensor<3x8xi8>
  // CHECK-NEXT: func.return %[[T]]
  %s = graph.full 0.25 : tensor<f32>
  %z = graph.full 1 : tensor<i8>
  %d = graph.dequantize %q, %s, %z : (tensor<4x8xi8>, tensor<f32>, tensor<i8>)
  %t = graph.take %d, %i, axis = 0 : (tensor<4x8xf32>, tensor<3xi64>)
  %y = graph.quantize %t, %s, %z : (tensor<3x8xf32>, tensor<f32>, tensor<i8>)
  func.return %y : tensor<3x8xi8>
}

/// The table of an embedding stays bytes. What is taken of it becomes floats.
// CHECK-LABEL: func.func @integer_takes(
func.func @integer_takes(%q: tensor<4x8xi8>, %s: tensor<f32>, %z: tensor<i8>, %i: tensor<3xi64>) -> tensor<3x8xf32> {
  // CHECK-NEXT: %[[T:.*]] = graph.take %q, %i, axis = 0 : (tensor<4x8xi8>, tensor<3xi64>) -> tensor<3x8xi8>
  // CHECK-NEXT: graph.dequantize %[[T]], %s, %z
  %d = graph.dequantize %q, %s, %z : (tensor<4x8xi8>, tensor<f32>, tensor<i8>)
  %t = graph.take %d, %i, axis = 0 : (tensor<4x8xf32>, tensor<3xi64>)
  func.return %t : tensor<3x8xf32>
}

// CHECK-LABEL: func.func @no_integer_takes(
func.func @no_integer_takes(%q: tensor<4x8xi8>, %s: tensor<4xf32>, %z: tensor<4xi8>, %i: tensor<3xi64>) -> tensor<3x8xf32> {
  // CHECK-NEXT: graph.dequantize
  // CHECK-NEXT: graph.take
  // REMARK: remark: {{.*}}kept on floats: the scales do not move along
  %d = graph.dequantize %q, %s, %z, axis = 0 : (tensor<4x8xi8>, tensor<4xf32>, tensor<4xi8>)
  %t = graph.take %d, %i, axis = 0 : (tensor<4x8xf32>, tensor<3xi64>)
  func.return %t : tensor<3x8xf32>
}
