// RUN: stepwell-opt %s -p 'combine-parallel-dense{to-batch}' | filecheck %s

/// Matrices of one shape become a batch.
// CHECK-LABEL: func.func @three_branches(
func.func @three_branches(%x: tensor<2x4xf32>, %w0: tensor<4x3xf32>, %w1: tensor<4x3xf32>, %w2: tensor<4x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.expand_dims %w0, axis = [0] : (tensor<4x3xf32>) -> tensor<1x4x3xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.expand_dims %w1, axis = [0] : (tensor<4x3xf32>) -> tensor<1x4x3xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.expand_dims %w2, axis = [0] : (tensor<4x3xf32>) -> tensor<1x4x3xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.concat %[[V0]], %[[V1]], %[[V2]] : (tensor<1x4x3xf32>, tensor<1x4x3xf32>, tensor<1x4x3xf32>) -> tensor<3x4x3xf32>
  // CHECK-NEXT: %[[V4:.*]] = graph.matmul %x, %[[V3]] : (tensor<2x4xf32>, tensor<3x4x3xf32>) -> tensor<3x2x3xf32>
  // CHECK-NEXT: %[[V5:.*]], %[[V6:.*]], %[[V7:.*]] = graph.split %[[V4]], sections = 3 : (tensor<3x2x3xf32>) -> (tensor<1x2x3xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>)
  // CHECK-NEXT: %[[A:.*]] = graph.squeeze %[[V5]], axis = [0] : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.squeeze %[[V6]], axis = [0] : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.squeeze %[[V7]], axis = [0] : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]] : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  %a = graph.matmul %x, %w0 : (tensor<2x4xf32>, tensor<4x3xf32>)
  %b = graph.matmul %x, %w1 : (tensor<2x4xf32>, tensor<4x3xf32>)
  %c = graph.matmul %x, %w2 : (tensor<2x4xf32>, tensor<4x3xf32>)
  func.return %a, %b, %c : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

/// Matrices of several shapes do not.
// CHECK-LABEL: func.func @no_unequal_shapes(
func.func @no_unequal_shapes(%x: tensor<2x4xf32>, %w0: tensor<4x3xf32>, %w1: tensor<4x5xf32>, %w2: tensor<4x1xf32>) -> (tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x1xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.matmul %x, %w0 : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.matmul %x, %w1 : (tensor<2x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.matmul %x, %w2 : (tensor<2x4xf32>, tensor<4x1xf32>) -> tensor<2x1xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]] : tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x1xf32>
  %a = graph.matmul %x, %w0 : (tensor<2x4xf32>, tensor<4x3xf32>)
  %b = graph.matmul %x, %w1 : (tensor<2x4xf32>, tensor<4x5xf32>)
  %c = graph.matmul %x, %w2 : (tensor<2x4xf32>, tensor<4x1xf32>)
  func.return %a, %b, %c : tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x1xf32>
}
