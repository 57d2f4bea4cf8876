// RUN: stepwell-opt %s -p 'fold-scale-axis{direction=fwd}' | filecheck %s

/// A factor per input channel goes into the kernels.
// CHECK-LABEL: func.func @forward_contraction_of_scale(
func.func @forward_contraction_of_scale(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[[[2.0]], [[-3.0]]]> : tensor<2x1x1xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.multiply %w, %[[S]] : (tensor<3x2x1x1xf32>, tensor<2x1x1xf32>) -> tensor<3x2x1x1xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.conv2d %x, %[[V0]] : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<1x3x4x4xf32>
  %s = graph.constant dense<[[[2.0]], [[-3.0]]]> : tensor<2x1x1xf32>
  %m = graph.multiply %s, %x : (tensor<2x1x1xf32>, tensor<1x2x4x4xf32>)
  %y = graph.conv2d %m, %w : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>)
  func.return %y : tensor<1x3x4x4xf32>
}

/// The rows of a matrix.
// CHECK-LABEL: func.func @into_a_product(
func.func @into_a_product(%x: tensor<?x2xf32>, %w: tensor<2x3xf32>) -> tensor<?x3xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[2.0, -3.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.reshape %[[S]], shape = [2, 1] : (tensor<2xf32>) -> tensor<2x1xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.multiply %w, %[[V0]] : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.matmul %x, %[[V1]] : (tensor<?x2xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<?x3xf32>
  %s = graph.constant dense<[2.0, -3.0]> : tensor<2xf32>
  %m = graph.multiply %x, %s : (tensor<?x2xf32>, tensor<2xf32>)
  %y = graph.matmul %m, %w : (tensor<?x2xf32>, tensor<2x3xf32>)
  func.return %y : tensor<?x3xf32>
}

/// Past a relu.
// CHECK-LABEL: func.func @forward_relu_of_scale(
func.func @forward_relu_of_scale(%x: tensor<4x2xf32>, %w: tensor<2x3xf32>) -> tensor<4x3xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.relu %x : (tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.reshape %[[S]], shape = [2, 1] : (tensor<2xf32>) -> tensor<2x1xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.multiply %w, %[[V1]] : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.matmul %[[V0]], %[[V2]] : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<4x3xf32>
  %s = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %m = graph.multiply %x, %s : (tensor<4x2xf32>, tensor<2xf32>)
  %r = graph.relu %m : (tensor<4x2xf32>)
  %y = graph.matmul %r, %w : (tensor<4x2xf32>, tensor<2x3xf32>)
  func.return %y : tensor<4x3xf32>
}

/// Past a bias, which is divided by the factor.
// CHECK-LABEL: func.func @forward_sum_of_scale(
func.func @forward_sum_of_scale(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x1x1xf32>, %b: tensor<2x1x1xf32>) -> tensor<1x3x4x4xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.relu %x : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.divide %b, %[[S]] : (tensor<2x1x1xf32>, tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.add %[[V0]], %[[V1]] : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.multiply %w, %[[S]] : (tensor<3x2x1x1xf32>, tensor<2x1x1xf32>) -> tensor<3x2x1x1xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.conv2d %[[V2]], %[[V3]] : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<1x3x4x4xf32>
  %s = graph.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %m = graph.multiply %s, %x : (tensor<2x1x1xf32>, tensor<1x2x4x4xf32>)
  %r = graph.relu %m : (tensor<1x2x4x4xf32>)
  %a = graph.add %b, %r : (tensor<2x1x1xf32>, tensor<1x2x4x4xf32>)
  %y = graph.conv2d %a, %w : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>)
  func.return %y : tensor<1x3x4x4xf32>
}

/// Past pooling.
// CHECK-LABEL: func.func @forward_pool_of_scale(
func.func @forward_pool_of_scale(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x1x1xf32>) -> tensor<1x3x2x2xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.max_pool2d %x, pool_size = [2, 2] : (tensor<1x2x4x4xf32>) -> tensor<1x2x3x3xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.avg_pool2d %[[V0]], pool_size = [2, 2] : (tensor<1x2x3x3xf32>) -> tensor<1x2x2x2xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.multiply %w, %[[S]] : (tensor<3x2x1x1xf32>, tensor<2x1x1xf32>) -> tensor<3x2x1x1xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.conv2d %[[V1]], %[[V2]] : (tensor<1x2x2x2xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x2x2xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<1x3x2x2xf32>
  %s = graph.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %m = graph.multiply %s, %x : (tensor<2x1x1xf32>, tensor<1x2x4x4xf32>)
  %p = graph.max_pool2d %m, pool_size = [2, 2] : (tensor<1x2x4x4xf32>)
  %q = graph.avg_pool2d %p, pool_size = [2, 2] : (tensor<1x2x3x3xf32>)
  %y = graph.conv2d %q, %w : (tensor<1x2x2x2xf32>, tensor<3x2x1x1xf32>)
  func.return %y : tensor<1x3x2x2xf32>
}

/// The maximum of negated numbers is another one.
// CHECK-LABEL: func.func @no_negative_factor_past_max_pool(
func.func @no_negative_factor_past_max_pool(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x1x1xf32>) -> tensor<1x3x3x3xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[[[2.0]], [[-3.0]]]> : tensor<2x1x1xf32>
  // CHECK-NEXT: %[[M:.*]] = graph.multiply %[[S]], %x : (tensor<2x1x1xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  // CHECK-NEXT: %[[P:.*]] = graph.max_pool2d %[[M]], pool_size = [2, 2] : (tensor<1x2x4x4xf32>) -> tensor<1x2x3x3xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.conv2d %[[P]], %w : (tensor<1x2x3x3xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x3x3xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<1x3x3x3xf32>
  %s = graph.constant dense<[[[2.0]], [[-3.0]]]> : tensor<2x1x1xf32>
  %m = graph.multiply %s, %x : (tensor<2x1x1xf32>, tensor<1x2x4x4xf32>)
  %p = graph.max_pool2d %m, pool_size = [2, 2] : (tensor<1x2x4x4xf32>)
  %y = graph.conv2d %p, %w : (tensor<1x2x3x3xf32>, tensor<3x2x1x1xf32>)
  func.return %y : tensor<1x3x3x3xf32>
}

/// Each group sees other channels.
// CHECK-LABEL: func.func @no_groups(
func.func @no_groups(%x: tensor<1x2x4x4xf32>, %w: tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  // CHECK-NEXT: %[[M:.*]] = graph.multiply %[[S]], %x : (tensor<2x1x1xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.conv2d %[[M]], %w, groups = 2 : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<1x2x4x4xf32>
  %s = graph.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %m = graph.multiply %s, %x : (tensor<2x1x1xf32>, tensor<1x2x4x4xf32>)
  %y = graph.conv2d %m, %w, groups = 2 : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>)
  func.return %y : tensor<1x2x4x4xf32>
}

/// The bias cannot be divided by zero.
// CHECK-LABEL: func.func @no_zero_factor_past_a_sum(
func.func @no_zero_factor_past_a_sum(%x: tensor<4x2xf32>, %w: tensor<2x3xf32>, %b: tensor<2xf32>) -> tensor<4x3xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[2.0, 0.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[M:.*]] = graph.multiply %x, %[[S]] : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[M]], %b : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.matmul %[[A]], %w : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<4x3xf32>
  %s = graph.constant dense<[2.0, 0.0]> : tensor<2xf32>
  %m = graph.multiply %x, %s : (tensor<4x2xf32>, tensor<2xf32>)
  %a = graph.add %m, %b : (tensor<4x2xf32>, tensor<2xf32>)
  %y = graph.matmul %a, %w : (tensor<4x2xf32>, tensor<2x3xf32>)
  func.return %y : tensor<4x3xf32>
}

/// Somebody else needs the scaled tensor.
// CHECK-LABEL: func.func @no_shared_scale(
func.func @no_shared_scale(%x: tensor<4x2xf32>, %w: tensor<2x3xf32>) -> (tensor<4x3xf32>, tensor<4x2xf32>) {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[M:.*]] = graph.multiply %x, %[[S]] : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.matmul %[[M]], %w : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: func.return %[[Y]], %[[M]] : tensor<4x3xf32>, tensor<4x2xf32>
  %s = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %m = graph.multiply %x, %s : (tensor<4x2xf32>, tensor<2xf32>)
  %y = graph.matmul %m, %w : (tensor<4x2xf32>, tensor<2x3xf32>)
  func.return %y, %m : tensor<4x3xf32>, tensor<4x2xf32>
}
