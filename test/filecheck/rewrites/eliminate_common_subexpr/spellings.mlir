// RUN: stepwell-opt %s -p eliminate-common-subexpr | filecheck %s

/// Two spellings of one op are one op, printed as the first was written (AUDIT B4).
// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.softmax %x, axis = 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: graph.add %[[A]], %[[A]]
  %a = graph.softmax %x, axis = 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = graph.softmax %x, axis = -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = graph.add %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %c : tensor<4x8xf32>
}

// CHECK-LABEL: @sum
func.func @sum(%x: tensor<4x8xf32>) -> (tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.sum %x : (tensor<4x8xf32>) -> tensor<f32>
  // CHECK-NEXT: %[[C:.*]] = graph.sum %x, axis = [-1] : (tensor<4x8xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]], %[[A]], %[[C]], %[[C]]
  %a = graph.sum %x : (tensor<4x8xf32>) -> tensor<f32>
  %b = graph.sum %x, axis = [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
  %c = graph.sum %x, axis = [-1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %d = graph.sum %x, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return %a, %b, %c, %d : tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @permute_dims
func.func @permute_dims(%x: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.permute_dims %x : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // CHECK-NEXT: func.return %[[A]], %[[A]]
  %a = graph.permute_dims %x : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %b = graph.permute_dims %x, axes = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  func.return %a, %b : tensor<8x4xf32>, tensor<8x4xf32>
}
