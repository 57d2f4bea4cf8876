// RUN: stepwell-opt %s -p simplify-expr | filecheck %s

/// log(1 + x) = log1p(x).
// CHECK-LABEL: func.func @log_of_one_plus(
func.func @log_of_one_plus(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.log1p %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %inner = graph.add %0, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.log %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_log_of_one_plus_of_shared_inner(
func.func @no_log_of_one_plus_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.add %[[V0]], %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.log %[[INNER]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %inner = graph.add %0, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.log %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_log_of_one_plus_that_stretches(
func.func @no_log_of_one_plus_that_stretches(%x: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.add %[[V0]], %x : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.log %[[INNER]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<4xf32>
  %inner = graph.add %0, %x : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %r = graph.log %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// exp(x) - 1 = expm1(x).
// CHECK-LABEL: func.func @exp_minus_one(
func.func @exp_minus_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.expm1 %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %inner = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %r = graph.subtract %inner, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_exp_minus_one_of_shared_inner(
func.func @no_exp_minus_one_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[INNER]], %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %inner = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %r = graph.subtract %inner, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_exp_minus_one_that_stretches(
func.func @no_exp_minus_one_that_stretches(%x: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[INNER:.*]] = graph.exp %x : (tensor<1xf32>) -> tensor<1xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[INNER]], %[[V0]] : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %inner = graph.exp %x : (tensor<1xf32>) -> tensor<1xf32>
  %0 = graph.full 1.0 : tensor<4xf32>
  %r = graph.subtract %inner, %0 : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// exp(x) + -1 = expm1(x).
// CHECK-LABEL: func.func @exp_plus_minus_one(
func.func @exp_plus_minus_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.expm1 %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %inner = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = graph.full -1.0 : tensor<f32>
  %r = graph.add %inner, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_exp_plus_minus_one_of_shared_inner(
func.func @no_exp_plus_minus_one_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.full -1.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[INNER]], %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %inner = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = graph.full -1.0 : tensor<f32>
  %r = graph.add %inner, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_exp_plus_minus_one_that_stretches(
func.func @no_exp_plus_minus_one_that_stretches(%x: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[INNER:.*]] = graph.exp %x : (tensor<1xf32>) -> tensor<1xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.full -1.0 : tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[INNER]], %[[V0]] : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %inner = graph.exp %x : (tensor<1xf32>) -> tensor<1xf32>
  %0 = graph.full -1.0 : tensor<4xf32>
  %r = graph.add %inner, %0 : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// expm1(x) + 1 = exp(x).
// CHECK-LABEL: func.func @expm1_plus_one(
func.func @expm1_plus_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %inner = graph.expm1 %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %r = graph.add %inner, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_expm1_plus_one_of_shared_inner(
func.func @no_expm1_plus_one_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.expm1 %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[INNER]], %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %inner = graph.expm1 %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %r = graph.add %inner, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// log1p(x - 1) = log(x).
// CHECK-LABEL: func.func @log1p_of_minus_one(
func.func @log1p_of_minus_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %inner = graph.subtract %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.log1p %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_log1p_of_minus_one_of_shared_inner(
func.func @no_log1p_of_minus_one_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.subtract %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.log1p %[[INNER]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %inner = graph.subtract %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.log1p %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_log1p_of_minus_one_that_stretches(
func.func @no_log1p_of_minus_one_that_stretches(%x: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.subtract %x, %[[V0]] : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.log1p %[[INNER]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<4xf32>
  %inner = graph.subtract %x, %0 : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.log1p %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x^2 = x * x.
// CHECK-LABEL: func.func @power_of_two(
func.func @power_of_two(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 2.0 : tensor<f32>
  %r = graph.power %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_power_of_two_that_stretches(
func.func @no_power_of_two_that_stretches(%x: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 2.0 : tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.power %x, %[[V0]] : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 2.0 : tensor<4xf32>
  %r = graph.power %x, %0 : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x^3 = x * x * x.
// CHECK-LABEL: func.func @power_of_three(
func.func @power_of_three(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[V0]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 3.0 : tensor<f32>
  %r = graph.power %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x^4 = (x * x) * (x * x).
// CHECK-LABEL: func.func @power_of_four(
func.func @power_of_four(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.square %[[V0]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 4.0 : tensor<f32>
  %r = graph.power %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x^-1 = 1 / x for floats.
// CHECK-LABEL: func.func @power_of_minus_one(
func.func @power_of_minus_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[V0]], %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full -1.0 : tensor<f32>
  %r = graph.power %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Integers are other numbers.
// CHECK-LABEL: func.func @no_power_of_minus_one_of_i32(
func.func @no_power_of_minus_one_of_i32(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full -1 : tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.power %x, %[[V0]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.full -1 : tensor<i32>
  %r = graph.power %x, %0 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// 2^x = exp2(x).
// CHECK-LABEL: func.func @two_to_a_power(
func.func @two_to_a_power(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.exp2 %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 2.0 : tensor<f32>
  %r = graph.power %0, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// 1 / sqrt(x) = rsqrt(x).
// CHECK-LABEL: func.func @reciprocal_of_sqrt(
func.func @reciprocal_of_sqrt(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.rsqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %inner = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %0, %inner : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_reciprocal_of_sqrt_of_shared_inner(
func.func @no_reciprocal_of_sqrt_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[V0]], %[[INNER]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %inner = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %0, %inner : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// 1 / rsqrt(x) = sqrt(x).
// CHECK-LABEL: func.func @reciprocal_of_rsqrt(
func.func @reciprocal_of_rsqrt(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %inner = graph.rsqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %0, %inner : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_reciprocal_of_rsqrt_of_shared_inner(
func.func @no_reciprocal_of_rsqrt_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.rsqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[V0]], %[[INNER]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %inner = graph.rsqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %0, %inner : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}
