// RUN: stepwell-opt %s -p 'combine-parallel-batch-matmul' | filecheck %s

/// Three batches of matrices for one batch.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<2x4x8xf32>, %u: tensor<2x8x3xf32>, %v: tensor<2x8x5xf32>, %w: tensor<2x8x7xf32>) -> (tensor<2x4x3xf32>, tensor<2x4x5xf32>, tensor<2x4x7xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.concat %u, %v, %w, axis = 2 : (tensor<2x8x3xf32>, tensor<2x8x5xf32>, tensor<2x8x7xf32>) -> tensor<2x8x15xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.matmul %x, %[[V0]] : (tensor<2x4x8xf32>, tensor<2x8x15xf32>) -> tensor<2x4x15xf32>
  // CHECK-NEXT: %[[A:.*]] = graph.strided_slice %[[V1]], axes = [2], begin = [0], end = [3] : (tensor<2x4x15xf32>) -> tensor<2x4x3xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.strided_slice %[[V1]], axes = [2], begin = [3], end = [8] : (tensor<2x4x15xf32>) -> tensor<2x4x5xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.strided_slice %[[V1]], axes = [2], begin = [8], end = [15] : (tensor<2x4x15xf32>) -> tensor<2x4x7xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]] : tensor<2x4x3xf32>, tensor<2x4x5xf32>, tensor<2x4x7xf32>
  %a = graph.matmul %x, %u : (tensor<2x4x8xf32>, tensor<2x8x3xf32>)
  %b = graph.matmul %x, %v : (tensor<2x4x8xf32>, tensor<2x8x5xf32>)
  %c = graph.matmul %x, %w : (tensor<2x4x8xf32>, tensor<2x8x7xf32>)
  func.return %a, %b, %c : tensor<2x4x3xf32>, tensor<2x4x5xf32>, tensor<2x4x7xf32>
}
