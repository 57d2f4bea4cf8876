// RUN: stepwell-opt %s -p 'simplify-expr{numerics="fast"}' | filecheck %s

/// log(exp(x)) = x.
// CHECK-LABEL: func.func @log_of_exp(
func.func @log_of_exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.log %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// exp(log(x)) = x for x at least 0.
// CHECK-LABEL: func.func @exp_of_log(
func.func @exp_of_log(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// log2(2^x) = x.
// CHECK-LABEL: func.func @log2_of_exp2(
func.func @log2_of_exp2(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.exp2 %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.log2 %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// 2^log2(x) = x for x at least 0.
// CHECK-LABEL: func.func @exp2_of_log2(
func.func @exp2_of_log2(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.log2 %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.exp2 %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// log(1 + (e^x - 1)) = x.
// CHECK-LABEL: func.func @log1p_of_expm1(
func.func @log1p_of_expm1(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.expm1 %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.log1p %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// e^log(1 + x) - 1 = x for x at least -1.
// CHECK-LABEL: func.func @expm1_of_log1p(
func.func @expm1_of_log1p(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.log1p %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.expm1 %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// sqrt(x) * sqrt(x) = x for x at least 0.
// CHECK-LABEL: func.func @square_of_sqrt(
func.func @square_of_sqrt(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.square %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// sqrt(x) * sqrt(x) = x for x at least 0.
// CHECK-LABEL: func.func @product_of_sqrt(
func.func @product_of_sqrt(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %s = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %s, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// sqrt(x * x) = |x|.
// CHECK-LABEL: func.func @sqrt_of_square(
func.func @sqrt_of_square(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.sqrt %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// sqrt(x * x) = |x|.
// CHECK-LABEL: func.func @sqrt_of_product(
func.func @sqrt_of_product(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.sqrt %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// tan(atan(x)) = x.
// CHECK-LABEL: func.func @tan_of_atan(
func.func @tan_of_atan(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.atan %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.tan %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// sin(asin(x)) = x for |x| at most 1.
// CHECK-LABEL: func.func @sin_of_asin(
func.func @sin_of_asin(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.asin %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.sin %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// cos(acos(x)) = x for |x| at most 1.
// CHECK-LABEL: func.func @cos_of_acos(
func.func @cos_of_acos(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.acos %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.cos %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// sinh(asinh(x)) = x.
// CHECK-LABEL: func.func @sinh_of_asinh(
func.func @sinh_of_asinh(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.asinh %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.sinh %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// asinh(sinh(x)) = x.
// CHECK-LABEL: func.func @asinh_of_sinh(
func.func @asinh_of_sinh(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.sinh %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.asinh %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// cosh(acosh(x)) = x for x at least 1.
// CHECK-LABEL: func.func @cosh_of_acosh(
func.func @cosh_of_acosh(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.acosh %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.cosh %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// acosh(cosh(x)) = |x|.
// CHECK-LABEL: func.func @acosh_of_cosh(
func.func @acosh_of_cosh(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.cosh %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.acosh %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// tanh(atanh(x)) = x for |x| at most 1.
// CHECK-LABEL: func.func @tanh_of_atanh(
func.func @tanh_of_atanh(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.atanh %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// exp(x) * exp(y) = exp(x + y).
// CHECK-LABEL: func.func @product_of_exps(
func.func @product_of_exps(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.exp %[[V0]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %p = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_product_of_exps_of_shared_p(
func.func @no_product_of_exps_of_shared_p(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %p : tensor<4xf32>, tensor<4xf32>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_product_of_exps_of_shared_q(
func.func @no_product_of_exps_of_shared_q(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %q : tensor<4xf32>, tensor<4xf32>
}

/// exp(x) / exp(y) = exp(x - y).
// CHECK-LABEL: func.func @quotient_of_exps(
func.func @quotient_of_exps(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.exp %[[V0]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %p = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_quotient_of_exps_of_shared_p(
func.func @no_quotient_of_exps_of_shared_p(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %p : tensor<4xf32>, tensor<4xf32>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_quotient_of_exps_of_shared_q(
func.func @no_quotient_of_exps_of_shared_q(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %q : tensor<4xf32>, tensor<4xf32>
}

/// 1 / exp(x) = exp(-x).
// CHECK-LABEL: func.func @reciprocal_of_exp(
func.func @reciprocal_of_exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.exp %[[V0]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %inner = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %0, %inner : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_reciprocal_of_exp_of_shared_inner(
func.func @no_reciprocal_of_exp_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[V0]], %[[INNER]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %inner = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %0, %inner : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_reciprocal_of_exp_that_stretches(
func.func @no_reciprocal_of_exp_that_stretches(%x: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.exp %x : (tensor<1xf32>) -> tensor<1xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[V0]], %[[INNER]] : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<4xf32>
  %inner = graph.exp %x : (tensor<1xf32>) -> tensor<1xf32>
  %r = graph.divide %0, %inner : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// log(x) + log(y) = log(x * y).
// CHECK-LABEL: func.func @sum_of_logs(
func.func @sum_of_logs(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.log %[[V0]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %p = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.log %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.add %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_sum_of_logs_of_shared_p(
func.func @no_sum_of_logs_of_shared_p(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.log %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.log %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.add %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %p : tensor<4xf32>, tensor<4xf32>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_sum_of_logs_of_shared_q(
func.func @no_sum_of_logs_of_shared_q(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.log %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.log %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.add %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %q : tensor<4xf32>, tensor<4xf32>
}

/// log(x) - log(y) = log(x / y).
// CHECK-LABEL: func.func @difference_of_logs(
func.func @difference_of_logs(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.divide %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.log %[[V0]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %p = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.log %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_difference_of_logs_of_shared_p(
func.func @no_difference_of_logs_of_shared_p(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.log %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.log %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %p : tensor<4xf32>, tensor<4xf32>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_difference_of_logs_of_shared_q(
func.func @no_difference_of_logs_of_shared_q(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.log %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.log %y : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %q : tensor<4xf32>, tensor<4xf32>
}

/// log(sqrt(x)) = log(x) * 0.5.
// CHECK-LABEL: func.func @log_of_sqrt(
func.func @log_of_sqrt(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[V0]], %[[V1]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %inner = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.log %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_log_of_sqrt_of_shared_inner(
func.func @no_log_of_sqrt_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.log %[[INNER]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %inner = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.log %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}
