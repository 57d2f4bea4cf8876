// RUN: stepwell-opt %s -p 'simplify-expr{numerics="fast"}' | filecheck %s

/// log(x * exp(y)) = log(x) + y.
// CHECK-LABEL: func.func @log_of_product_with_exp(
func.func @log_of_product_with_exp(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[V0]], %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %e = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %inner = graph.multiply %x, %e : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.log %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_log_of_product_with_exp_of_shared_inner(
func.func @no_log_of_product_with_exp_of_shared_inner(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[E:.*]] = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.multiply %x, %[[E]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.log %[[INNER]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %e = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %inner = graph.multiply %x, %e : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.log %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// `%e` is needed anyway.
// CHECK-LABEL: func.func @no_log_of_product_with_exp_of_shared_e(
func.func @no_log_of_product_with_exp_of_shared_e(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[E:.*]] = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.multiply %x, %[[E]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.log %[[INNER]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[E]] : tensor<4xf32>, tensor<4xf32>
  %e = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %inner = graph.multiply %x, %e : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.log %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %e : tensor<4xf32>, tensor<4xf32>
}

/// x^-2 = 1 / (x * x), except where x * x overflows.
// CHECK-LABEL: func.func @power_of_minus_two(
func.func @power_of_minus_two(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[V1:.*]] = graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[V0]], %[[V1]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full -2.0 : tensor<f32>
  %r = graph.power %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x^0.5 = sqrt(x), except for -0 and -inf.
// CHECK-LABEL: func.func @power_of_half(
func.func @power_of_half(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 0.5 : tensor<f32>
  %r = graph.power %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x^-0.5 = 1 / sqrt(x), except for -0 and -inf.
// CHECK-LABEL: func.func @power_of_minus_half(
func.func @power_of_minus_half(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.rsqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full -0.5 : tensor<f32>
  %r = graph.power %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x^1.5 = x * sqrt(x).
// CHECK-LABEL: func.func @power_of_three_halves(
func.func @power_of_three_halves(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[V0]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.5 : tensor<f32>
  %r = graph.power %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// exp(x)^y = exp(x * y).
// CHECK-LABEL: func.func @power_of_exp(
func.func @power_of_exp(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.exp %[[V0]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %inner = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.power %inner, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_power_of_exp_of_shared_inner(
func.func @no_power_of_exp_of_shared_inner(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.power %[[INNER]], %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %inner = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.power %inner, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// x^k * x^l = x^(k + l).
// CHECK-LABEL: func.func @product_of_powers(
func.func @product_of_powers(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 3.5 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.add %[[K]], %[[L]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.power %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 2.5 : tensor<f32>
  %p = graph.power %x, %k : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %l = graph.full 3.5 : tensor<f32>
  %q = graph.power %x, %l : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.multiply %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Constants are folded, not moved.
// CHECK-LABEL: func.func @no_product_of_powers_of_literal_x(
func.func @no_product_of_powers_of_literal_x() -> tensor<f32> {
  // CHECK-NEXT: %[[X:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.5 : tensor<f32>
  // CHECK-NEXT: %[[P:.*]] = graph.power %[[X]], %[[K]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5.5 : tensor<f32>
  // CHECK-NEXT: %[[Q:.*]] = graph.power %[[X]], %[[L]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[P]], %[[Q]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: func.return %[[R]] : tensor<f32>
  %x = graph.full 2.5 : tensor<f32>
  %k = graph.full 3.5 : tensor<f32>
  %p = graph.power %x, %k : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %l = graph.full 5.5 : tensor<f32>
  %q = graph.power %x, %l : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = graph.multiply %p, %q : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_product_of_powers_of_shared_p(
func.func @no_product_of_powers_of_shared_p(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[P:.*]] = graph.power %x, %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 3.5 : tensor<f32>
  // CHECK-NEXT: %[[Q:.*]] = graph.power %x, %[[L]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xf32>, tensor<4xf32>
  %k = graph.full 2.5 : tensor<f32>
  %p = graph.power %x, %k : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %l = graph.full 3.5 : tensor<f32>
  %q = graph.power %x, %l : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.multiply %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %p : tensor<4xf32>, tensor<4xf32>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_product_of_powers_of_shared_q(
func.func @no_product_of_powers_of_shared_q(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[P:.*]] = graph.power %x, %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 3.5 : tensor<f32>
  // CHECK-NEXT: %[[Q:.*]] = graph.power %x, %[[L]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xf32>, tensor<4xf32>
  %k = graph.full 2.5 : tensor<f32>
  %p = graph.power %x, %k : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %l = graph.full 3.5 : tensor<f32>
  %q = graph.power %x, %l : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.multiply %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %q : tensor<4xf32>, tensor<4xf32>
}

/// sqrt(1 / x) = rsqrt(x), except for -0 and denormals.
// CHECK-LABEL: func.func @sqrt_of_reciprocal(
func.func @sqrt_of_reciprocal(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.rsqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %inner = graph.divide %0, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.sqrt %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_sqrt_of_reciprocal_of_shared_inner(
func.func @no_sqrt_of_reciprocal_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.divide %[[V0]], %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.sqrt %[[INNER]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %inner = graph.divide %0, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.sqrt %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_sqrt_of_reciprocal_that_stretches(
func.func @no_sqrt_of_reciprocal_that_stretches(%x: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.divide %[[V0]], %x : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.sqrt %[[INNER]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<4xf32>
  %inner = graph.divide %0, %x : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %r = graph.sqrt %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x * rsqrt(x) = sqrt(x), except for 0 and inf.
// CHECK-LABEL: func.func @times_rsqrt(
func.func @times_rsqrt(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.rsqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x / sqrt(x) = sqrt(x), except for 0 and inf.
// CHECK-LABEL: func.func @divide_by_own_sqrt(
func.func @divide_by_own_sqrt(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %s = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %x, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x / rsqrt(y) = x * sqrt(y).
// CHECK-LABEL: func.func @divide_by_rsqrt(
func.func @divide_by_rsqrt(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.sqrt %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[V0]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %inner = graph.rsqrt %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %x, %inner : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_divide_by_rsqrt_of_shared_inner(
func.func @no_divide_by_rsqrt_of_shared_inner(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.rsqrt %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %[[INNER]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %inner = graph.rsqrt %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %x, %inner : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// sqrt(x) * sqrt(y) = sqrt(x * y).
// CHECK-LABEL: func.func @product_of_sqrts(
func.func @product_of_sqrts(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.sqrt %[[V0]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %p = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.sqrt %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_product_of_sqrts_of_shared_p(
func.func @no_product_of_sqrts_of_shared_p(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.sqrt %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.sqrt %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %p : tensor<4xf32>, tensor<4xf32>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_product_of_sqrts_of_shared_q(
func.func @no_product_of_sqrts_of_shared_q(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.sqrt %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.sqrt %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %q : tensor<4xf32>, tensor<4xf32>
}
