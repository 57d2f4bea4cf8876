// RUN: stepwell-opt %s -p 'fold-scale-axis{direction=bwd}' | filecheck %s

/// A factor per output channel goes into the kernels.
// CHECK-LABEL: func.func @backward_scale_of_contraction(
func.func @backward_scale_of_contraction(%x: tensor<1x3x4x4xf32>, %w: tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[[[2.0]], [[-3.0]]]> : tensor<2x1x1xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.reshape %[[S]], shape = [2, 1, 1, 1] : (tensor<2x1x1xf32>) -> tensor<2x1x1x1xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.multiply %w, %[[V0]] : (tensor<2x3x1x1xf32>, tensor<2x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.conv2d %x, %[[V1]] : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<1x2x4x4xf32>
  %s = graph.constant dense<[[[2.0]], [[-3.0]]]> : tensor<2x1x1xf32>
  %c = graph.conv2d %x, %w : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>)
  %y = graph.multiply %s, %c : (tensor<2x1x1xf32>, tensor<1x2x4x4xf32>)
  func.return %y : tensor<1x2x4x4xf32>
}

/// Channels last, in several groups.
// CHECK-LABEL: func.func @depthwise_channels_last(
func.func @depthwise_channels_last(%x: tensor<1x4x4x2xf32>, %w: tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.multiply %w, %[[S]] : (tensor<1x1x1x2xf32>, tensor<2xf32>) -> tensor<1x1x1x2xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.conv2d %x, %[[V0]], groups = 2, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<1x4x4x2xf32>
  %s = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %c = graph.conv2d %x, %w, groups = 2, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>)
  %y = graph.multiply %c, %s : (tensor<1x4x4x2xf32>, tensor<2xf32>)
  func.return %y : tensor<1x4x4x2xf32>
}

/// The columns of a matrix.
// CHECK-LABEL: func.func @of_a_product(
func.func @of_a_product(%x: tensor<?x3xf32>, %w: tensor<3x2xf32>) -> tensor<?x2xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[[2.0, 3.0]]> : tensor<1x2xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.reshape %[[S]], shape = [2] : (tensor<1x2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.multiply %w, %[[V0]] : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.matmul %x, %[[V1]] : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<?x2xf32>
  %s = graph.constant dense<[[2.0, 3.0]]> : tensor<1x2xf32>
  %c = graph.matmul %x, %w : (tensor<?x3xf32>, tensor<3x2xf32>)
  %y = graph.multiply %c, %s : (tensor<?x2xf32>, tensor<1x2xf32>)
  func.return %y : tensor<?x2xf32>
}

/// Past a relu.
// CHECK-LABEL: func.func @backward_scale_of_relu(
func.func @backward_scale_of_relu(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.multiply %w, %[[S]] : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.matmul %x, %[[V0]] : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.relu %[[V1]] : (tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<4x2xf32>
  %s = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %c = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>)
  %r = graph.relu %c : (tensor<4x2xf32>)
  %y = graph.multiply %r, %s : (tensor<4x2xf32>, tensor<2xf32>)
  func.return %y : tensor<4x2xf32>
}

/// Past a bias on either side, and a relu.
// CHECK-LABEL: func.func @backward_scale_of_sum(
func.func @backward_scale_of_sum(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.multiply %w, %[[S]] : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.matmul %x, %[[V0]] : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.multiply %b, %[[S]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.add %[[V1]], %[[V2]] : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.relu %[[V3]] : (tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<4x2xf32>
  %s = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %c = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>)
  %a = graph.add %b, %c : (tensor<2xf32>, tensor<4x2xf32>)
  %r = graph.relu %a : (tensor<4x2xf32>)
  %y = graph.multiply %r, %s : (tensor<4x2xf32>, tensor<2xf32>)
  func.return %y : tensor<4x2xf32>
}

/// A mean that is subtracted; the factor may be negative.
// CHECK-LABEL: func.func @backward_scale_of_difference(
func.func @backward_scale_of_difference(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[-2.0, 3.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.multiply %w, %[[S]] : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.matmul %x, %[[V0]] : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.multiply %b, %[[S]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.subtract %[[V1]], %[[V2]] : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<4x2xf32>
  %s = graph.constant dense<[-2.0, 3.0]> : tensor<2xf32>
  %c = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>)
  %a = graph.subtract %c, %b : (tensor<4x2xf32>, tensor<2xf32>)
  %y = graph.multiply %a, %s : (tensor<4x2xf32>, tensor<2xf32>)
  func.return %y : tensor<4x2xf32>
}

/// relu(-y) is not -relu(y).
// CHECK-LABEL: func.func @no_negative_factor_past_relu(
func.func @no_negative_factor_past_relu(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[2.0, -3.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.relu %[[C]] : (tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.multiply %[[R]], %[[S]] : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<4x2xf32>
  %s = graph.constant dense<[2.0, -3.0]> : tensor<2xf32>
  %c = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>)
  %r = graph.relu %c : (tensor<4x2xf32>)
  %y = graph.multiply %r, %s : (tensor<4x2xf32>, tensor<2xf32>)
  func.return %y : tensor<4x2xf32>
}

/// Nobody knows the sign of an argument, and it is no constant.
// CHECK-LABEL: func.func @no_factor_from_outside(
func.func @no_factor_from_outside(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>, %s: tensor<2xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: %[[C:.*]] = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.multiply %[[C]], %s : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<4x2xf32>
  %c = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>)
  %y = graph.multiply %c, %s : (tensor<4x2xf32>, tensor<2xf32>)
  func.return %y : tensor<4x2xf32>
}

/// A factor per row, as that of a gate.
// CHECK-LABEL: func.func @no_factor_per_row(
func.func @no_factor_per_row(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.multiply %[[C]], %[[S]] : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<4x2xf32>
  %s = graph.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
  %c = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>)
  %y = graph.multiply %c, %s : (tensor<4x2xf32>, tensor<4x1xf32>)
  func.return %y : tensor<4x2xf32>
}

/// Somebody else needs the product as it is.
// CHECK-LABEL: func.func @no_shared_product(
func.func @no_shared_product(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.multiply %[[C]], %[[S]] : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: func.return %[[Y]], %[[C]] : tensor<4x2xf32>, tensor<4x2xf32>
  %s = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %c = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>)
  %y = graph.multiply %c, %s : (tensor<4x2xf32>, tensor<2xf32>)
  func.return %y, %c : tensor<4x2xf32>, tensor<4x2xf32>
}

/// leaky_relu is not looked through.
// CHECK-LABEL: func.func @no_leaky_relu(
func.func @no_leaky_relu(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.leaky_relu %[[C]] : (tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.multiply %[[R]], %[[S]] : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<4x2xf32>
  %s = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %c = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>)
  %r = graph.leaky_relu %c : (tensor<4x2xf32>)
  %y = graph.multiply %r, %s : (tensor<4x2xf32>, tensor<2xf32>)
  func.return %y : tensor<4x2xf32>
}

/// A residual is as large as the data: nothing would be saved.
// CHECK-LABEL: func.func @no_residual(
func.func @no_residual(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>, %b: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[C]], %b : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.multiply %[[A]], %[[S]] : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<4x2xf32>
  %s = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %c = graph.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>)
  %a = graph.add %c, %b : (tensor<4x2xf32>, tensor<4x2xf32>)
  %y = graph.multiply %a, %s : (tensor<4x2xf32>, tensor<2xf32>)
  func.return %y : tensor<4x2xf32>
}
