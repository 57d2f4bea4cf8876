// RUN: stepwell-opt %s -p simplify-expr | filecheck %s

/// One element is the first.
// CHECK-LABEL: func.func @position_among_one(
func.func @position_among_one(%x: tensor<3x1xf32>) -> tensor<3xi64> {
  // CHECK-NEXT: %[[R:.*]] = graph.full 0 : tensor<3xi64>
  // CHECK-NEXT: func.return %[[R]] : tensor<3xi64>
  %r = graph.argmax %x, axis = 1 : (tensor<3x1xf32>) -> tensor<3xi64>
  func.return %r : tensor<3xi64>
}

/// There are more.
// CHECK-LABEL: func.func @no_position_among_two(
func.func @no_position_among_two(%x: tensor<3x2xf32>) -> tensor<3xi64> {
  // CHECK-NEXT: %[[R:.*]] = graph.argmax %x, axis = 1 : (tensor<3x2xf32>) -> tensor<3xi64>
  // CHECK-NEXT: func.return %[[R]] : tensor<3xi64>
  %r = graph.argmax %x, axis = 1 : (tensor<3x2xf32>) -> tensor<3xi64>
  func.return %r : tensor<3xi64>
}

/// Two reductions are one.
// CHECK-LABEL: func.func @reduction_of_reduction(
func.func @reduction_of_reduction(%x: tensor<2x3x4xf32>, %y: tensor<2x3xi32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<i32>) {
  // CHECK-NEXT: %[[R:.*]] = graph.max %x, axis = [0, 2] : (tensor<2x3x4xf32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.mean %x, axis = [0, 2] : (tensor<2x3x4xf32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[T:.*]] = graph.sum %y, axis = [0, 1] : (tensor<2x3xi32>) -> tensor<i32>
  // CHECK-NEXT: func.return %[[R]], %[[S]], %[[T]] : tensor<3xf32>, tensor<3xf32>, tensor<i32>
  %a = graph.max %x, axis = [0] : (tensor<2x3x4xf32>) -> tensor<3x4xf32>
  %r = graph.max %a, axis = [1] : (tensor<3x4xf32>) -> tensor<3xf32>
  %b = graph.mean %x, axis = [2] : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
  %s = graph.mean %b, axis = [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  %c = graph.sum %y, axis = [0] : (tensor<2x3xi32>) -> tensor<3xi32>
  %t = graph.sum %c : (tensor<3xi32>) -> tensor<i32>
  func.return %r, %s, %t : tensor<3xf32>, tensor<3xf32>, tensor<i32>
}

/// The functions differ.
// CHECK-LABEL: func.func @no_max_of_min(
func.func @no_max_of_min(%x: tensor<2x3xf32>) -> tensor<f32> {
  // CHECK-NEXT: %[[A:.*]] = graph.min %x, axis = [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.max %[[A]] : (tensor<3xf32>) -> tensor<f32>
  // CHECK-NEXT: func.return %[[R]] : tensor<f32>
  %a = graph.min %x, axis = [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  %r = graph.max %a : (tensor<3xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

/// `%a` is needed anyway.
// CHECK-LABEL: func.func @no_reduction_of_shared_reduction(
func.func @no_reduction_of_shared_reduction(%x: tensor<2x3xf32>) -> (tensor<f32>, tensor<3xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.max %x, axis = [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.max %[[A]] : (tensor<3xf32>) -> tensor<f32>
  // CHECK-NEXT: func.return %[[R]], %[[A]] : tensor<f32>, tensor<3xf32>
  %a = graph.max %x, axis = [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  %r = graph.max %a : (tensor<3xf32>) -> tensor<f32>
  func.return %r, %a : tensor<f32>, tensor<3xf32>
}

/// The size is unknown.
// CHECK-LABEL: func.func @no_reduction_of_unknown_sizes(
func.func @no_reduction_of_unknown_sizes(%x: tensor<?x3xf32>) -> tensor<f32> {
  // CHECK-NEXT: %[[A:.*]] = graph.mean %x, axis = [0] : (tensor<?x3xf32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.mean %[[A]] : (tensor<3xf32>) -> tensor<f32>
  // CHECK-NEXT: func.return %[[R]] : tensor<f32>
  %a = graph.mean %x, axis = [0] : (tensor<?x3xf32>) -> tensor<3xf32>
  %r = graph.mean %a : (tensor<3xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

/// The dimensions are found where they were.
// CHECK-LABEL: func.func @reduction_of_permuted(
func.func @reduction_of_permuted(%x: tensor<2x3x4xf32>, %y: tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xi32>) {
  // CHECK-NEXT: %[[R:.*]] = graph.max %x, axis = [2] : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.mean %x, axis = [2] : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[T:.*]] = graph.sum %y, axis = [1] : (tensor<2x3xi32>) -> tensor<2xi32>
  // CHECK-NEXT: func.return %[[R]], %[[S]], %[[T]] : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xi32>
  %a = graph.permute_dims %x, axes = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %r = graph.max %a, axis = [0] : (tensor<4x2x3xf32>) -> tensor<2x3xf32>
  %s = graph.mean %a, axis = [0] : (tensor<4x2x3xf32>) -> tensor<2x3xf32>
  %b = graph.permute_dims %y : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %t = graph.sum %b, axis = [0] : (tensor<3x2xi32>) -> tensor<2xi32>
  func.return %r, %s, %t : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xi32>
}

/// The dimensions that are left stand in another order.
// CHECK-LABEL: func.func @no_reduction_of_permuted(
func.func @no_reduction_of_permuted(%x: tensor<2x3x4xf32>) -> tensor<3x2xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.permute_dims %x : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.max %[[A]], axis = [0] : (tensor<4x3x2xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<3x2xf32>
  %a = graph.permute_dims %x : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %r = graph.max %a, axis = [0] : (tensor<4x3x2xf32>) -> tensor<3x2xf32>
  func.return %r : tensor<3x2xf32>
}

/// All elements need no shape.
// CHECK-LABEL: func.func @total_of_reshaped(
func.func @total_of_reshaped(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) -> (tensor<f32>, tensor<f32>, tensor<i32>) {
  // CHECK-NEXT: %[[R:.*]] = graph.max %x : (tensor<2x3xf32>) -> tensor<f32>
  // CHECK-NEXT: %[[S:.*]] = graph.sum %x : (tensor<2x3xf32>) -> tensor<f32>
  // CHECK-NEXT: %[[T:.*]] = graph.prod %y : (tensor<2x3xi32>) -> tensor<i32>
  // CHECK-NEXT: func.return %[[R]], %[[S]], %[[T]] : tensor<f32>, tensor<f32>, tensor<i32>
  %a = graph.reshape %x, shape = [6] : (tensor<2x3xf32>) -> tensor<6xf32>
  %r = graph.max %a : (tensor<6xf32>) -> tensor<f32>
  %s = graph.sum %a : (tensor<6xf32>) -> tensor<f32>
  %b = graph.expand_dims %y, axis = [0] : (tensor<2x3xi32>) -> tensor<1x2x3xi32>
  %t = graph.prod %b : (tensor<1x2x3xi32>) -> tensor<i32>
  func.return %r, %s, %t : tensor<f32>, tensor<f32>, tensor<i32>
}

/// The result has a dimension.
// CHECK-LABEL: func.func @no_total_of_reshaped(
func.func @no_total_of_reshaped(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.reshape %x, shape = [3, 2] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.max %[[A]], axis = [0] : (tensor<3x2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2xf32>
  %a = graph.reshape %x, shape = [3, 2] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %r = graph.max %a, axis = [0] : (tensor<3x2xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

/// The largest negative is that of the smallest number.
// CHECK-LABEL: func.func @argmax_of_negatives(
func.func @argmax_of_negatives(%x: tensor<3x2xf32>) -> (tensor<3xi64>, tensor<2xi64>) {
  // CHECK-NEXT: %[[R:.*]] = graph.argmin %x, axis = 1 : (tensor<3x2xf32>) -> tensor<3xi64>
  // CHECK-NEXT: %[[S:.*]] = graph.argmax %x, axis = 0 : (tensor<3x2xf32>) -> tensor<2xi64>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<3xi64>, tensor<2xi64>
  %a = graph.negative %x : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %r = graph.argmax %a, axis = 1 : (tensor<3x2xf32>) -> tensor<3xi64>
  %s = graph.argmin %a, axis = 0 : (tensor<3x2xf32>) -> tensor<2xi64>
  func.return %r, %s : tensor<3xi64>, tensor<2xi64>
}

/// The negative of the smallest integer is itself.
// CHECK-LABEL: func.func @no_argmax_of_negative_integers(
func.func @no_argmax_of_negative_integers(%x: tensor<3x2xi32>) -> tensor<3xi64> {
  // CHECK-NEXT: %[[A:.*]] = graph.negative %x : (tensor<3x2xi32>) -> tensor<3x2xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.argmax %[[A]], axis = 1 : (tensor<3x2xi32>) -> tensor<3xi64>
  // CHECK-NEXT: func.return %[[R]] : tensor<3xi64>
  %a = graph.negative %x : (tensor<3x2xi32>) -> tensor<3x2xi32>
  %r = graph.argmax %a, axis = 1 : (tensor<3x2xi32>) -> tensor<3xi64>
  func.return %r : tensor<3xi64>
}

/// One `not` of the result will do.
// CHECK-LABEL: func.func @any_of_nots(
func.func @any_of_nots(%x: tensor<3x2xi1>, %y: tensor<3x2xi1>) -> (tensor<3xi1>, tensor<3xi1>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.all %x, axis = [1] : (tensor<3x2xi1>) -> tensor<3xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_not %[[V0]] : (tensor<3xi1>) -> tensor<3xi1>
  // CHECK-NEXT: %[[V2:.*]] = graph.any %y, axis = [1] : (tensor<3x2xi1>) -> tensor<3xi1>
  // CHECK-NEXT: %[[S:.*]] = graph.logical_not %[[V2]] : (tensor<3xi1>) -> tensor<3xi1>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<3xi1>, tensor<3xi1>
  %a = graph.logical_not %x : (tensor<3x2xi1>) -> tensor<3x2xi1>
  %r = graph.any %a, axis = [1] : (tensor<3x2xi1>) -> tensor<3xi1>
  %b = graph.logical_not %y : (tensor<3x2xi1>) -> tensor<3x2xi1>
  %s = graph.all %b, axis = [1] : (tensor<3x2xi1>) -> tensor<3xi1>
  func.return %r, %s : tensor<3xi1>, tensor<3xi1>
}

/// `%a` is needed anyway.
// CHECK-LABEL: func.func @no_any_of_shared_nots(
func.func @no_any_of_shared_nots(%x: tensor<3x2xi1>) -> (tensor<3xi1>, tensor<3x2xi1>) {
  // CHECK-NEXT: %[[A:.*]] = graph.logical_not %x : (tensor<3x2xi1>) -> tensor<3x2xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.any %[[A]], axis = [1] : (tensor<3x2xi1>) -> tensor<3xi1>
  // CHECK-NEXT: func.return %[[R]], %[[A]] : tensor<3xi1>, tensor<3x2xi1>
  %a = graph.logical_not %x : (tensor<3x2xi1>) -> tensor<3x2xi1>
  %r = graph.any %a, axis = [1] : (tensor<3x2xi1>) -> tensor<3xi1>
  func.return %r, %a : tensor<3xi1>, tensor<3x2xi1>
}

/// A sum over the number of its elements is a mean.
// CHECK-LABEL: func.func @mean_of_sum(
func.func @mean_of_sum(%x: tensor<3x4xf32>) -> (tensor<3xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[R:.*]] = graph.mean %x, axis = [1] : (tensor<3x4xf32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.mean %x, axis = [0] : (tensor<3x4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<3xf32>, tensor<4xf32>
  %n = graph.full 4.0 : tensor<f32>
  %a = graph.sum %x, axis = [1] : (tensor<3x4xf32>) -> tensor<3xf32>
  %r = graph.divide %a, %n : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %m = graph.full 0.33333333 : tensor<f32>
  %b = graph.sum %x, axis = [0] : (tensor<3x4xf32>) -> tensor<4xf32>
  %s = graph.multiply %b, %m : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r, %s : tensor<3xf32>, tensor<4xf32>
}

/// There are four elements in a row.
// CHECK-LABEL: func.func @no_mean_of_sum(
func.func @no_mean_of_sum(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: %[[N:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.sum %x, axis = [1] : (tensor<3x4xf32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[A]], %[[N]] : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<3xf32>
  %n = graph.full 3.0 : tensor<f32>
  %a = graph.sum %x, axis = [1] : (tensor<3x4xf32>) -> tensor<3xf32>
  %r = graph.divide %a, %n : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

/// A sum of f16 may be infinite where the mean is not.
// CHECK-LABEL: func.func @no_mean_of_small_floats(
func.func @no_mean_of_small_floats(%x: tensor<3x4xf16>) -> tensor<3xf16> {
  // CHECK-NEXT: %[[A:.*]] = graph.sum %x, axis = [1] : (tensor<3x4xf16>) -> tensor<3xf16>
  // CHECK-NEXT: %[[V1:.*]] = graph.full 0.25 : tensor<f16>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[A]], %[[V1]] : (tensor<3xf16>, tensor<f16>) -> tensor<3xf16>
  // CHECK-NEXT: func.return %[[R]] : tensor<3xf16>
  %n = graph.full 4.0 : tensor<f16>
  %a = graph.sum %x, axis = [1] : (tensor<3x4xf16>) -> tensor<3xf16>
  %r = graph.divide %a, %n : (tensor<3xf16>, tensor<f16>) -> tensor<3xf16>
  func.return %r : tensor<3xf16>
}

/// A softmax that is written out.
// CHECK-LABEL: func.func @softmax_of_parts(
func.func @softmax_of_parts(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.softmax %x, axis = 1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<3x4xf32>
  %m = graph.max %x, axis = [1], keepdims = true : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %d = graph.subtract %x, %m : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %e = graph.exp %d : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %s = graph.sum %e, axis = [1], keepdims = true : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %r = graph.divide %e, %s : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  func.return %r : tensor<3x4xf32>
}

/// The sum runs along another axis than the maximum.
// CHECK-LABEL: func.func @no_softmax_of_parts(
func.func @no_softmax_of_parts(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: %[[M:.*]] = graph.max %x, axis = [0], keepdims = true : (tensor<4x4xf32>) -> tensor<1x4xf32>
  // CHECK-NEXT: %[[D:.*]] = graph.subtract %x, %[[M]] : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[E:.*]] = graph.exp %[[D]] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.sum %[[E]], axis = [1], keepdims = true : (tensor<4x4xf32>) -> tensor<4x1xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[E]], %[[S]] : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4x4xf32>
  %m = graph.max %x, axis = [0], keepdims = true : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %d = graph.subtract %x, %m : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %e = graph.exp %d : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = graph.sum %e, axis = [1], keepdims = true : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %r = graph.divide %e, %s : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  func.return %r : tensor<4x4xf32>
}

/// A softmax subtracts the maximum itself.
// CHECK-LABEL: func.func @softmax_of_centred(
func.func @softmax_of_centred(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.softmax %x : (tensor<3x4xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<3x4xf32>
  %m = graph.max %x, axis = [1], keepdims = true : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %d = graph.subtract %x, %m : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %r = graph.softmax %d, axis = -1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %r : tensor<3x4xf32>
}

/// The maximum is another one for each element of the axis.
// CHECK-LABEL: func.func @no_softmax_of_centred(
func.func @no_softmax_of_centred(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK-NEXT: %[[M:.*]] = graph.max %x, axis = [0], keepdims = true : (tensor<3x4xf32>) -> tensor<1x4xf32>
  // CHECK-NEXT: %[[D:.*]] = graph.subtract %x, %[[M]] : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.softmax %[[D]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<3x4xf32>
  %m = graph.max %x, axis = [0], keepdims = true : (tensor<3x4xf32>) -> tensor<1x4xf32>
  %d = graph.subtract %x, %m : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %r = graph.softmax %d, axis = -1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %r : tensor<3x4xf32>
}
