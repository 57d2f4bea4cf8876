// RUN: stepwell-opt %s -p 'simplify-expr{numerics="strict"}' | filecheck %s

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_less_or_equal_of_shared_q(
func.func @no_less_or_equal_of_shared_q(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[P:.*]] = graph.less %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[Q:.*]] = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_or %[[P]], %[[Q]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xi1>, tensor<4xi1>
  %p = graph.less %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %q = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_or %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %q : tensor<4xi1>, tensor<4xi1>
}

/// x > y or x = y is x >= y.
// CHECK-LABEL: func.func @greater_or_equal(
func.func @greater_or_equal(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.greater_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %p = graph.greater %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %q = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_or %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_greater_or_equal_of_shared_p(
func.func @no_greater_or_equal_of_shared_p(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[P:.*]] = graph.greater %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[Q:.*]] = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_or %[[P]], %[[Q]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xi1>, tensor<4xi1>
  %p = graph.greater %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %q = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_or %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %p : tensor<4xi1>, tensor<4xi1>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_greater_or_equal_of_shared_q(
func.func @no_greater_or_equal_of_shared_q(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[P:.*]] = graph.greater %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[Q:.*]] = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_or %[[P]], %[[Q]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xi1>, tensor<4xi1>
  %p = graph.greater %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %q = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_or %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %q : tensor<4xi1>, tensor<4xi1>
}

/// x <= y and x != y is x < y.
// CHECK-LABEL: func.func @less_equal_and_not_equal(
func.func @less_equal_and_not_equal(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.less %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %p = graph.less_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %q = graph.not_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_and %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_less_equal_and_not_equal_of_shared_p(
func.func @no_less_equal_and_not_equal_of_shared_p(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[P:.*]] = graph.less_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[Q:.*]] = graph.not_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_and %[[P]], %[[Q]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xi1>, tensor<4xi1>
  %p = graph.less_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %q = graph.not_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_and %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %p : tensor<4xi1>, tensor<4xi1>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_less_equal_and_not_equal_of_shared_q(
func.func @no_less_equal_and_not_equal_of_shared_q(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[P:.*]] = graph.less_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[Q:.*]] = graph.not_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_and %[[P]], %[[Q]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xi1>, tensor<4xi1>
  %p = graph.less_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %q = graph.not_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_and %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %q : tensor<4xi1>, tensor<4xi1>
}

/// x >= y and x != y is x > y.
// CHECK-LABEL: func.func @greater_equal_and_not_equal(
func.func @greater_equal_and_not_equal(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.greater %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %p = graph.greater_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %q = graph.not_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_and %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_greater_equal_and_not_equal_of_shared_p(
func.func @no_greater_equal_and_not_equal_of_shared_p(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[P:.*]] = graph.greater_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[Q:.*]] = graph.not_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_and %[[P]], %[[Q]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xi1>, tensor<4xi1>
  %p = graph.greater_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %q = graph.not_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_and %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %p : tensor<4xi1>, tensor<4xi1>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_greater_equal_and_not_equal_of_shared_q(
func.func @no_greater_equal_and_not_equal_of_shared_q(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[P:.*]] = graph.greater_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[Q:.*]] = graph.not_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_and %[[P]], %[[Q]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xi1>, tensor<4xi1>
  %p = graph.greater_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %q = graph.not_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_and %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %q : tensor<4xi1>, tensor<4xi1>
}

/// x <= y and x >= y is x = y.
// CHECK-LABEL: func.func @equal_both_ways(
func.func @equal_both_ways(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %p = graph.less_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %q = graph.greater_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_and %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_equal_both_ways_of_shared_p(
func.func @no_equal_both_ways_of_shared_p(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[P:.*]] = graph.less_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[Q:.*]] = graph.greater_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_and %[[P]], %[[Q]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xi1>, tensor<4xi1>
  %p = graph.less_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %q = graph.greater_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_and %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %p : tensor<4xi1>, tensor<4xi1>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_equal_both_ways_of_shared_q(
func.func @no_equal_both_ways_of_shared_q(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[P:.*]] = graph.less_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[Q:.*]] = graph.greater_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_and %[[P]], %[[Q]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xi1>, tensor<4xi1>
  %p = graph.less_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %q = graph.greater_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_and %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %q : tensor<4xi1>, tensor<4xi1>
}

/// x < y excludes x > y and x = y.
// CHECK-LABEL: func.func @less_and_greater(
func.func @less_and_greater(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.full false : tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.less %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = graph.greater %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_and %0, %1 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x > y and x = y is false.
// CHECK-LABEL: func.func @greater_and_equal(
func.func @greater_and_equal(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.full false : tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.greater %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = graph.logical_and %0, %1 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x != x is isnan(x) for floats.
// CHECK-LABEL: func.func @not_equal_to_itself(
func.func @not_equal_to_itself(%x: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.isnan %x : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %r = graph.not_equal %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// not (isnan(x) or isinf(x)) is isfinite(x).
// CHECK-LABEL: func.func @neither_nan_nor_infinite(
func.func @neither_nan_nor_infinite(%x: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.isfinite %x : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.isnan %x : (tensor<4xf32>) -> tensor<4xi1>
  %1 = graph.isinf %x : (tensor<4xf32>) -> tensor<4xi1>
  %inner = graph.logical_or %0, %1 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_not %inner : (tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_neither_nan_nor_infinite_of_shared_inner(
func.func @no_neither_nan_nor_infinite_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.isnan %x : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[V1:.*]] = graph.isinf %x : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[INNER:.*]] = graph.logical_or %[[V0]], %[[V1]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_not %[[INNER]] : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xi1>, tensor<4xi1>
  %0 = graph.isnan %x : (tensor<4xf32>) -> tensor<4xi1>
  %1 = graph.isinf %x : (tensor<4xf32>) -> tensor<4xi1>
  %inner = graph.logical_or %0, %1 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_not %inner : (tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %inner : tensor<4xi1>, tensor<4xi1>
}

/// A boolean as a number is other than 0 when it is true.
// CHECK-LABEL: func.func @converted_boolean_to_boolean(
func.func @converted_boolean_to_boolean(%x: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: func.return %x : tensor<4xi1>
  %0 = graph.astype %x, dtype = f32 : (tensor<4xi1>) -> tensor<4xf32>
  %1 = graph.full 0.0 : tensor<f32>
  %r = graph.not_equal %0, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}
