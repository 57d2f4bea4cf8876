// RUN: stepwell-opt %s -p optimize-layouts,eliminate-dead-code --split-input-file | filecheck %s

/// Images come and go with their channels last, so the pooling between takes them as they are.
// CHECK-LABEL: @there_and_back
// CHECK-NEXT:  %{{.*}} = graph.max_pool2d %x, pool_size = [2, 2], strides = [2, 2], layout = "NHWC" : (tensor<1x8x8x3xf32>) -> tensor<1x4x4x3xf32>
// CHECK-NEXT:  func.return
func.func @there_and_back(%x: tensor<1x8x8x3xf32>) -> tensor<1x4x4x3xf32> {
  %0 = graph.permute_dims %x, axes = [0, 3, 1, 2] : (tensor<1x8x8x3xf32>) -> tensor<1x3x8x8xf32>
  %1 = graph.max_pool2d %0, pool_size = [2, 2], strides = [2, 2] : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %2 = graph.permute_dims %1, axes = [0, 2, 3, 1] : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  func.return %2 : tensor<1x4x4x3xf32>
}

// -----

/// Nobody wants the result with channels last.
// CHECK-LABEL: @no_way_back
// CHECK-NEXT:  %[[x:.*]] = graph.permute_dims %x, axes = [0, 3, 1, 2]
// CHECK-NEXT:  %{{.*}} = graph.max_pool2d %[[x]], pool_size = [2, 2], strides = [2, 2] : (tensor<1x3x8x8xf32>)
func.func @no_way_back(%x: tensor<1x8x8x3xf32>) -> tensor<1x3x4x4xf32> {
  %0 = graph.permute_dims %x, axes = [0, 3, 1, 2] : (tensor<1x8x8x3xf32>) -> tensor<1x3x8x8xf32>
  %1 = graph.max_pool2d %0, pool_size = [2, 2], strides = [2, 2] : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  func.return %1 : tensor<1x3x4x4xf32>
}
