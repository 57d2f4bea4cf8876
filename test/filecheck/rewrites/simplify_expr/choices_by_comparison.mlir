// RUN: stepwell-opt %s -p 'simplify-expr{numerics="strict"}' | filecheck %s

/// where(c, x, where(c, y, z)) = where(c, x, z).
// CHECK-LABEL: func.func @where_within_else(
func.func @where_within_else(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.where %c, %x, %z : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.where %c, %y, %z : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.where %c, %x, %0 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// where(c, where(c, x, y), z) = where(c, x, z).
// CHECK-LABEL: func.func @where_within_then(
func.func @where_within_then(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.where %c, %x, %z : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.where %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.where %c, %0, %z : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// where(c, false, true) = not c.
// CHECK-LABEL: func.func @where_of_false_and_true(
func.func @where_of_false_and_true(%c: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.logical_not %c : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.full false : tensor<i1>
  %1 = graph.full true : tensor<i1>
  %r = graph.where %c, %0, %1 : (tensor<4xi1>, tensor<i1>, tensor<i1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_where_of_false_and_true_that_stretches(
func.func @no_where_of_false_and_true_that_stretches(%c: tensor<1xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full false : tensor<4xi1>
  // CHECK-NEXT: %[[V1:.*]] = graph.full true : tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.where %c, %[[V0]], %[[V1]] : (tensor<1xi1>, tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.full false : tensor<4xi1>
  %1 = graph.full true : tensor<4xi1>
  %r = graph.where %c, %0, %1 : (tensor<1xi1>, tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// where(c, x, false) = c and x.
// CHECK-LABEL: func.func @where_else_false(
func.func @where_else_false(%c: tensor<4xi1>, %x: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.logical_and %c, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.full false : tensor<i1>
  %r = graph.where %c, %x, %0 : (tensor<4xi1>, tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// A number is not a boolean.
// CHECK-LABEL: func.func @no_where_else_false_of_f32(
func.func @no_where_else_false_of_f32(%c: tensor<4xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 0.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.where %c, %x, %[[V0]] : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 0.0 : tensor<f32>
  %r = graph.where %c, %x, %0 : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_where_else_false_that_stretches(
func.func @no_where_else_false_that_stretches(%c: tensor<1xi1>, %x: tensor<1xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full false : tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.where %c, %x, %[[V0]] : (tensor<1xi1>, tensor<1xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.full false : tensor<4xi1>
  %r = graph.where %c, %x, %0 : (tensor<1xi1>, tensor<1xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// where(c, true, x) = c or x.
// CHECK-LABEL: func.func @where_then_true(
func.func @where_then_true(%c: tensor<4xi1>, %x: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.logical_or %c, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.full true : tensor<i1>
  %r = graph.where %c, %0, %x : (tensor<4xi1>, tensor<i1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// where(x = y, x, y) = y for integers.
// CHECK-LABEL: func.func @where_equal(
func.func @where_equal(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: func.return %y : tensor<4xi32>
  %0 = graph.equal %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r = graph.where %0, %x, %y : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// Floats are rounded, and may be NaN.
// CHECK-LABEL: func.func @no_where_equal_of_f32(
func.func @no_where_equal_of_f32(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.where %[[V0]], %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.where %0, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// where(x != y, x, y) = x for integers.
// CHECK-LABEL: func.func @where_not_equal(
func.func @where_not_equal(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: func.return %x : tensor<4xi32>
  %0 = graph.not_equal %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r = graph.where %0, %x, %y : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// where(x < y, x, y) = min(x, y) for integers.
// CHECK-LABEL: func.func @where_less_integer(
func.func @where_less_integer(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.minimum %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.less %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r = graph.where %0, %x, %y : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// A boolean is not a number.
// CHECK-LABEL: func.func @no_where_less_integer_of_i1(
func.func @no_where_less_integer_of_i1(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[V0:.*]] = graph.less %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.where %[[V0]], %x, %y : (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.less %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r = graph.where %0, %x, %y : (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// where(x > y, x, y) = max(x, y) for integers.
// CHECK-LABEL: func.func @where_greater_integer(
func.func @where_greater_integer(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.maximum %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.greater %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r = graph.where %0, %x, %y : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// where(x < y, y, x) = max(x, y) for integers.
// CHECK-LABEL: func.func @where_less_other_integer(
func.func @where_less_other_integer(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.maximum %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.less %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r = graph.where %0, %y, %x : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// where(x > y, y, x) = min(x, y) for integers.
// CHECK-LABEL: func.func @where_greater_other_integer(
func.func @where_greater_other_integer(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.minimum %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.greater %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r = graph.where %0, %y, %x : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// max(x, -x) = |x|.
// CHECK-LABEL: func.func @larger_of_opposites(
func.func @larger_of_opposites(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.abs %x : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.negative %x : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.maximum %x, %0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// Unsigned integers and booleans have no sign.
// CHECK-LABEL: func.func @no_larger_of_opposites_of_ui8(
func.func @no_larger_of_opposites_of_ui8(%x: tensor<4xui8>) -> tensor<4xui8> {
  // CHECK-NEXT: %[[V0:.*]] = graph.negative %x : (tensor<4xui8>) -> tensor<4xui8>
  // CHECK-NEXT: %[[R:.*]] = graph.maximum %x, %[[V0]] : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xui8>
  %0 = graph.negative %x : (tensor<4xui8>) -> tensor<4xui8>
  %r = graph.maximum %x, %0 : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  func.return %r : tensor<4xui8>
}

/// max(-x, -y) = -min(x, y) for floats.
// CHECK-LABEL: func.func @max_of_negatives(
func.func @max_of_negatives(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.minimum %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.negative %[[V0]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %p = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.maximum %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Integers are other numbers.
// CHECK-LABEL: func.func @no_max_of_negatives_of_i32(
func.func @no_max_of_negatives_of_i32(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[P:.*]] = graph.negative %x : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[Q:.*]] = graph.negative %y : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.maximum %[[P]], %[[Q]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %p = graph.negative %x : (tensor<4xi32>) -> tensor<4xi32>
  %q = graph.negative %y : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.maximum %p, %q : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_max_of_negatives_of_shared_p(
func.func @no_max_of_negatives_of_shared_p(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.maximum %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.maximum %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %p : tensor<4xf32>, tensor<4xf32>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_max_of_negatives_of_shared_q(
func.func @no_max_of_negatives_of_shared_q(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.maximum %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.maximum %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %q : tensor<4xf32>, tensor<4xf32>
}

/// min(-x, -y) = -max(x, y) for floats.
// CHECK-LABEL: func.func @min_of_negatives(
func.func @min_of_negatives(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.maximum %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.negative %[[V0]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %p = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.minimum %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_min_of_negatives_of_shared_p(
func.func @no_min_of_negatives_of_shared_p(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.minimum %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.minimum %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %p : tensor<4xf32>, tensor<4xf32>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_min_of_negatives_of_shared_q(
func.func @no_min_of_negatives_of_shared_q(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.minimum %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.minimum %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %q : tensor<4xf32>, tensor<4xf32>
}

/// max(x, min(x, y)) = x for integers.
// CHECK-LABEL: func.func @max_within_min(
func.func @max_within_min(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: func.return %x : tensor<4xi32>
  %0 = graph.minimum %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.maximum %x, %0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// min(x, max(x, y)) = x for integers.
// CHECK-LABEL: func.func @min_within_max(
func.func @min_within_max(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: func.return %x : tensor<4xi32>
  %0 = graph.maximum %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.minimum %x, %0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// max(x, 0) = relu(x).
// CHECK-LABEL: func.func @maximum_with_zero(
func.func @maximum_with_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 0.0 : tensor<f32>
  %r = graph.maximum %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_maximum_with_zero_that_stretches(
func.func @no_maximum_with_zero_that_stretches(%x: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 0.0 : tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.maximum %x, %[[V0]] : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 0.0 : tensor<4xf32>
  %r = graph.maximum %x, %0 : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
