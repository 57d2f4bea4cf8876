// RUN: stepwell-opt %s -p 'simplify-expr{numerics="strict"}' | filecheck %s

/// One reshape instead of two.
// CHECK-LABEL: func.func @squeeze_of_squeeze(
func.func @squeeze_of_squeeze(%x: tensor<4x1x5xf32>) -> tensor<1x4x5xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %x, shape = [1, 4, 5] : (tensor<4x1x5xf32>) -> tensor<1x4x5xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<1x4x5xf32>
  %a = graph.squeeze %x, axis = [1] : (tensor<4x1x5xf32>)
  %r = graph.expand_dims %a, axis = [0] : (tensor<4x5xf32>)
  func.return %r : tensor<1x4x5xf32>
}

/// One is one.
// CHECK-LABEL: func.func @no_squeeze_of_relu(
func.func @no_squeeze_of_relu(%x: tensor<4x1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.relu %x : (tensor<4x1xf32>) -> tensor<4x1xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.squeeze %[[A]] : (tensor<4x1xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %a = graph.relu %x : (tensor<4x1xf32>)
  %r = graph.squeeze %a : (tensor<4x1xf32>)
  func.return %r : tensor<4xf32>
}

/// The 4 stays before the 5.
// CHECK-LABEL: func.func @permute_of_ones(
func.func @permute_of_ones(%x: tensor<4x1x5xf32>) -> tensor<1x4x5xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %x, shape = [1, 4, 5] : (tensor<4x1x5xf32>) -> tensor<1x4x5xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<1x4x5xf32>
  %r = graph.permute_dims %x, axes = [1, 0, 2] : (tensor<4x1x5xf32>)
  func.return %r : tensor<1x4x5xf32>
}

/// The 4 and the 5 change places; a `?` may be 5.
// CHECK-LABEL: func.func @no_permute_of_others(
func.func @no_permute_of_others(%x: tensor<4x1x5xf32>, %y: tensor<1x?xf32>) -> (tensor<5x1x4xf32>, tensor<?x1xf32>) {
  // CHECK-NEXT: %[[R:.*]] = graph.permute_dims %x : (tensor<4x1x5xf32>) -> tensor<5x1x4xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.permute_dims %y : (tensor<1x?xf32>) -> tensor<?x1xf32>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<5x1x4xf32>, tensor<?x1xf32>
  %r = graph.permute_dims %x : (tensor<4x1x5xf32>)
  %s = graph.permute_dims %y : (tensor<1x?xf32>)
  func.return %r, %s : tensor<5x1x4xf32>, tensor<?x1xf32>
}

/// No element is repeated.
// CHECK-LABEL: func.func @broadcast_by_ones(
func.func @broadcast_by_ones(%x: tensor<4xf32>) -> tensor<1x4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %x, shape = [1, 4] : (tensor<4xf32>) -> tensor<1x4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<1x4xf32>
  %r = graph.broadcast_to %x, shape = [1, 4] : (tensor<4xf32>)
  func.return %r : tensor<1x4xf32>
}

/// Every element is.
// CHECK-LABEL: func.func @no_broadcast_by_two(
func.func @no_broadcast_by_two(%x: tensor<4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.broadcast_to %x, shape = [2, 4] : (tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x4xf32>
  %r = graph.broadcast_to %x, shape = [2, 4] : (tensor<4xf32>)
  func.return %r : tensor<2x4xf32>
}

/// Whatever is done to places, the elements are 2.0.
// CHECK-LABEL: func.func @movement_of_splat(
func.func @movement_of_splat() -> tensor<3x6xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.full 2.0 : tensor<3x6xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<3x6xf32>
  %k = graph.constant dense<2.0> : tensor<2x3xf32>
  %p = graph.permute_dims %k : (tensor<2x3xf32>)
  %s = graph.reshape %p, shape = [1, 6] : (tensor<3x2xf32>)
  %r = graph.broadcast_to %s, shape = [3, 6] : (tensor<1x6xf32>)
  func.return %r : tensor<3x6xf32>
}

/// Different elements; and 1.0 beside 0.0.
// CHECK-LABEL: func.func @no_movement_of_others(
func.func @no_movement_of_others() -> (tensor<2xf32>, tensor<3xf32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.squeeze %[[K]] : (tensor<1x2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: %[[Z:.*]] = graph.full 1.0 : tensor<1xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.pad %[[Z]], pad_width = [1, 1] : (tensor<1xf32>) -> tensor<3xf32>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<2xf32>, tensor<3xf32>
  %k = graph.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %r = graph.squeeze %k : (tensor<1x2xf32>)
  %z = graph.full 1.0 : tensor<1xf32>
  %s = graph.pad %z, pad_width = [1, 1] : (tensor<1xf32>)
  func.return %r, %s : tensor<2xf32>, tensor<3xf32>
}

/// One number is enough.
// CHECK-LABEL: func.func @splat_on_the_left(
func.func @splat_on_the_left(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[V0]], %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x3xf32>
  %k = graph.full 3.0 : tensor<2x3xf32>
  %r = graph.divide %k, %x : (tensor<2x3xf32>, tensor<2x3xf32>)
  func.return %r : tensor<2x3xf32>
}

/// On the other side, and in an op whose operands have no order.
// CHECK-LABEL: func.func @splat_on_the_right(
func.func @splat_on_the_right(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.power %x, %[[V0]] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[S:.*]] = graph.maximum %[[V1]], %[[R]] : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<2x3xf32>, tensor<2x3xf32>
  %k = graph.constant dense<3.0> : tensor<3xf32>
  %r = graph.power %x, %k : (tensor<2x3xf32>, tensor<3xf32>)
  %s = graph.maximum %k, %r : (tensor<3xf32>, tensor<2x3xf32>)
  func.return %r, %s : tensor<2x3xf32>, tensor<2x3xf32>
}

/// The constant makes the shape; it has two numbers; there are two constants; there is one number already.
// CHECK-LABEL: func.func @no_splat(
func.func @no_splat(%x: tensor<f32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %x, %[[K]] : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: %[[L:.*]] = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.add %y, %[[L]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: %[[T:.*]] = graph.subtract %[[K]], %[[L]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: %[[M:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[U:.*]] = graph.add %y, %[[M]] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK-NEXT: func.return %[[R]], %[[S]], %[[T]], %[[U]] : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  %k = graph.full 3.0 : tensor<2xf32>
  %r = graph.add %x, %k : (tensor<f32>, tensor<2xf32>)
  %l = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = graph.add %y, %l : (tensor<2xf32>, tensor<2xf32>)
  %t = graph.subtract %k, %l : (tensor<2xf32>, tensor<2xf32>)
  %m = graph.full 3.0 : tensor<f32>
  %u = graph.add %y, %m : (tensor<2xf32>, tensor<f32>)
  func.return %r, %s, %t, %u : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
