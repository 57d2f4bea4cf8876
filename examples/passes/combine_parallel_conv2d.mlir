// RUN: stepwell-opt %s -p 'combine-parallel-conv2d' | filecheck %s

/// Three branches of one image: one convolution with the channels of all.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<1x3x8x8xf32>, %u: tensor<4x3x1x1xf32>, %v: tensor<5x3x1x1xf32>, %w: tensor<6x3x1x1xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x5x8x8xf32>, tensor<1x6x8x8xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.concat %u, %v, %w : (tensor<4x3x1x1xf32>, tensor<5x3x1x1xf32>, tensor<6x3x1x1xf32>) -> tensor<15x3x1x1xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.conv2d %x, %[[V0]] : (tensor<1x3x8x8xf32>, tensor<15x3x1x1xf32>) -> tensor<1x15x8x8xf32>
  // CHECK-NEXT: %[[A:.*]] = graph.strided_slice %[[V1]], axes = [1], begin = [0], end = [4] : (tensor<1x15x8x8xf32>) -> tensor<1x4x8x8xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.strided_slice %[[V1]], axes = [1], begin = [4], end = [9] : (tensor<1x15x8x8xf32>) -> tensor<1x5x8x8xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.strided_slice %[[V1]], axes = [1], begin = [9], end = [15] : (tensor<1x15x8x8xf32>) -> tensor<1x6x8x8xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]] : tensor<1x4x8x8xf32>, tensor<1x5x8x8xf32>, tensor<1x6x8x8xf32>
  %a = graph.conv2d %x, %u : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
  %b = graph.conv2d %x, %v : (tensor<1x3x8x8xf32>, tensor<5x3x1x1xf32>)
  %c = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<6x3x1x1xf32>)
  func.return %a, %b, %c : tensor<1x4x8x8xf32>, tensor<1x5x8x8xf32>, tensor<1x6x8x8xf32>
}
