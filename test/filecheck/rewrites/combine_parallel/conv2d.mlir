// RUN: stepwell-opt %s -p 'combine-parallel-conv2d' | filecheck %s

/// Three convolutions of one image; the kernels are literals or arguments.
// CHECK-LABEL: func.func @three_branches(
func.func @three_branches(%x: tensor<1x4x8x8xf32>, %w0: tensor<2x4x1x1xf32>, %w1: tensor<3x4x1x1xf32>) -> (tensor<1x2x8x8xf32>, tensor<1x3x8x8xf32>, tensor<1x1x8x8xf32>) {
  // CHECK-NEXT: %[[W2:.*]] = graph.full 0.5 : tensor<1x4x1x1xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.concat %w0, %w1, %[[W2]] : (tensor<2x4x1x1xf32>, tensor<3x4x1x1xf32>, tensor<1x4x1x1xf32>) -> tensor<6x4x1x1xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.conv2d %x, %[[V0]] : (tensor<1x4x8x8xf32>, tensor<6x4x1x1xf32>) -> tensor<1x6x8x8xf32>
  // CHECK-NEXT: %[[A:.*]] = graph.strided_slice %[[V1]], axes = [1], begin = [0], end = [2] : (tensor<1x6x8x8xf32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.strided_slice %[[V1]], axes = [1], begin = [2], end = [5] : (tensor<1x6x8x8xf32>) -> tensor<1x3x8x8xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.strided_slice %[[V1]], axes = [1], begin = [5], end = [6] : (tensor<1x6x8x8xf32>) -> tensor<1x1x8x8xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]] : tensor<1x2x8x8xf32>, tensor<1x3x8x8xf32>, tensor<1x1x8x8xf32>
  %a = graph.conv2d %x, %w0 : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>)
  %b = graph.conv2d %x, %w1 : (tensor<1x4x8x8xf32>, tensor<3x4x1x1xf32>)
  %w2 = graph.full 0.5 : tensor<1x4x1x1xf32>
  %c = graph.conv2d %x, %w2 : (tensor<1x4x8x8xf32>, tensor<1x4x1x1xf32>)
  func.return %a, %b, %c : tensor<1x2x8x8xf32>, tensor<1x3x8x8xf32>, tensor<1x1x8x8xf32>
}

/// Channels last, and what follows in every branch: a bias of the channels, relu, a factor that is the same everywhere.
// CHECK-LABEL: func.func @with_what_follows(
func.func @with_what_follows(%x: tensor<?x8x8x4xf32>, %w0: tensor<3x3x4x2xf32>, %w1: tensor<3x3x4x3xf32>, %w2: tensor<3x3x4x2xf32>, %b0: tensor<2xf32>, %b1: tensor<3xf32>, %b2: tensor<2xf32>, %k: tensor<f32>) -> (tensor<?x6x6x2xf32>, tensor<?x6x6x3xf32>, tensor<?x6x6x2xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.concat %w0, %w1, %w2, axis = 3 : (tensor<3x3x4x2xf32>, tensor<3x3x4x3xf32>, tensor<3x3x4x2xf32>) -> tensor<3x3x4x7xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.conv2d %x, %[[V0]], data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<?x8x8x4xf32>, tensor<3x3x4x7xf32>) -> tensor<?x6x6x7xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.concat %b0, %b1, %b2 : (tensor<2xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<7xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.add %[[V1]], %[[V2]] : (tensor<?x6x6x7xf32>, tensor<7xf32>) -> tensor<?x6x6x7xf32>
  // CHECK-NEXT: %[[V4:.*]] = graph.relu %[[V3]] : (tensor<?x6x6x7xf32>) -> tensor<?x6x6x7xf32>
  // CHECK-NEXT: %[[V5:.*]] = graph.multiply %[[V4]], %k : (tensor<?x6x6x7xf32>, tensor<f32>) -> tensor<?x6x6x7xf32>
  // CHECK-NEXT: %[[A3:.*]] = graph.strided_slice %[[V5]], axes = [3], begin = [0], end = [2] : (tensor<?x6x6x7xf32>) -> tensor<?x6x6x2xf32>
  // CHECK-NEXT: %[[C3:.*]] = graph.strided_slice %[[V5]], axes = [3], begin = [2], end = [5] : (tensor<?x6x6x7xf32>) -> tensor<?x6x6x3xf32>
  // CHECK-NEXT: %[[D3:.*]] = graph.strided_slice %[[V5]], axes = [3], begin = [5], end = [7] : (tensor<?x6x6x7xf32>) -> tensor<?x6x6x2xf32>
  // CHECK-NEXT: func.return %[[A3]], %[[C3]], %[[D3]] : tensor<?x6x6x2xf32>, tensor<?x6x6x3xf32>, tensor<?x6x6x2xf32>
  %a0 = graph.conv2d %x, %w0, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<?x8x8x4xf32>, tensor<3x3x4x2xf32>)
  %a1 = graph.add %a0, %b0 : (tensor<?x6x6x2xf32>, tensor<2xf32>)
  %a2 = graph.relu %a1 : (tensor<?x6x6x2xf32>)
  %a3 = graph.multiply %a2, %k : (tensor<?x6x6x2xf32>, tensor<f32>)
  %c0 = graph.conv2d %x, %w1, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<?x8x8x4xf32>, tensor<3x3x4x3xf32>)
  %c1 = graph.add %b1, %c0 : (tensor<3xf32>, tensor<?x6x6x3xf32>)
  %c2 = graph.relu %c1 : (tensor<?x6x6x3xf32>)
  %c3 = graph.multiply %k, %c2 : (tensor<f32>, tensor<?x6x6x3xf32>)
  %d0 = graph.conv2d %x, %w2, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<?x8x8x4xf32>, tensor<3x3x4x2xf32>)
  %d1 = graph.add %d0, %b2 : (tensor<?x6x6x2xf32>, tensor<2xf32>)
  %d2 = graph.relu %d1 : (tensor<?x6x6x2xf32>)
  %d3 = graph.multiply %d2, %k : (tensor<?x6x6x2xf32>, tensor<f32>)
  func.return %a3, %c3, %d3 : tensor<?x6x6x2xf32>, tensor<?x6x6x3xf32>, tensor<?x6x6x2xf32>
}

/// The branches part after relu.
// CHECK-LABEL: func.func @until_they_differ(
func.func @until_they_differ(%x: tensor<1x4x8x8xf32>, %w: tensor<2x4x1x1xf32>) -> (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.concat %w, %w, %w : (tensor<2x4x1x1xf32>, tensor<2x4x1x1xf32>, tensor<2x4x1x1xf32>) -> tensor<6x4x1x1xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.conv2d %x, %[[V0]] : (tensor<1x4x8x8xf32>, tensor<6x4x1x1xf32>) -> tensor<1x6x8x8xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.relu %[[V1]] : (tensor<1x6x8x8xf32>) -> tensor<1x6x8x8xf32>
  // CHECK-NEXT: %[[A1:.*]] = graph.strided_slice %[[V2]], axes = [1], begin = [0], end = [2] : (tensor<1x6x8x8xf32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: %[[B1:.*]] = graph.strided_slice %[[V2]], axes = [1], begin = [2], end = [4] : (tensor<1x6x8x8xf32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: %[[C1:.*]] = graph.strided_slice %[[V2]], axes = [1], begin = [4], end = [6] : (tensor<1x6x8x8xf32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: %[[A2:.*]] = graph.exp %[[A1]] : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: %[[B2:.*]] = graph.abs %[[B1]] : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: func.return %[[A2]], %[[B2]], %[[C1]] : tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>
  %a = graph.conv2d %x, %w : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>)
  %b = graph.conv2d %x, %w : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>)
  %c = graph.conv2d %x, %w : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>)
  %a1 = graph.relu %a : (tensor<1x2x8x8xf32>)
  %b1 = graph.relu %b : (tensor<1x2x8x8xf32>)
  %c1 = graph.relu %c : (tensor<1x2x8x8xf32>)
  %a2 = graph.exp %a1 : (tensor<1x2x8x8xf32>)
  %b2 = graph.abs %b1 : (tensor<1x2x8x8xf32>)
  func.return %a2, %b2, %c1 : tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>
}

/// A bias that is the same for all channels of a branch, but another one in each.
// CHECK-LABEL: func.func @no_bias_of_the_branch(
func.func @no_bias_of_the_branch(%x: tensor<1x4x8x8xf32>, %w: tensor<2x4x1x1xf32>, %p: tensor<f32>, %q: tensor<f32>) -> (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.concat %w, %w, %w : (tensor<2x4x1x1xf32>, tensor<2x4x1x1xf32>, tensor<2x4x1x1xf32>) -> tensor<6x4x1x1xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.conv2d %x, %[[V0]] : (tensor<1x4x8x8xf32>, tensor<6x4x1x1xf32>) -> tensor<1x6x8x8xf32>
  // CHECK-NEXT: %[[A:.*]] = graph.strided_slice %[[V1]], axes = [1], begin = [0], end = [2] : (tensor<1x6x8x8xf32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.strided_slice %[[V1]], axes = [1], begin = [2], end = [4] : (tensor<1x6x8x8xf32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.strided_slice %[[V1]], axes = [1], begin = [4], end = [6] : (tensor<1x6x8x8xf32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: %[[A1:.*]] = graph.add %[[A]], %p : (tensor<1x2x8x8xf32>, tensor<f32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: %[[B1:.*]] = graph.add %[[B]], %q : (tensor<1x2x8x8xf32>, tensor<f32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: %[[C1:.*]] = graph.add %[[C]], %p : (tensor<1x2x8x8xf32>, tensor<f32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: func.return %[[A1]], %[[B1]], %[[C1]] : tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>
  %a = graph.conv2d %x, %w : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>)
  %b = graph.conv2d %x, %w : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>)
  %c = graph.conv2d %x, %w : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>)
  %a1 = graph.add %a, %p : (tensor<1x2x8x8xf32>, tensor<f32>)
  %b1 = graph.add %b, %q : (tensor<1x2x8x8xf32>, tensor<f32>)
  %c1 = graph.add %c, %p : (tensor<1x2x8x8xf32>, tensor<f32>)
  func.return %a1, %b1, %c1 : tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>
}

/// Two are too few.
// CHECK-LABEL: func.func @no_two_branches(
func.func @no_two_branches(%x: tensor<1x4x8x8xf32>, %w: tensor<2x4x1x1xf32>) -> (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.conv2d %x, %w : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.conv2d %x, %w : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]] : tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>
  %a = graph.conv2d %x, %w : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>)
  %b = graph.conv2d %x, %w : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>)
  func.return %a, %b : tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>
}

/// Another size of window, other strides, several groups.
// CHECK-LABEL: func.func @no_different_convolutions(
func.func @no_different_convolutions(%x: tensor<1x4x8x8xf32>, %w0: tensor<2x4x1x1xf32>, %w1: tensor<2x4x3x3xf32>, %w2: tensor<2x2x1x1xf32>) -> (tensor<1x2x8x8xf32>, tensor<1x2x4x4xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.conv2d %x, %w0 : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.conv2d %x, %w0, strides = [2, 2] : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x4x4xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.conv2d %x, %w1, padding = [1, 1, 1, 1] : (tensor<1x4x8x8xf32>, tensor<2x4x3x3xf32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: %[[D:.*]] = graph.conv2d %x, %w2, groups = 2 : (tensor<1x4x8x8xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x8x8xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]], %[[D]] : tensor<1x2x8x8xf32>, tensor<1x2x4x4xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>
  %a = graph.conv2d %x, %w0 : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>)
  %b = graph.conv2d %x, %w0, strides = [2, 2] : (tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32>)
  %c = graph.conv2d %x, %w1, padding = [1, 1, 1, 1] : (tensor<1x4x8x8xf32>, tensor<2x4x3x3xf32>)
  %d = graph.conv2d %x, %w2, groups = 2 : (tensor<1x4x8x8xf32>, tensor<2x2x1x1xf32>)
  func.return %a, %b, %c, %d : tensor<1x2x8x8xf32>, tensor<1x2x4x4xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>
}

/// A kernel that another branch computes cannot come before it.
// CHECK-LABEL: func.func @no_dependent_kernel(
func.func @no_dependent_kernel(%x: tensor<2x2x1x1xf32>, %w: tensor<2x2x1x1xf32>) -> (tensor<2x2x1x1xf32>, tensor<2x2x1x1xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.conv2d %x, %w : (tensor<2x2x1x1xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x1x1xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.conv2d %x, %[[A]] : (tensor<2x2x1x1xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x1x1xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.conv2d %x, %[[B]] : (tensor<2x2x1x1xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x1x1xf32>
  // CHECK-NEXT: func.return %[[B]], %[[C]] : tensor<2x2x1x1xf32>, tensor<2x2x1x1xf32>
  %a = graph.conv2d %x, %w : (tensor<2x2x1x1xf32>, tensor<2x2x1x1xf32>)
  %b = graph.conv2d %x, %a : (tensor<2x2x1x1xf32>, tensor<2x2x1x1xf32>)
  %c = graph.conv2d %x, %b : (tensor<2x2x1x1xf32>, tensor<2x2x1x1xf32>)
  func.return %b, %c : tensor<2x2x1x1xf32>, tensor<2x2x1x1xf32>
}
