// RUN: stepwell-opt %s -p 'simplify-expr{numerics="strict"}' | filecheck %s

/// not (x != y) is x = y, for NaN too.
// CHECK-LABEL: func.func @not_of_not_equal(
func.func @not_of_not_equal(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %inner = graph.not_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_not %inner : (tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_not_of_not_equal_of_shared_inner(
func.func @no_not_of_not_equal_of_shared_inner(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.not_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_not %[[INNER]] : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xi1>, tensor<4xi1>
  %inner = graph.not_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_not %inner : (tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %inner : tensor<4xi1>, tensor<4xi1>
}

/// not (x < y) is x >= y for integers.
// CHECK-LABEL: func.func @not_of_less_integer(
func.func @not_of_less_integer(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.greater_equal %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %inner = graph.less %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r = graph.logical_not %inner : (tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// Floats are rounded, and may be NaN.
// CHECK-LABEL: func.func @no_not_of_less_integer_of_f32(
func.func @no_not_of_less_integer_of_f32(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[INNER:.*]] = graph.less %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_not %[[INNER]] : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %inner = graph.less %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_not %inner : (tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_not_of_less_integer_of_shared_inner(
func.func @no_not_of_less_integer_of_shared_inner(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.less %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_not %[[INNER]] : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xi1>, tensor<4xi1>
  %inner = graph.less %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r = graph.logical_not %inner : (tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %inner : tensor<4xi1>, tensor<4xi1>
}

/// not (x <= y) is x > y for integers.
// CHECK-LABEL: func.func @not_of_less_equal_integer(
func.func @not_of_less_equal_integer(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.greater %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %inner = graph.less_equal %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r = graph.logical_not %inner : (tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_not_of_less_equal_integer_of_shared_inner(
func.func @no_not_of_less_equal_integer_of_shared_inner(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.less_equal %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_not %[[INNER]] : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xi1>, tensor<4xi1>
  %inner = graph.less_equal %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r = graph.logical_not %inner : (tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %inner : tensor<4xi1>, tensor<4xi1>
}

/// not (x > y) is x <= y for integers.
// CHECK-LABEL: func.func @not_of_greater_integer(
func.func @not_of_greater_integer(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.less_equal %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %inner = graph.greater %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r = graph.logical_not %inner : (tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_not_of_greater_integer_of_shared_inner(
func.func @no_not_of_greater_integer_of_shared_inner(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.greater %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_not %[[INNER]] : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xi1>, tensor<4xi1>
  %inner = graph.greater %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r = graph.logical_not %inner : (tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %inner : tensor<4xi1>, tensor<4xi1>
}

/// not (x >= y) is x < y for integers.
// CHECK-LABEL: func.func @not_of_greater_equal_integer(
func.func @not_of_greater_equal_integer(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.less %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %inner = graph.greater_equal %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r = graph.logical_not %inner : (tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_not_of_greater_equal_integer_of_shared_inner(
func.func @no_not_of_greater_equal_integer_of_shared_inner(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.greater_equal %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_not %[[INNER]] : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xi1>, tensor<4xi1>
  %inner = graph.greater_equal %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r = graph.logical_not %inner : (tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %inner : tensor<4xi1>, tensor<4xi1>
}

/// x = true is x.
// CHECK-LABEL: func.func @equal_to_true(
func.func @equal_to_true(%x: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: func.return %x : tensor<4xi1>
  %0 = graph.full true : tensor<i1>
  %r = graph.equal %x, %0 : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x != false is x.
// CHECK-LABEL: func.func @not_equal_to_false(
func.func @not_equal_to_false(%x: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: func.return %x : tensor<4xi1>
  %0 = graph.full false : tensor<i1>
  %r = graph.not_equal %x, %0 : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x = false is not x.
// CHECK-LABEL: func.func @equal_to_false(
func.func @equal_to_false(%x: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.full false : tensor<i1>
  %r = graph.equal %x, %0 : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_equal_to_false_that_stretches(
func.func @no_equal_to_false_that_stretches(%x: tensor<1xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full false : tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.equal %x, %[[V0]] : (tensor<1xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.full false : tensor<4xi1>
  %r = graph.equal %x, %0 : (tensor<1xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x != true is not x.
// CHECK-LABEL: func.func @not_equal_to_true(
func.func @not_equal_to_true(%x: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.full true : tensor<i1>
  %r = graph.not_equal %x, %0 : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_not_equal_to_true_that_stretches(
func.func @no_not_equal_to_true_that_stretches(%x: tensor<1xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full true : tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.not_equal %x, %[[V0]] : (tensor<1xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.full true : tensor<4xi1>
  %r = graph.not_equal %x, %0 : (tensor<1xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x >= 0 is true for unsigned integers.
// CHECK-LABEL: func.func @unsigned_is_not_negative(
func.func @unsigned_is_not_negative(%x: tensor<4xui8>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.full true : tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.full 0 : tensor<ui8>
  %r = graph.greater_equal %x, %0 : (tensor<4xui8>, tensor<ui8>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// A signed number may be negative.
// CHECK-LABEL: func.func @no_unsigned_is_not_negative_of_f32(
func.func @no_unsigned_is_not_negative_of_f32(%x: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 0.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.greater_equal %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.full 0.0 : tensor<f32>
  %r = graph.greater_equal %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x < 0 is false for unsigned integers.
// CHECK-LABEL: func.func @unsigned_below_zero(
func.func @unsigned_below_zero(%x: tensor<4xui8>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.full false : tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.full 0 : tensor<ui8>
  %r = graph.less %x, %0 : (tensor<4xui8>, tensor<ui8>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x <= 0 is x = 0 for unsigned integers.
// CHECK-LABEL: func.func @unsigned_at_most_zero(
func.func @unsigned_at_most_zero(%x: tensor<4xui8>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[ZERO:.*]] = graph.full 0 : tensor<ui8>
  // CHECK-NEXT: %[[R:.*]] = graph.equal %x, %[[ZERO]] : (tensor<4xui8>, tensor<ui8>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %zero = graph.full 0 : tensor<ui8>
  %r = graph.less_equal %x, %zero : (tensor<4xui8>, tensor<ui8>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x > 0 is x != 0 for unsigned integers.
// CHECK-LABEL: func.func @unsigned_above_zero(
func.func @unsigned_above_zero(%x: tensor<4xui8>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[ZERO:.*]] = graph.full 0 : tensor<ui8>
  // CHECK-NEXT: %[[R:.*]] = graph.not_equal %x, %[[ZERO]] : (tensor<4xui8>, tensor<ui8>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %zero = graph.full 0 : tensor<ui8>
  %r = graph.greater %x, %zero : (tensor<4xui8>, tensor<ui8>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// -x = -y is x = y.
// CHECK-LABEL: func.func @equal_negatives(
func.func @equal_negatives(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.equal %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// -x < -y is x > y for floats.
// CHECK-LABEL: func.func @less_of_negatives(
func.func @less_of_negatives(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.greater %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.less %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// Integers are other numbers.
// CHECK-LABEL: func.func @no_less_of_negatives_of_i32(
func.func @no_less_of_negatives_of_i32(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[V0:.*]] = graph.negative %x : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[V1:.*]] = graph.negative %y : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.less %[[V0]], %[[V1]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.negative %x : (tensor<4xi32>) -> tensor<4xi32>
  %1 = graph.negative %y : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.less %0, %1 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// -x <= -y is x >= y for floats.
// CHECK-LABEL: func.func @less_equal_of_negatives(
func.func @less_equal_of_negatives(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.greater_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.less_equal %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// -x > -y is x < y for floats.
// CHECK-LABEL: func.func @greater_of_negatives(
func.func @greater_of_negatives(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.less %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.greater %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// -x >= -y is x <= y for floats.
// CHECK-LABEL: func.func @greater_equal_of_negatives(
func.func @greater_equal_of_negatives(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.less_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.greater_equal %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x + z = y + z is x = y for integers, which wrap.
// CHECK-LABEL: func.func @equal_after_add(
func.func @equal_after_add(%x: tensor<4xi32>, %z: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.equal %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.add %x, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = graph.add %y, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.equal %0, %1 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_equal_after_add_that_stretches(
func.func @no_equal_after_add_that_stretches(%x: tensor<1xi32>, %z: tensor<4xi32>, %y: tensor<1xi32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[V0:.*]] = graph.add %x, %z : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[V1:.*]] = graph.add %y, %z : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.equal %[[V0]], %[[V1]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.add %x, %z : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = graph.add %y, %z : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.equal %0, %1 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x - y = 0 is x = y for integers.
// CHECK-LABEL: func.func @difference_is_zero(
func.func @difference_is_zero(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.equal %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %inner = graph.subtract %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %0 = graph.full 0 : tensor<i32>
  %r = graph.equal %inner, %0 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_difference_is_zero_of_shared_inner(
func.func @no_difference_is_zero_of_shared_inner(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi32>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.subtract %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[V0:.*]] = graph.full 0 : tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.equal %[[INNER]], %[[V0]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xi1>, tensor<4xi32>
  %inner = graph.subtract %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %0 = graph.full 0 : tensor<i32>
  %r = graph.equal %inner, %0 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi1>
  func.return %r, %inner : tensor<4xi1>, tensor<4xi32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_difference_is_zero_that_stretches(
func.func @no_difference_is_zero_that_stretches(%x: tensor<1xi32>, %y: tensor<1xi32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[INNER:.*]] = graph.subtract %x, %y : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  // CHECK-NEXT: %[[V0:.*]] = graph.full 0 : tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.equal %[[INNER]], %[[V0]] : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %inner = graph.subtract %x, %y : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  %0 = graph.full 0 : tensor<4xi32>
  %r = graph.equal %inner, %0 : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x < y or x = y is x <= y.
// CHECK-LABEL: func.func @less_or_equal(
func.func @less_or_equal(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.less_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %p = graph.less %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %q = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_or %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_less_or_equal_of_shared_p(
func.func @no_less_or_equal_of_shared_p(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[P:.*]] = graph.less %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[Q:.*]] = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_or %[[P]], %[[Q]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xi1>, tensor<4xi1>
  %p = graph.less %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %q = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_or %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %p : tensor<4xi1>, tensor<4xi1>
}
