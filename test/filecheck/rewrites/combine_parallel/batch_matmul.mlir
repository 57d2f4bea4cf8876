// RUN: stepwell-opt %s -p 'combine-parallel-batch-matmul{min-branches=2}' | filecheck %s

/// Batches of one size, with two branches allowed.
// CHECK-LABEL: func.func @two_branches(
func.func @two_branches(%x: tensor<2x3x4xf32>, %y0: tensor<2x4x3xf32>, %y1: tensor<2x4x5xf32>) -> (tensor<2x3x3xf32>, tensor<2x3x5xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.concat %y0, %y1, axis = 2 : (tensor<2x4x3xf32>, tensor<2x4x5xf32>) -> tensor<2x4x8xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.matmul %x, %[[V0]] : (tensor<2x3x4xf32>, tensor<2x4x8xf32>) -> tensor<2x3x8xf32>
  // CHECK-NEXT: %[[A:.*]] = graph.strided_slice %[[V1]], axes = [2], begin = [0], end = [3] : (tensor<2x3x8xf32>) -> tensor<2x3x3xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.strided_slice %[[V1]], axes = [2], begin = [3], end = [8] : (tensor<2x3x8xf32>) -> tensor<2x3x5xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]] : tensor<2x3x3xf32>, tensor<2x3x5xf32>
  %a = graph.matmul %x, %y0 : (tensor<2x3x4xf32>, tensor<2x4x3xf32>)
  %b = graph.matmul %x, %y1 : (tensor<2x3x4xf32>, tensor<2x4x5xf32>)
  func.return %a, %b : tensor<2x3x3xf32>, tensor<2x3x5xf32>
}

/// A batch of one that is stretched is no batch of two.
// CHECK-LABEL: func.func @no_stretched_batch(
func.func @no_stretched_batch(%x: tensor<2x3x4xf32>, %y0: tensor<2x4x3xf32>, %y1: tensor<1x4x5xf32>) -> (tensor<2x3x3xf32>, tensor<2x3x5xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.matmul %x, %y0 : (tensor<2x3x4xf32>, tensor<2x4x3xf32>) -> tensor<2x3x3xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.matmul %x, %y1 : (tensor<2x3x4xf32>, tensor<1x4x5xf32>) -> tensor<2x3x5xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]] : tensor<2x3x3xf32>, tensor<2x3x5xf32>
  %a = graph.matmul %x, %y0 : (tensor<2x3x4xf32>, tensor<2x4x3xf32>)
  %b = graph.matmul %x, %y1 : (tensor<2x3x4xf32>, tensor<1x4x5xf32>)
  func.return %a, %b : tensor<2x3x3xf32>, tensor<2x3x5xf32>
}
