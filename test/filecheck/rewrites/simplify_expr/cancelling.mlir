// RUN: stepwell-opt %s -p 'simplify-expr{numerics="strict"}' | filecheck %s

/// (x + y) - y = x.
// CHECK-LABEL: func.func @subtract_what_was_added_integer(
func.func @subtract_what_was_added_integer(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: func.return %x : tensor<4xi32>
  %0 = graph.add %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.subtract %0, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// Floats are rounded, and may be NaN.
// CHECK-LABEL: func.func @no_subtract_what_was_added_integer_of_f32(
func.func @no_subtract_what_was_added_integer_of_f32(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[V0]], %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// (x - y) + y = x.
// CHECK-LABEL: func.func @add_what_was_subtracted_integer(
func.func @add_what_was_subtracted_integer(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: func.return %x : tensor<4xi32>
  %0 = graph.subtract %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.add %0, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// x - (x - y) = y.
// CHECK-LABEL: func.func @subtract_a_difference_integer(
func.func @subtract_a_difference_integer(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: func.return %y : tensor<4xi32>
  %0 = graph.subtract %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.subtract %x, %0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// x - (x + y) = -y.
// CHECK-LABEL: func.func @subtract_a_sum_integer(
func.func @subtract_a_sum_integer(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.negative %y : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.add %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.subtract %x, %0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_subtract_a_sum_integer_that_stretches(
func.func @no_subtract_a_sum_integer_that_stretches(%x: tensor<4xi32>, %y: tensor<1xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.add %x, %y : (tensor<4xi32>, tensor<1xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %x, %[[V0]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.add %x, %y : (tensor<4xi32>, tensor<1xi32>) -> tensor<4xi32>
  %r = graph.subtract %x, %0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// (x - y) - x = -y.
// CHECK-LABEL: func.func @subtract_from_difference_integer(
func.func @subtract_from_difference_integer(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.negative %y : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.subtract %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.subtract %0, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// (x + z) - (y + z) = x - y.
// CHECK-LABEL: func.func @difference_of_sums_integer(
func.func @difference_of_sums_integer(%x: tensor<4xi32>, %z: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.add %x, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = graph.add %y, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.subtract %0, %1 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_difference_of_sums_integer_that_stretches(
func.func @no_difference_of_sums_integer_that_stretches(%x: tensor<1xi32>, %z: tensor<4xi32>, %y: tensor<1xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.add %x, %z : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[V1:.*]] = graph.add %y, %z : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[V0]], %[[V1]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.add %x, %z : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = graph.add %y, %z : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.subtract %0, %1 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// (x - z) - (y - z) = x - y.
// CHECK-LABEL: func.func @difference_of_differences_integer(
func.func @difference_of_differences_integer(%x: tensor<4xi32>, %z: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.subtract %x, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = graph.subtract %y, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.subtract %0, %1 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// (z - x) - (z - y) = y - x.
// CHECK-LABEL: func.func @difference_from_differences_integer(
func.func @difference_from_differences_integer(%z: tensor<4xi32>, %x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %y, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.subtract %z, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = graph.subtract %z, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.subtract %0, %1 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// -(x - y) = y - x.
// CHECK-LABEL: func.func @negative_of_difference_integer(
func.func @negative_of_difference_integer(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %y, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %inner = graph.subtract %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.negative %inner : (tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_negative_of_difference_integer_of_shared_inner(
func.func @no_negative_of_difference_integer_of_shared_inner(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.subtract %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.negative %[[INNER]] : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xi32>, tensor<4xi32>
  %inner = graph.subtract %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.negative %inner : (tensor<4xi32>) -> tensor<4xi32>
  func.return %r, %inner : tensor<4xi32>, tensor<4xi32>
}

/// x * z + y * z = (x + y) * z.
// CHECK-LABEL: func.func @common_factor_integer(
func.func @common_factor_integer(%x: tensor<4xi32>, %z: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.add %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[V0]], %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %p = graph.multiply %x, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %q = graph.multiply %y, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.add %p, %q : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// Constants are folded, not moved.
// CHECK-LABEL: func.func @no_common_factor_integer_of_literal_x(
func.func @no_common_factor_integer_of_literal_x(%z: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[X:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %[[X]], %z : (tensor<i32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[Q:.*]] = graph.multiply %y, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[P]], %[[Q]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %x = graph.full 3 : tensor<i32>
  %p = graph.multiply %x, %z : (tensor<i32>, tensor<4xi32>) -> tensor<4xi32>
  %q = graph.multiply %y, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.add %p, %q : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// Constants are folded, not moved.
// CHECK-LABEL: func.func @no_common_factor_integer_of_literal_y(
func.func @no_common_factor_integer_of_literal_y(%x: tensor<4xi32>, %z: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %x, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[Y:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[Q:.*]] = graph.multiply %[[Y]], %z : (tensor<i32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[P]], %[[Q]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %p = graph.multiply %x, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %y = graph.full 3 : tensor<i32>
  %q = graph.multiply %y, %z : (tensor<i32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.add %p, %q : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_common_factor_integer_of_shared_p(
func.func @no_common_factor_integer_of_shared_p(%x: tensor<4xi32>, %z: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %x, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[Q:.*]] = graph.multiply %y, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[P]], %[[Q]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xi32>, tensor<4xi32>
  %p = graph.multiply %x, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %q = graph.multiply %y, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.add %p, %q : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r, %p : tensor<4xi32>, tensor<4xi32>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_common_factor_integer_of_shared_q(
func.func @no_common_factor_integer_of_shared_q(%x: tensor<4xi32>, %z: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %x, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[Q:.*]] = graph.multiply %y, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[P]], %[[Q]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xi32>, tensor<4xi32>
  %p = graph.multiply %x, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %q = graph.multiply %y, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.add %p, %q : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r, %q : tensor<4xi32>, tensor<4xi32>
}

/// x * z - y * z = (x - y) * z.
// CHECK-LABEL: func.func @common_factor_of_difference_integer(
func.func @common_factor_of_difference_integer(%x: tensor<4xi32>, %z: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.subtract %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[V0]], %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %p = graph.multiply %x, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %q = graph.multiply %y, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.subtract %p, %q : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_common_factor_of_difference_integer_of_shared_p(
func.func @no_common_factor_of_difference_integer_of_shared_p(%x: tensor<4xi32>, %z: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %x, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[Q:.*]] = graph.multiply %y, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[P]], %[[Q]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xi32>, tensor<4xi32>
  %p = graph.multiply %x, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %q = graph.multiply %y, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.subtract %p, %q : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r, %p : tensor<4xi32>, tensor<4xi32>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_common_factor_of_difference_integer_of_shared_q(
func.func @no_common_factor_of_difference_integer_of_shared_q(%x: tensor<4xi32>, %z: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %x, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[Q:.*]] = graph.multiply %y, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[P]], %[[Q]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xi32>, tensor<4xi32>
  %p = graph.multiply %x, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %q = graph.multiply %y, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.subtract %p, %q : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r, %q : tensor<4xi32>, tensor<4xi32>
}

/// x * k + x = x * (k + 1).
// CHECK-LABEL: func.func @one_more_factor_integer(
func.func @one_more_factor_integer(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1 : tensor<i32>
  // CHECK-NEXT: %[[V1:.*]] = graph.add %[[K]], %[[V0]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[V1]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %inner = graph.multiply %x, %k : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %r = graph.add %inner, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// Constants are folded, not moved.
// CHECK-LABEL: func.func @no_one_more_factor_integer_of_literal_x(
func.func @no_one_more_factor_integer_of_literal_x() -> tensor<i32> {
  // CHECK-NEXT: %[[X:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[K:.*]] = graph.full 5 : tensor<i32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.multiply %[[X]], %[[K]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[INNER]], %[[X]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: func.return %[[R]] : tensor<i32>
  %x = graph.full 3 : tensor<i32>
  %k = graph.full 5 : tensor<i32>
  %inner = graph.multiply %x, %k : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %r = graph.add %inner, %x : (tensor<i32>, tensor<i32>) -> tensor<i32>
  func.return %r : tensor<i32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_one_more_factor_integer_of_shared_inner(
func.func @no_one_more_factor_integer_of_shared_inner(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.multiply %x, %[[K]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[INNER]], %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xi32>, tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %inner = graph.multiply %x, %k : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %r = graph.add %inner, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r, %inner : tensor<4xi32>, tensor<4xi32>
}

/// x * k - x = x * (k - 1).
// CHECK-LABEL: func.func @one_factor_less_integer(
func.func @one_factor_less_integer(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1 : tensor<i32>
  // CHECK-NEXT: %[[V1:.*]] = graph.subtract %[[K]], %[[V0]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[V1]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %inner = graph.multiply %x, %k : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %r = graph.subtract %inner, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// Constants are folded, not moved.
// CHECK-LABEL: func.func @no_one_factor_less_integer_of_literal_x(
func.func @no_one_factor_less_integer_of_literal_x() -> tensor<i32> {
  // CHECK-NEXT: %[[X:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[K:.*]] = graph.full 5 : tensor<i32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.multiply %[[X]], %[[K]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[INNER]], %[[X]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: func.return %[[R]] : tensor<i32>
  %x = graph.full 3 : tensor<i32>
  %k = graph.full 5 : tensor<i32>
  %inner = graph.multiply %x, %k : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %r = graph.subtract %inner, %x : (tensor<i32>, tensor<i32>) -> tensor<i32>
  func.return %r : tensor<i32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_one_factor_less_integer_of_shared_inner(
func.func @no_one_factor_less_integer_of_shared_inner(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.multiply %x, %[[K]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[INNER]], %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xi32>, tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %inner = graph.multiply %x, %k : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %r = graph.subtract %inner, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r, %inner : tensor<4xi32>, tensor<4xi32>
}

/// -x / -y = x / y for floats.
// CHECK-LABEL: func.func @quotient_of_negatives(
func.func @quotient_of_negatives(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// (x mod y) mod y = x mod y for integers.
// CHECK-LABEL: func.func @mod_of_mod(
func.func @mod_of_mod(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[INNER:.*]] = graph.mod %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[INNER]] : tensor<4xi32>
  %inner = graph.mod %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.mod %inner, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}
