// RUN: stepwell-opt %s -p 'integer-arithmetic' --check-semantics | filecheck %s

/// The byte that stands for NaN is 0 with a sign and without, and stands for other numbers then (docs/numerics.md). So
/// inputs that hold NaN are left open. (Found by stepwell fuzz, seed 70274 of rules: 'unsigned-bytes' was blamed.)
// CHECK-LABEL: func.func @nan_in_bytes_that_lose_their_sign(
// CHECK: graph.quantize {{.*}} -> tensor<3x4xui8>
func.func @nan_in_bytes_that_lose_their_sign(%x: tensor<3x4xf32>, %v: tensor<3x3xf32>, %sq: tensor<f32>) -> tensor<4x3xf32> {
  %zq = graph.full 1 : tensor<i8>
  %q = graph.quantize %x, %sq, %zq : (tensor<3x4xf32>, tensor<f32>, tensor<i8>) -> tensor<3x4xi8>
  %m = graph.permute_dims %q : (tensor<3x4xi8>) -> tensor<4x3xi8>
  %r = graph.dequantize %m, %sq, %zq, axis = 0 : (tensor<4x3xi8>, tensor<f32>, tensor<i8>) -> tensor<4x3xf32>
  %y = graph.matmul %r, %v : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}
