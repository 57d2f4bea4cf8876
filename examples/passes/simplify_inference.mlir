// RUN: stepwell-opt %s -p 'simplify-inference' | filecheck %s

/// Batch: the statistics are given, so the vectors scale and shift can be computed before any data comes.
// CHECK-LABEL: func.func @batch(
func.func @batch(%x: tensor<1x3x4x4xf32>, %gamma: tensor<3xf32>, %beta: tensor<3xf32>, %mean: tensor<3xf32>, %var: tensor<3xf32>) -> tensor<1x3x4x4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[V1:.*]] = graph.add %var, %[[V0]] : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.sqrt %[[V1]] : (tensor<3xf32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[V4:.*]] = graph.divide %[[V3]], %[[V2]] : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[V5:.*]] = graph.multiply %[[V4]], %gamma : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[V6:.*]] = graph.negative %mean : (tensor<3xf32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[V7:.*]] = graph.multiply %[[V6]], %[[V5]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[V8:.*]] = graph.add %[[V7]], %beta : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[V9:.*]] = graph.expand_dims %[[V5]], axis = [1, 2] : (tensor<3xf32>) -> tensor<3x1x1xf32>
  // CHECK-NEXT: %[[V10:.*]] = graph.expand_dims %[[V8]], axis = [1, 2] : (tensor<3xf32>) -> tensor<3x1x1xf32>
  // CHECK-NEXT: %[[V11:.*]] = graph.multiply %x, %[[V9]] : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.add %[[V11]], %[[V10]] : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<1x3x4x4xf32>
  %y, %m, %v = graph.batch_norm %x, %gamma, %beta, %mean, %var, epsilon = 0.5 : (tensor<1x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  func.return %y : tensor<1x3x4x4xf32>
}

/// Layer: over the features of each sample.
// CHECK-LABEL: func.func @layer(
func.func @layer(%x: tensor<2x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.mean %x, axis = [1], keepdims = true : (tensor<2x8xf32>) -> tensor<2x1xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.subtract %x, %[[V0]] : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.multiply %[[V1]], %[[V1]] : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.mean %[[V2]], axis = [1], keepdims = true : (tensor<2x8xf32>) -> tensor<2x1xf32>
  // CHECK-NEXT: %[[V4:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[V5:.*]] = graph.add %[[V3]], %[[V4]] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  // CHECK-NEXT: %[[V6:.*]] = graph.sqrt %[[V5]] : (tensor<2x1xf32>) -> tensor<2x1xf32>
  // CHECK-NEXT: %[[V7:.*]] = graph.divide %[[V1]], %[[V6]] : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  // CHECK-NEXT: %[[V8:.*]] = graph.multiply %[[V7]], %gamma : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.add %[[V8]], %beta : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<2x8xf32>
  %y = graph.layer_norm %x, %gamma, %beta, epsilon = 0.5 : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>)
  func.return %y : tensor<2x8xf32>
}

/// Instance: over the pixels of each channel.
// CHECK-LABEL: func.func @instance(
func.func @instance(%x: tensor<1x4x5x5xf32>, %gamma: tensor<4xf32>, %beta: tensor<4xf32>) -> tensor<1x4x5x5xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.mean %x, axis = [2, 3], keepdims = true : (tensor<1x4x5x5xf32>) -> tensor<1x4x1x1xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.subtract %x, %[[V0]] : (tensor<1x4x5x5xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x5x5xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.multiply %[[V1]], %[[V1]] : (tensor<1x4x5x5xf32>, tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.mean %[[V2]], axis = [2, 3], keepdims = true : (tensor<1x4x5x5xf32>) -> tensor<1x4x1x1xf32>
  // CHECK-NEXT: %[[V4:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[V5:.*]] = graph.add %[[V3]], %[[V4]] : (tensor<1x4x1x1xf32>, tensor<f32>) -> tensor<1x4x1x1xf32>
  // CHECK-NEXT: %[[V6:.*]] = graph.sqrt %[[V5]] : (tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32>
  // CHECK-NEXT: %[[V7:.*]] = graph.divide %[[V1]], %[[V6]] : (tensor<1x4x5x5xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x5x5xf32>
  // CHECK-NEXT: %[[V8:.*]] = graph.expand_dims %gamma, axis = [1, 2] : (tensor<4xf32>) -> tensor<4x1x1xf32>
  // CHECK-NEXT: %[[V9:.*]] = graph.multiply %[[V7]], %[[V8]] : (tensor<1x4x5x5xf32>, tensor<4x1x1xf32>) -> tensor<1x4x5x5xf32>
  // CHECK-NEXT: %[[V10:.*]] = graph.expand_dims %beta, axis = [1, 2] : (tensor<4xf32>) -> tensor<4x1x1xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.add %[[V9]], %[[V10]] : (tensor<1x4x5x5xf32>, tensor<4x1x1xf32>) -> tensor<1x4x5x5xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<1x4x5x5xf32>
  %y = graph.instance_norm %x, %gamma, %beta, epsilon = 0.5 : (tensor<1x4x5x5xf32>, tensor<4xf32>, tensor<4xf32>)
  func.return %y : tensor<1x4x5x5xf32>
}

/// Group: over the pixels of groups of channels.
// CHECK-LABEL: func.func @group(
func.func @group(%x: tensor<1x4x5x5xf32>, %gamma: tensor<4xf32>, %beta: tensor<4xf32>) -> tensor<1x4x5x5xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.reshape %x, shape = [1, 2, 2, 5, 5] : (tensor<1x4x5x5xf32>) -> tensor<1x2x2x5x5xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.mean %[[V0]], axis = [2, 3, 4], keepdims = true : (tensor<1x2x2x5x5xf32>) -> tensor<1x2x1x1x1xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.subtract %[[V0]], %[[V1]] : (tensor<1x2x2x5x5xf32>, tensor<1x2x1x1x1xf32>) -> tensor<1x2x2x5x5xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.multiply %[[V2]], %[[V2]] : (tensor<1x2x2x5x5xf32>, tensor<1x2x2x5x5xf32>) -> tensor<1x2x2x5x5xf32>
  // CHECK-NEXT: %[[V4:.*]] = graph.mean %[[V3]], axis = [2, 3, 4], keepdims = true : (tensor<1x2x2x5x5xf32>) -> tensor<1x2x1x1x1xf32>
  // CHECK-NEXT: %[[V5:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[V6:.*]] = graph.add %[[V4]], %[[V5]] : (tensor<1x2x1x1x1xf32>, tensor<f32>) -> tensor<1x2x1x1x1xf32>
  // CHECK-NEXT: %[[V7:.*]] = graph.sqrt %[[V6]] : (tensor<1x2x1x1x1xf32>) -> tensor<1x2x1x1x1xf32>
  // CHECK-NEXT: %[[V8:.*]] = graph.divide %[[V2]], %[[V7]] : (tensor<1x2x2x5x5xf32>, tensor<1x2x1x1x1xf32>) -> tensor<1x2x2x5x5xf32>
  // CHECK-NEXT: %[[V9:.*]] = graph.reshape %[[V8]], shape = [1, 4, 5, 5] : (tensor<1x2x2x5x5xf32>) -> tensor<1x4x5x5xf32>
  // CHECK-NEXT: %[[V10:.*]] = graph.expand_dims %gamma, axis = [1, 2] : (tensor<4xf32>) -> tensor<4x1x1xf32>
  // CHECK-NEXT: %[[V11:.*]] = graph.multiply %[[V9]], %[[V10]] : (tensor<1x4x5x5xf32>, tensor<4x1x1xf32>) -> tensor<1x4x5x5xf32>
  // CHECK-NEXT: %[[V12:.*]] = graph.expand_dims %beta, axis = [1, 2] : (tensor<4xf32>) -> tensor<4x1x1xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.add %[[V11]], %[[V12]] : (tensor<1x4x5x5xf32>, tensor<4x1x1xf32>) -> tensor<1x4x5x5xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<1x4x5x5xf32>
  %y = graph.group_norm %x, %gamma, %beta, num_groups = 2, epsilon = 0.5 : (tensor<1x4x5x5xf32>, tensor<4xf32>, tensor<4xf32>)
  func.return %y : tensor<1x4x5x5xf32>
}

/// L2: the length becomes 1, but for very short vectors.
// CHECK-LABEL: func.func @l2(
func.func @l2(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.multiply %x, %x : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.sum %[[V0]], axis = [1], keepdims = true : (tensor<2x8xf32>) -> tensor<2x1xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[V3:.*]] = graph.maximum %[[V1]], %[[V2]] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  // CHECK-NEXT: %[[V4:.*]] = graph.sqrt %[[V3]] : (tensor<2x1xf32>) -> tensor<2x1xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.divide %x, %[[V4]] : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<2x8xf32>
  %y = graph.l2_normalize %x, axes = [1], epsilon = 0.5 : (tensor<2x8xf32>)
  func.return %y : tensor<2x8xf32>
}

/// Nothing is dropped.
// CHECK-LABEL: func.func @dropout(
func.func @dropout(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: func.return %x : tensor<2x8xf32>
  %y, %mask = graph.dropout %x : (tensor<2x8xf32>)
  func.return %y : tensor<2x8xf32>
}
