// RUN: stepwell-opt %s -p 'simplify-expr{numerics="fast"}' | filecheck %s

/// (x + y) - y = x.
// CHECK-LABEL: func.func @subtract_what_was_added(
func.func @subtract_what_was_added(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// (x - y) + y = x.
// CHECK-LABEL: func.func @add_what_was_subtracted(
func.func @add_what_was_subtracted(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.add %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x - (x - y) = y.
// CHECK-LABEL: func.func @subtract_a_difference(
func.func @subtract_a_difference(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %y : tensor<4xf32>
  %0 = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x - (x + y) = -y.
// CHECK-LABEL: func.func @subtract_a_sum(
func.func @subtract_a_sum(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// (x - y) - x = -y.
// CHECK-LABEL: func.func @subtract_from_difference(
func.func @subtract_from_difference(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.negative %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// (x + z) - (y + z) = x - y.
// CHECK-LABEL: func.func @difference_of_sums(
func.func @difference_of_sums(%x: tensor<4xf32>, %z: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.add %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.add %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// (x - z) - (y - z) = x - y.
// CHECK-LABEL: func.func @difference_of_differences(
func.func @difference_of_differences(%x: tensor<4xf32>, %z: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.subtract %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.subtract %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// -(x - y) = y - x, except for the sign of zero.
// CHECK-LABEL: func.func @negative_of_difference(
func.func @negative_of_difference(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %y, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %inner = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.negative %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_negative_of_difference_of_shared_inner(
func.func @no_negative_of_difference_of_shared_inner(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.negative %[[INNER]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %inner = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.negative %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// x * z + y * z = (x + y) * z.
// CHECK-LABEL: func.func @common_factor(
func.func @common_factor(%x: tensor<4xf32>, %z: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[V0]], %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %p = graph.multiply %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = graph.multiply %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.add %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Constants are folded, not moved.
// CHECK-LABEL: func.func @no_common_factor_of_literal_x(
func.func @no_common_factor_of_literal_x(%z: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[X:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %[[X]], %z : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.multiply %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %x = graph.full 2.5 : tensor<f32>
  %p = graph.multiply %x, %z : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %q = graph.multiply %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.add %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Constants are folded, not moved.
// CHECK-LABEL: func.func @no_common_factor_of_literal_y(
func.func @no_common_factor_of_literal_y(%x: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[Q:.*]] = graph.multiply %[[Y]], %z : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %p = graph.multiply %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.full 2.5 : tensor<f32>
  %q = graph.multiply %y, %z : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.add %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_common_factor_of_shared_p(
func.func @no_common_factor_of_shared_p(%x: tensor<4xf32>, %z: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.multiply %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.multiply %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = graph.multiply %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.add %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %p : tensor<4xf32>, tensor<4xf32>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_common_factor_of_shared_q(
func.func @no_common_factor_of_shared_q(%x: tensor<4xf32>, %z: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.multiply %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.multiply %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = graph.multiply %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.add %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %q : tensor<4xf32>, tensor<4xf32>
}

/// x * z - y * z = (x - y) * z.
// CHECK-LABEL: func.func @common_factor_of_difference(
func.func @common_factor_of_difference(%x: tensor<4xf32>, %z: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[V0]], %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %p = graph.multiply %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = graph.multiply %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_common_factor_of_difference_of_shared_p(
func.func @no_common_factor_of_difference_of_shared_p(%x: tensor<4xf32>, %z: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.multiply %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.multiply %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = graph.multiply %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %p : tensor<4xf32>, tensor<4xf32>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_common_factor_of_difference_of_shared_q(
func.func @no_common_factor_of_difference_of_shared_q(%x: tensor<4xf32>, %z: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.multiply %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.multiply %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = graph.multiply %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %q : tensor<4xf32>, tensor<4xf32>
}

/// x / z + y / z = (x + y) / z.
// CHECK-LABEL: func.func @common_divisor(
func.func @common_divisor(%x: tensor<4xf32>, %z: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[V0]], %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %p = graph.divide %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = graph.divide %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.add %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Integers are other numbers.
// CHECK-LABEL: func.func @no_common_divisor_of_i32(
func.func @no_common_divisor_of_i32(%x: tensor<4xi32>, %z: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[P:.*]] = graph.divide %x, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[Q:.*]] = graph.divide %y, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[P]], %[[Q]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %p = graph.divide %x, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %q = graph.divide %y, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.add %p, %q : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_common_divisor_of_shared_p(
func.func @no_common_divisor_of_shared_p(%x: tensor<4xf32>, %z: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.divide %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.divide %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.divide %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = graph.divide %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.add %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %p : tensor<4xf32>, tensor<4xf32>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_common_divisor_of_shared_q(
func.func @no_common_divisor_of_shared_q(%x: tensor<4xf32>, %z: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.divide %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.divide %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.divide %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = graph.divide %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.add %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %q : tensor<4xf32>, tensor<4xf32>
}

/// x / z - y / z = (x - y) / z.
// CHECK-LABEL: func.func @common_divisor_of_difference(
func.func @common_divisor_of_difference(%x: tensor<4xf32>, %z: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[V0]], %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %p = graph.divide %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = graph.divide %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_common_divisor_of_difference_of_shared_p(
func.func @no_common_divisor_of_difference_of_shared_p(%x: tensor<4xf32>, %z: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.divide %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.divide %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.divide %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = graph.divide %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %p : tensor<4xf32>, tensor<4xf32>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_common_divisor_of_difference_of_shared_q(
func.func @no_common_divisor_of_difference_of_shared_q(%x: tensor<4xf32>, %z: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.divide %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.divide %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.divide %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = graph.divide %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %q : tensor<4xf32>, tensor<4xf32>
}

/// x / x = 1, except for 0, inf and NaN.
// CHECK-LABEL: func.func @divide_by_itself(
func.func @divide_by_itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.full 1.0 : tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %r = graph.divide %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// (x * y) / y = x.
// CHECK-LABEL: func.func @divide_a_product(
func.func @divide_a_product(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Constants are folded, not moved.
// CHECK-LABEL: func.func @no_divide_a_product_of_literal_y(
func.func @no_divide_a_product_of_literal_y(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %y = graph.full 2.5 : tensor<f32>
  %0 = graph.multiply %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.divide %0, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// (x / y) * y = x.
// CHECK-LABEL: func.func @multiply_a_quotient(
func.func @multiply_a_quotient(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.divide %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Constants are folded, not moved.
// CHECK-LABEL: func.func @no_multiply_a_quotient_of_literal_y(
func.func @no_multiply_a_quotient_of_literal_y(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %y = graph.full 2.5 : tensor<f32>
  %0 = graph.divide %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.multiply %0, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x / (x * y) = 1 / y.
// CHECK-LABEL: func.func @divide_by_product(
func.func @divide_by_product(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[V0]], %y : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_divide_by_product_that_stretches(
func.func @no_divide_by_product_that_stretches(%x: tensor<4xf32>, %y: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.multiply %x, %y : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %[[V0]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.multiply %x, %y : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %r = graph.divide %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// (x / y) / z = x / (y * z).
// CHECK-LABEL: func.func @divide_twice(
func.func @divide_twice(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.multiply %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %[[V0]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %inner = graph.divide %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %inner, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Constants are folded, not moved.
// CHECK-LABEL: func.func @no_divide_twice_of_literal_x(
func.func @no_divide_twice_of_literal_x(%y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[X:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.divide %[[X]], %y : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[INNER]], %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %x = graph.full 2.5 : tensor<f32>
  %inner = graph.divide %x, %y : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %inner, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
