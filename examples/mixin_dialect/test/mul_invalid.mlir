// RUN: %invalid

// CHECK: the last dimension holds w, x, y, z: expected 4, found shape 8x3
func.func @three(%a: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %0 = quaternion.mul %a, %a : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  func.return %0 : tensor<8x3xf32>
}

// -----
// CHECK: // -----

// CHECK: lhs has shape 8x4 but rhs has shape 4
func.func @different(%a: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  %0 = quaternion.mul %a, %b : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  func.return %0 : tensor<8x4xf32>
}
