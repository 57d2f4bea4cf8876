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

// -----
// CHECK: // -----

// CHECK: the components have type tensor<8x3xf32>, expected tensor<8x4xf32>
func.func @three_components(%a: tensor<8x3xf32>) -> tensor<8x!quaternion.quat> {
  %0 = quaternion.pack %a : tensor<8x3xf32> -> tensor<8x!quaternion.quat>
  func.return %0 : tensor<8x!quaternion.quat>
}

// -----
// CHECK: // -----

// CHECK: operand: element type !quaternion.quat is not supported
func.func @graph_op(%a: tensor<8x!quaternion.quat>) -> tensor<8x!quaternion.quat> {
  %0 = graph.relu %a : (tensor<8x!quaternion.quat>) -> tensor<8x!quaternion.quat>
  func.return %0 : tensor<8x!quaternion.quat>
}

// -----
// CHECK: // -----

// CHECK: expected n x 4, found shape 2x3x4
func.func @chain(%a: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = quaternion.chain %a : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return %0 : tensor<2x3x4xf32>
}
