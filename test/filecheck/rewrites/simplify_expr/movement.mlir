// RUN: stepwell-opt %s -p simplify-expr | filecheck %s

/// Dimensions stay where they are.
// CHECK-LABEL: @permute_to_same(
func.func @permute_to_same(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  // CHECK-NEXT: func.return %x : tensor<2x3x4xf32>
  %r = graph.permute_dims %x, axes = [0, 1, -1] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return %r : tensor<2x3x4xf32>
}

/// Dimensions that change places, of equal extent too.
// CHECK-LABEL: @no_permute(
func.func @no_permute(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.permute_dims %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4x4xf32>
  %r = graph.permute_dims %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %r : tensor<4x4xf32>
}

/// Two permutations are one; opposite ones are none.
// CHECK-LABEL: @permute_of_permute(
func.func @permute_of_permute(%x: tensor<2x3x4xf32>) -> (tensor<3x4x2xf32>, tensor<2x3x4xf32>) {
  // CHECK-NEXT: %[[B:.*]] = graph.permute_dims %x, axes = [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  // CHECK-NEXT: func.return %[[B]], %x : tensor<3x4x2xf32>, tensor<2x3x4xf32>
  %a = graph.permute_dims %x, axes = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %b = graph.permute_dims %a, axes = [2, 0, 1] : (tensor<4x2x3xf32>) -> tensor<3x4x2xf32>
  %c = graph.permute_dims %x : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %d = graph.permute_dims %c : (tensor<4x3x2xf32>) -> tensor<2x3x4xf32>
  func.return %b, %d : tensor<3x4x2xf32>, tensor<2x3x4xf32>
}

/// The shape is that already.
// CHECK-LABEL: @reshape_to_same(
func.func @reshape_to_same(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: func.return %x : tensor<2x3xf32>
  %a = graph.reshape %x, shape = [2, -1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = graph.broadcast_to %a, shape = [2, 3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

/// A broadcast that stretches.
// CHECK-LABEL: @no_broadcast(
func.func @no_broadcast(%x: tensor<1x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.broadcast_to %x, shape = [2, 3] : (tensor<1x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x3xf32>
  %r = graph.broadcast_to %x, shape = [2, 3] : (tensor<1x3xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

/// Row-major order is kept, so the same shape is the same tensor.
// CHECK-LABEL: @reshape_there_and_back(
func.func @reshape_there_and_back(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: func.return %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
  %a = graph.reshape %x, shape = [6] : (tensor<2x3xf32>) -> tensor<6xf32>
  %b = graph.reshape %a, shape = [2, 3] : (tensor<6xf32>) -> tensor<2x3xf32>
  %c = graph.expand_dims %x, axis = [0] : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
  %d = graph.squeeze %c, axis = [0] : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
  func.return %b, %d : tensor<2x3xf32>, tensor<2x3xf32>
}

/// Only the last shape counts.
// CHECK-LABEL: @reshape_of_reshape(
func.func @reshape_of_reshape(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %x, shape = [3, 2] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<3x2xf32>
  %a = graph.reshape %x, shape = [6] : (tensor<2x3xf32>) -> tensor<6xf32>
  %r = graph.reshape %a, shape = [3, 2] : (tensor<6xf32>) -> tensor<3x2xf32>
  func.return %r : tensor<3x2xf32>
}

/// One `?` is no obstacle.
// CHECK-LABEL: @reshape_of_unknown_size(
func.func @reshape_of_unknown_size(%x: tensor<?x6xf32>) -> tensor<?x2x3xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %x, shape = [-1, 2, 3] : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<?x2x3xf32>
  %a = graph.reshape %x, shape = [-1] : (tensor<?x6xf32>) -> tensor<?xf32>
  %r = graph.reshape %a, shape = [-1, 2, 3] : (tensor<?xf32>) -> tensor<?x2x3xf32>
  func.return %r : tensor<?x2x3xf32>
}

/// A reshape and a squeeze are one reshape.
// CHECK-LABEL: @squeeze_of_reshape(
func.func @squeeze_of_reshape(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %x, shape = [6] : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<6xf32>
  %a = graph.reshape %x, shape = [1, 6] : (tensor<2x3xf32>) -> tensor<1x6xf32>
  %r = graph.squeeze %a : (tensor<1x6xf32>) -> tensor<6xf32>
  func.return %r : tensor<6xf32>
}

/// A permutation between changes the order.
// CHECK-LABEL: @no_reshape_of_permute(
func.func @no_reshape_of_permute(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.reshape %x, shape = [3, 2] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.permute_dims %[[A]] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x3xf32>
  %a = graph.reshape %x, shape = [3, 2] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %r = graph.permute_dims %a : (tensor<3x2xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

/// Only the last shape counts.
// CHECK-LABEL: @broadcast_of_broadcast(
func.func @broadcast_of_broadcast(%x: tensor<1xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.broadcast_to %x, shape = [2, 4] : (tensor<1xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x4xf32>
  %a = graph.broadcast_to %x, shape = [4] : (tensor<1xf32>) -> tensor<4xf32>
  %r = graph.broadcast_to %a, shape = [2, 4] : (tensor<4xf32>) -> tensor<2x4xf32>
  func.return %r : tensor<2x4xf32>
}

/// No element is added.
// CHECK-LABEL: @pad_by_nothing(
func.func @pad_by_nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %r = graph.pad %x, pad_width = [0, 0] : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Elements are added.
// CHECK-LABEL: @no_pad(
func.func @no_pad(%x: tensor<4xf32>) -> tensor<5xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.pad %x, pad_width = [0, 1] : (tensor<4xf32>) -> tensor<5xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<5xf32>
  %r = graph.pad %x, pad_width = [0, 1] : (tensor<4xf32>) -> tensor<5xf32>
  func.return %r : tensor<5xf32>
}

/// One tensor needs no joining.
// CHECK-LABEL: @concat_of_one(
func.func @concat_of_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %r = graph.concat %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Two do.
// CHECK-LABEL: @no_concat_of_two(
func.func @no_concat_of_two(%x: tensor<4xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.concat %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<8xf32>
  %r = graph.concat %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

/// One part is the whole.
// CHECK-LABEL: @split_into_one(
func.func @split_into_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %r = graph.split %x, sections = 1 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Two parts are not.
// CHECK-LABEL: @no_split_into_two(
func.func @no_split_into_two(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK-NEXT: %[[A:.*]], %[[B:.*]] = graph.split %x, sections = 2 : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  // CHECK-NEXT: func.return %[[A]], %[[B]] : tensor<2xf32>, tensor<2xf32>
  %a, %b = graph.split %x, sections = 2 : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  func.return %a, %b : tensor<2xf32>, tensor<2xf32>
}

/// A slice that keeps the shape keeps all.
// CHECK-LABEL: @slice_of_everything(
func.func @slice_of_everything(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %r = graph.strided_slice %x, axes = [0], begin = [0], end = [9] : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// A reversal keeps the shape, not the order.
// CHECK-LABEL: @no_slice_backwards(
func.func @no_slice_backwards(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.strided_slice %x, axes = [0], begin = [3], end = [-5], strides = [-1] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %r = graph.strided_slice %x, axes = [0], begin = [3], end = [-5], strides = [-1] : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
