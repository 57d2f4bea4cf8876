// RUN: stepwell-opt %s -p simplify-expr | filecheck %s

/// Two slices are one.
// CHECK-LABEL: func.func @slice_of_slice(
func.func @slice_of_slice(%x: tensor<10xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.strided_slice %x, axes = [0], begin = [7], end = [2], strides = [-4] : (tensor<10xf32>) -> tensor<2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2xf32>
  %a = graph.strided_slice %x, axes = [0], begin = [1], end = [9], strides = [2] : (tensor<10xf32>) -> tensor<4xf32>
  %r = graph.strided_slice %a, axes = [0], begin = [3], end = [0], strides = [-2] : (tensor<4xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

/// The size is unknown.
// CHECK-LABEL: func.func @no_slice_of_slice(
func.func @no_slice_of_slice(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.strided_slice %x, axes = [0], begin = [1], end = [-1] : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.strided_slice %[[A]], axes = [0], begin = [1], end = [-1] : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<?xf32>
  %a = graph.strided_slice %x, axes = [0], begin = [1], end = [-1] : (tensor<?xf32>) -> tensor<?xf32>
  %r = graph.strided_slice %a, axes = [0], begin = [1], end = [-1] : (tensor<?xf32>) -> tensor<?xf32>
  func.return %r : tensor<?xf32>
}

/// The second slice begins before the first element and goes back, so that it keeps nothing.
// CHECK-LABEL: func.func @no_slice_of_slice_that_is_empty(
func.func @no_slice_of_slice_that_is_empty(%x: tensor<2xf32>) -> tensor<0xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.strided_slice %x, axes = [0], begin = [1], end = [-3], strides = [-1] : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.strided_slice %[[A]], axes = [0], begin = [-3], end = [-2], strides = [-1] : (tensor<2xf32>) -> tensor<0xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<0xf32>
  %a = graph.strided_slice %x, axes = [0], begin = [1], end = [-3], strides = [-1] : (tensor<2xf32>) -> tensor<2xf32>
  %r = graph.strided_slice %a, axes = [0], begin = [-3], end = [-2], strides = [-1] : (tensor<2xf32>) -> tensor<0xf32>
  func.return %r : tensor<0xf32>
}

/// The slice lies in one part.
// CHECK-LABEL: func.func @slice_of_concat(
func.func @slice_of_concat(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> tensor<2x2xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.strided_slice %y, axes = [1], begin = [1], end = [3], strides = [1] : (tensor<2x4xf32>) -> tensor<2x2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x2xf32>
  %c = graph.concat %x, %y, axis = 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  %r = graph.strided_slice %c, axes = [1], begin = [4], end = [6] : (tensor<2x7xf32>) -> tensor<2x2xf32>
  func.return %r : tensor<2x2xf32>
}

/// The slice takes of two parts.
// CHECK-LABEL: func.func @no_slice_of_concat(
func.func @no_slice_of_concat(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[C:.*]] = graph.concat %x, %y, axis = 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.strided_slice %[[C]], axes = [1], begin = [2], end = [5] : (tensor<2x7xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x3xf32>
  %c = graph.concat %x, %y, axis = 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  %r = graph.strided_slice %c, axes = [1], begin = [2], end = [5] : (tensor<2x7xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

/// Constant indices that are equally far apart are a slice.
// CHECK-LABEL: func.func @take_of_neighbours(
func.func @take_of_neighbours(%x: tensor<3x4x5xf32>) -> (tensor<3x2x5xf32>, tensor<3x4x3xf32>, tensor<3x4x5xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.strided_slice %x, axes = [1], begin = [1], end = [4], strides = [2] : (tensor<3x4x5xf32>) -> tensor<3x2x5xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.strided_slice %x, axes = [2], begin = [4], end = [-6], strides = [-2] : (tensor<3x4x5xf32>) -> tensor<3x4x3xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]], %x : tensor<3x2x5xf32>, tensor<3x4x3xf32>, tensor<3x4x5xf32>
  %i = graph.constant dense<[1, -1]> : tensor<2xi32>
  %a = graph.take %x, %i, axis = 1 : (tensor<3x4x5xf32>, tensor<2xi32>) -> tensor<3x2x5xf32>
  %j = graph.constant dense<[4, 2, 0]> : tensor<3xi64>
  %b = graph.take %x, %j, axis = -1 : (tensor<3x4x5xf32>, tensor<3xi64>) -> tensor<3x4x3xf32>
  %k = graph.constant dense<[0, 1, 2]> : tensor<3xi64>
  %c = graph.take %x, %k, axis = 0 : (tensor<3x4x5xf32>, tensor<3xi64>) -> tensor<3x4x5xf32>
  func.return %a, %b, %c : tensor<3x2x5xf32>, tensor<3x4x3xf32>, tensor<3x4x5xf32>
}

/// One index takes one element, and its dimension goes away.
// CHECK-LABEL: func.func @take_of_one(
func.func @take_of_one(%x: tensor<3x4x5xf32>) -> tensor<4x5xf32> {
  // CHECK-NEXT: %[[S:.*]] = graph.strided_slice %x, axes = [0], begin = [2], end = [3], strides = [1] : (tensor<3x4x5xf32>) -> tensor<1x4x5xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %[[S]], shape = [4, 5] : (tensor<1x4x5xf32>) -> tensor<4x5xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4x5xf32>
  %i = graph.constant dense<-1> : tensor<i64>
  %r = graph.take %x, %i, axis = 0 : (tensor<3x4x5xf32>, tensor<i64>) -> tensor<4x5xf32>
  func.return %r : tensor<4x5xf32>
}

/// Indices that repeat, are not equally far apart, or are out of range. The last op fails when it runs.
// CHECK-LABEL: func.func @no_take_of_neighbours(
func.func @no_take_of_neighbours(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<3xf32>, tensor<f32>) {
  // CHECK-COUNT-3: graph.take
  %i = graph.constant dense<[1, 1]> : tensor<2xi64>
  %a = graph.take %x, %i, axis = 0 : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  %j = graph.constant dense<[0, 1, 3]> : tensor<3xi64>
  %b = graph.take %x, %j, axis = 0 : (tensor<4xf32>, tensor<3xi64>) -> tensor<3xf32>
  %k = graph.constant dense<4> : tensor<i64>
  %c = graph.take %x, %k, axis = 0 : (tensor<4xf32>, tensor<i64>) -> tensor<f32>
  func.return %a, %b, %c : tensor<2xf32>, tensor<3xf32>, tensor<f32>
}

/// The slice lies in the middle.
// CHECK-LABEL: func.func @slice_of_pad(
func.func @slice_of_pad(%x: tensor<4xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.strided_slice %x, axes = [0], begin = [1], end = [3], strides = [1] : (tensor<4xf32>) -> tensor<2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2xf32>
  %p = graph.pad %x, pad_width = [2, 1], value = 7.0 : (tensor<4xf32>) -> tensor<7xf32>
  %r = graph.strided_slice %p, axes = [0], begin = [3], end = [5] : (tensor<7xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

/// The slice takes an element of the padding.
// CHECK-LABEL: func.func @no_slice_of_pad(
func.func @no_slice_of_pad(%x: tensor<4xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %[[P:.*]] = graph.pad %x, pad_width = [2, 1], value = 7.0 : (tensor<4xf32>) -> tensor<7xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.strided_slice %[[P]], axes = [0], begin = [1], end = [3] : (tensor<7xf32>) -> tensor<2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2xf32>
  %p = graph.pad %x, pad_width = [2, 1], value = 7.0 : (tensor<4xf32>) -> tensor<7xf32>
  %r = graph.strided_slice %p, axes = [0], begin = [1], end = [3] : (tensor<7xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

/// Two paddings are one.
// CHECK-LABEL: func.func @pad_of_pad(
func.func @pad_of_pad(%x: tensor<4xf32>) -> tensor<10xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.pad %x, pad_width = [2, 4], value = 7.0 : (tensor<4xf32>) -> tensor<10xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<10xf32>
  %p = graph.pad %x, pad_width = [2, 1], value = 7.0 : (tensor<4xf32>) -> tensor<7xf32>
  %r = graph.pad %p, pad_width = [0, 3], value = 7.0 : (tensor<7xf32>) -> tensor<10xf32>
  func.return %r : tensor<10xf32>
}

/// The values differ.
// CHECK-LABEL: func.func @no_pad_of_pad(
func.func @no_pad_of_pad(%x: tensor<4xf32>) -> tensor<10xf32> {
  // CHECK-NEXT: %[[P:.*]] = graph.pad %x, pad_width = [2, 1], value = 7.0 : (tensor<4xf32>) -> tensor<7xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.pad %[[P]], pad_width = [0, 3], value = 0.0 : (tensor<7xf32>) -> tensor<10xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<10xf32>
  %p = graph.pad %x, pad_width = [2, 1], value = 7.0 : (tensor<4xf32>) -> tensor<7xf32>
  %r = graph.pad %p, pad_width = [0, 3], value = 0.0 : (tensor<7xf32>) -> tensor<10xf32>
  func.return %r : tensor<10xf32>
}

/// Three tensors are joined at once.
// CHECK-LABEL: func.func @concat_of_concat(
func.func @concat_of_concat(%x: tensor<2xf32>, %y: tensor<3xf32>, %z: tensor<4xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  // CHECK-NEXT: %[[R:.*]] = graph.concat %x, %y, %z, axis = -1 : (tensor<2xf32>, tensor<3xf32>, tensor<4xf32>) -> tensor<9xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.concat %x, %y, %z : (tensor<2xf32>, tensor<3xf32>, tensor<4xf32>) -> tensor<9xf32>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<9xf32>, tensor<9xf32>
  %a = graph.concat %x, %y, axis = 0 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %r = graph.concat %a, %z, axis = -1 : (tensor<5xf32>, tensor<4xf32>) -> tensor<9xf32>
  %b = graph.concat %y, %z, axis = 0 : (tensor<3xf32>, tensor<4xf32>) -> tensor<7xf32>
  %s = graph.concat %x, %b, axis = 0 : (tensor<2xf32>, tensor<7xf32>) -> tensor<9xf32>
  func.return %r, %s : tensor<9xf32>, tensor<9xf32>
}

/// The axes differ.
// CHECK-LABEL: func.func @no_concat_of_concat(
func.func @no_concat_of_concat(%x: tensor<2x2xf32>, %y: tensor<2x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.concat %x, %x, axis = 1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.concat %[[A]], %y : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4x4xf32>
  %a = graph.concat %x, %x, axis = 1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %r = graph.concat %a, %y, axis = 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  func.return %r : tensor<4x4xf32>
}

/// `%a` is needed anyway.
// CHECK-LABEL: func.func @no_concat_of_shared_concat(
func.func @no_concat_of_shared_concat(%x: tensor<2xf32>, %y: tensor<3xf32>) -> (tensor<8xf32>, tensor<5xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.concat %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.concat %[[A]], %y : (tensor<5xf32>, tensor<3xf32>) -> tensor<8xf32>
  // CHECK-NEXT: func.return %[[R]], %[[A]] : tensor<8xf32>, tensor<5xf32>
  %a = graph.concat %x, %y, axis = 0 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %r = graph.concat %a, %y, axis = 0 : (tensor<5xf32>, tensor<3xf32>) -> tensor<8xf32>
  func.return %r, %a : tensor<8xf32>, tensor<5xf32>
}

/// All parts of a split are the whole.
// CHECK-LABEL: func.func @concat_of_split(
func.func @concat_of_split(%x: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  // CHECK-NEXT: func.return %x, %x : tensor<6xf32>, tensor<6xf32>
  %a, %b = graph.split %x, indices = [2], axis = 0 : (tensor<6xf32>) -> (tensor<2xf32>, tensor<4xf32>)
  %r = graph.concat %a, %b, axis = -1 : (tensor<2xf32>, tensor<4xf32>) -> tensor<6xf32>
  %c, %d, %e = graph.split %x, indices = [2, 3], axis = 0 : (tensor<6xf32>) -> (tensor<2xf32>, tensor<1xf32>, tensor<3xf32>)
  %s = graph.concat %c, %d, %e, axis = 0 : (tensor<2xf32>, tensor<1xf32>, tensor<3xf32>) -> tensor<6xf32>
  func.return %r, %s : tensor<6xf32>, tensor<6xf32>
}

/// The third part is missing.
// CHECK-LABEL: func.func @no_concat_of_two_thirds(
func.func @no_concat_of_two_thirds(%x: tensor<6xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]], %[[B:.*]], %[[C:.*]] = graph.split %x, indices = [2, 4] : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  // CHECK-NEXT: %[[R:.*]] = graph.concat %[[A]], %[[B]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %a, %b, %c = graph.split %x, indices = [2, 4], axis = 0 : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  %r = graph.concat %a, %b, axis = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Types with unknown sizes are equal, but the third part is missing.
// CHECK-LABEL: func.func @no_concat_of_unknown_thirds(
func.func @no_concat_of_unknown_thirds(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: %[[A:.*]], %[[B:.*]], %[[C:.*]] = graph.split %x, indices = [2, 4] : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  // CHECK-NEXT: %[[R:.*]] = graph.concat %[[A]], %[[B]] : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<?xf32>
  %a, %b, %c = graph.split %x, indices = [2, 4], axis = 0 : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  %r = graph.concat %a, %b, axis = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %r : tensor<?xf32>
}

/// Permutations around a function cancel, or are one before it.
// CHECK-LABEL: func.func @permute_around_function(
func.func @permute_around_function(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<3x4x2xf32>) {
  // CHECK-NEXT: %[[R:.*]] = graph.tanh %x : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.permute_dims %x, axes = [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.relu %[[V1]] : (tensor<3x4x2xf32>) -> tensor<3x4x2xf32>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<2x3x4xf32>, tensor<3x4x2xf32>
  %a = graph.permute_dims %x : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %b = graph.tanh %a : (tensor<4x3x2xf32>) -> tensor<4x3x2xf32>
  %r = graph.permute_dims %b : (tensor<4x3x2xf32>) -> tensor<2x3x4xf32>
  %c = graph.permute_dims %x, axes = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %d = graph.relu %c : (tensor<4x2x3xf32>) -> tensor<4x2x3xf32>
  %s = graph.permute_dims %d, axes = [2, 0, 1] : (tensor<4x2x3xf32>) -> tensor<3x4x2xf32>
  func.return %r, %s : tensor<2x3x4xf32>, tensor<3x4x2xf32>
}

/// `%b` is needed anyway.
// CHECK-LABEL: func.func @no_permute_around_shared_function(
func.func @no_permute_around_shared_function(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.permute_dims %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.tanh %[[A]] : (tensor<3x2xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.permute_dims %[[B]] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: func.return %[[R]], %[[B]] : tensor<2x3xf32>, tensor<3x2xf32>
  %a = graph.permute_dims %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %b = graph.tanh %a : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %r = graph.permute_dims %b : (tensor<3x2xf32>) -> tensor<2x3xf32>
  func.return %r, %b : tensor<2x3xf32>, tensor<3x2xf32>
}

/// Reshapes around a function cancel, or are one before it.
// CHECK-LABEL: func.func @reshape_around_function(
func.func @reshape_around_function(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>) {
  // CHECK-NEXT: %[[R:.*]] = graph.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.reshape %x, shape = [3, 2] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.sigmoid %[[V1]] : (tensor<3x2xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<2x3xf32>, tensor<3x2xf32>
  %a = graph.reshape %x, shape = [6] : (tensor<2x3xf32>) -> tensor<6xf32>
  %b = graph.exp %a : (tensor<6xf32>) -> tensor<6xf32>
  %r = graph.reshape %b, shape = [2, 3] : (tensor<6xf32>) -> tensor<2x3xf32>
  %c = graph.expand_dims %x, axis = [0] : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
  %d = graph.sigmoid %c : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %s = graph.reshape %d, shape = [3, 2] : (tensor<1x2x3xf32>) -> tensor<3x2xf32>
  func.return %r, %s : tensor<2x3xf32>, tensor<3x2xf32>
}

/// `%b` is needed anyway.
// CHECK-LABEL: func.func @no_reshape_around_shared_function(
func.func @no_reshape_around_shared_function(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<6xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.reshape %x, shape = [6] : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.exp %[[A]] : (tensor<6xf32>) -> tensor<6xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %[[B]], shape = [3, 2] : (tensor<6xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: func.return %[[R]], %[[B]] : tensor<3x2xf32>, tensor<6xf32>
  %a = graph.reshape %x, shape = [6] : (tensor<2x3xf32>) -> tensor<6xf32>
  %b = graph.exp %a : (tensor<6xf32>) -> tensor<6xf32>
  %r = graph.reshape %b, shape = [3, 2] : (tensor<6xf32>) -> tensor<3x2xf32>
  func.return %r, %b : tensor<3x2xf32>, tensor<6xf32>
}

/// The sum is permuted, not both operands.
// CHECK-LABEL: func.func @permutes_before_function(
func.func @permutes_before_function(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.add %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.permute_dims %[[V0]] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<3x2xf32>
  %a = graph.permute_dims %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %b = graph.permute_dims %y : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %r = graph.add %a, %b : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  func.return %r : tensor<3x2xf32>
}

/// The permutations differ.
// CHECK-LABEL: func.func @no_permutes_before_function(
func.func @no_permutes_before_function(%x: tensor<2x2x2xf32>, %y: tensor<2x2x2xf32>) -> tensor<2x2x2xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.permute_dims %x, axes = [0, 2, 1] : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.permute_dims %y, axes = [1, 0, 2] : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[B]] : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x2x2xf32>
  %a = graph.permute_dims %x, axes = [0, 2, 1] : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %b = graph.permute_dims %y, axes = [1, 0, 2] : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %r = graph.add %a, %b : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  func.return %r : tensor<2x2x2xf32>
}

/// The operands have other ranks, so reversed dimensions do not meet as before.
// CHECK-LABEL: func.func @no_permutes_of_other_ranks(
func.func @no_permutes_of_other_ranks(%x: tensor<2x2x2xf32>, %y: tensor<2x2xf32>) -> tensor<2x2x2xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.permute_dims %x : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.permute_dims %y : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[B]] : (tensor<2x2x2xf32>, tensor<2x2xf32>) -> tensor<2x2x2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2x2x2xf32>
  %a = graph.permute_dims %x : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %b = graph.permute_dims %y : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = graph.add %a, %b : (tensor<2x2x2xf32>, tensor<2x2xf32>) -> tensor<2x2x2xf32>
  func.return %r : tensor<2x2x2xf32>
}

/// `%a` is needed anyway.
// CHECK-LABEL: func.func @no_permute_around_function_of_shared(
func.func @no_permute_around_function_of_shared(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.permute_dims %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.tanh %[[A]] : (tensor<3x2xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.permute_dims %[[B]] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: func.return %[[R]], %[[A]] : tensor<2x3xf32>, tensor<3x2xf32>
  %a = graph.permute_dims %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %b = graph.tanh %a : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %r = graph.permute_dims %b : (tensor<3x2xf32>) -> tensor<2x3xf32>
  func.return %r, %a : tensor<2x3xf32>, tensor<3x2xf32>
}

/// `%a` is needed anyway.
// CHECK-LABEL: func.func @no_permutes_of_shared(
func.func @no_permutes_of_shared(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.permute_dims %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.permute_dims %y : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[B]] : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: func.return %[[R]], %[[A]] : tensor<3x2xf32>, tensor<3x2xf32>
  %a = graph.permute_dims %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %b = graph.permute_dims %y : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %r = graph.add %a, %b : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  func.return %r, %a : tensor<3x2xf32>, tensor<3x2xf32>
}
