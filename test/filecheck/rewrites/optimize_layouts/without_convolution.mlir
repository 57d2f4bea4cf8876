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

/// Nobody wants the result with channels last, but the transpose of it is smaller than that of the image.
// CHECK-LABEL: @no_way_back
// CHECK-NEXT:  %[[y:.*]] = graph.max_pool2d %x, pool_size = [2, 2], strides = [2, 2], layout = "NHWC"
// CHECK-NEXT:  %{{.*}} = graph.permute_dims %[[y]], axes = [0, 3, 1, 2] : (tensor<1x4x4x3xf32>)
func.func @no_way_back(%x: tensor<1x8x8x3xf32>) -> tensor<1x3x4x4xf32> {
  %0 = graph.permute_dims %x, axes = [0, 3, 1, 2] : (tensor<1x8x8x3xf32>) -> tensor<1x3x8x8xf32>
  %1 = graph.max_pool2d %0, pool_size = [2, 2], strides = [2, 2] : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  func.return %1 : tensor<1x3x4x4xf32>
}

// -----

/// A sum of the image in NCHW needs the transpose all the same.
// CHECK-LABEL: @another_user
// CHECK-NEXT:  graph.permute_dims %x, axes = [0, 3, 1, 2]
// CHECK-NEXT:  graph.max_pool2d %{{.*}} : (tensor<1x3x8x8xf32>)
func.func @another_user(%x: tensor<1x8x8x3xf32>) -> (tensor<1x3x4x4xf32>, tensor<1x3x8x8xf32>) {
  %0 = graph.permute_dims %x, axes = [0, 3, 1, 2] : (tensor<1x8x8x3xf32>) -> tensor<1x3x8x8xf32>
  %1 = graph.max_pool2d %0, pool_size = [2, 2], strides = [2, 2] : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %2 = graph.cumulative_sum %0, axis = 3 : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  func.return %1, %2 : tensor<1x3x4x4xf32>, tensor<1x3x8x8xf32>
}
