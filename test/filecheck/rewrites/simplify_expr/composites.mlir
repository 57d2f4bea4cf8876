// RUN: stepwell-opt %s -p simplify-expr | filecheck %s

/// 1 / (1 + exp(-x)) = sigmoid(x).
// CHECK-LABEL: func.func @sigmoid_of_parts(
func.func @sigmoid_of_parts(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %1 = graph.full 1.0 : tensor<f32>
  %2 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %e = graph.exp %2 : (tensor<4xf32>) -> tensor<4xf32>
  %inner = graph.add %1, %e : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %0, %inner : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_sigmoid_of_parts_of_shared_inner(
func.func @no_sigmoid_of_parts_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[V1:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[V2:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[E:.*]] = graph.exp %[[V2]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.add %[[V1]], %[[E]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[V0]], %[[INNER]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %1 = graph.full 1.0 : tensor<f32>
  %2 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %e = graph.exp %2 : (tensor<4xf32>) -> tensor<4xf32>
  %inner = graph.add %1, %e : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %0, %inner : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// `%e` is needed anyway.
// CHECK-LABEL: func.func @no_sigmoid_of_parts_of_shared_e(
func.func @no_sigmoid_of_parts_of_shared_e(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[V1:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[V2:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[E:.*]] = graph.exp %[[V2]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.add %[[V1]], %[[E]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[V0]], %[[INNER]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[E]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %1 = graph.full 1.0 : tensor<f32>
  %2 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %e = graph.exp %2 : (tensor<4xf32>) -> tensor<4xf32>
  %inner = graph.add %1, %e : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %0, %inner : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %e : tensor<4xf32>, tensor<4xf32>
}

/// x / (1 + exp(-x)) = silu(x).
// CHECK-LABEL: func.func @silu_of_parts(
func.func @silu_of_parts(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.silu %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %1 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %e = graph.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  %inner = graph.add %0, %e : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %x, %inner : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_silu_of_parts_of_shared_inner(
func.func @no_silu_of_parts_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[V1:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[E:.*]] = graph.exp %[[V1]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.add %[[V0]], %[[E]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %[[INNER]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %1 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %e = graph.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  %inner = graph.add %0, %e : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %x, %inner : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// `%e` is needed anyway.
// CHECK-LABEL: func.func @no_silu_of_parts_of_shared_e(
func.func @no_silu_of_parts_of_shared_e(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[V1:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[E:.*]] = graph.exp %[[V1]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.add %[[V0]], %[[E]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %[[INNER]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[E]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %1 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %e = graph.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  %inner = graph.add %0, %e : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %x, %inner : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %e : tensor<4xf32>, tensor<4xf32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_silu_of_parts_that_stretches(
func.func @no_silu_of_parts_that_stretches(%x: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<4xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.negative %x : (tensor<1xf32>) -> tensor<1xf32>
  // CHECK-NEXT: %[[E:.*]] = graph.exp %[[V1]] : (tensor<1xf32>) -> tensor<1xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.add %[[V0]], %[[E]] : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %[[INNER]] : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<4xf32>
  %1 = graph.negative %x : (tensor<1xf32>) -> tensor<1xf32>
  %e = graph.exp %1 : (tensor<1xf32>) -> tensor<1xf32>
  %inner = graph.add %0, %e : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %r = graph.divide %x, %inner : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x * sigmoid(x) = silu(x).
// CHECK-LABEL: func.func @silu_of_sigmoid(
func.func @silu_of_sigmoid(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.silu %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %inner = graph.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %x, %inner : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_silu_of_sigmoid_of_shared_inner(
func.func @no_silu_of_sigmoid_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[INNER]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %inner = graph.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %x, %inner : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// 1 - sigmoid(x) = sigmoid(-x).
// CHECK-LABEL: func.func @one_minus_sigmoid(
func.func @one_minus_sigmoid(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.sigmoid %[[V0]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %inner = graph.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %0, %inner : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_one_minus_sigmoid_of_shared_inner(
func.func @no_one_minus_sigmoid_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[V0]], %[[INNER]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %inner = graph.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.subtract %0, %inner : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_one_minus_sigmoid_that_stretches(
func.func @no_one_minus_sigmoid_that_stretches(%x: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.sigmoid %x : (tensor<1xf32>) -> tensor<1xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[V0]], %[[INNER]] : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<4xf32>
  %inner = graph.sigmoid %x : (tensor<1xf32>) -> tensor<1xf32>
  %r = graph.subtract %0, %inner : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// (tanh(x / 2) + 1) / 2 = sigmoid(x).
// CHECK-LABEL: func.func @sigmoid_of_tanh(
func.func @sigmoid_of_tanh(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 0.5 : tensor<f32>
  %1 = graph.full 0.5 : tensor<f32>
  %2 = graph.multiply %x, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %t = graph.tanh %2 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.full 1.0 : tensor<f32>
  %inner = graph.add %t, %3 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.multiply %0, %inner : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_sigmoid_of_tanh_of_shared_inner(
func.func @no_sigmoid_of_tanh_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[V1:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[V2:.*]] = graph.multiply %x, %[[V1]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[T:.*]] = graph.tanh %[[V2]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.add %[[T]], %[[V3]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[V0]], %[[INNER]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 0.5 : tensor<f32>
  %1 = graph.full 0.5 : tensor<f32>
  %2 = graph.multiply %x, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %t = graph.tanh %2 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.full 1.0 : tensor<f32>
  %inner = graph.add %t, %3 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.multiply %0, %inner : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// `%t` is needed anyway.
// CHECK-LABEL: func.func @no_sigmoid_of_tanh_of_shared_t(
func.func @no_sigmoid_of_tanh_of_shared_t(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[V1:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[V2:.*]] = graph.multiply %x, %[[V1]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[T:.*]] = graph.tanh %[[V2]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.add %[[T]], %[[V3]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[V0]], %[[INNER]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[T]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 0.5 : tensor<f32>
  %1 = graph.full 0.5 : tensor<f32>
  %2 = graph.multiply %x, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %t = graph.tanh %2 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.full 1.0 : tensor<f32>
  %inner = graph.add %t, %3 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.multiply %0, %inner : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %t : tensor<4xf32>, tensor<4xf32>
}

/// (exp(x) - exp(-x)) * 0.5 = sinh(x).
// CHECK-LABEL: func.func @sinh_of_exps(
func.func @sinh_of_exps(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.sinh %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %e = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %n = graph.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %inner = graph.subtract %e, %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.full 0.5 : tensor<f32>
  %r = graph.multiply %inner, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_sinh_of_exps_of_shared_inner(
func.func @no_sinh_of_exps_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[E:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[N:.*]] = graph.exp %[[V0]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.subtract %[[E]], %[[N]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[INNER]], %[[V1]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %e = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %n = graph.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %inner = graph.subtract %e, %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.full 0.5 : tensor<f32>
  %r = graph.multiply %inner, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_sinh_of_exps_that_stretches(
func.func @no_sinh_of_exps_that_stretches(%x: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[E:.*]] = graph.exp %x : (tensor<1xf32>) -> tensor<1xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.negative %x : (tensor<1xf32>) -> tensor<1xf32>
  // CHECK-NEXT: %[[N:.*]] = graph.exp %[[V0]] : (tensor<1xf32>) -> tensor<1xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.subtract %[[E]], %[[N]] : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.full 0.5 : tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[INNER]], %[[V1]] : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %e = graph.exp %x : (tensor<1xf32>) -> tensor<1xf32>
  %0 = graph.negative %x : (tensor<1xf32>) -> tensor<1xf32>
  %n = graph.exp %0 : (tensor<1xf32>) -> tensor<1xf32>
  %inner = graph.subtract %e, %n : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %1 = graph.full 0.5 : tensor<4xf32>
  %r = graph.multiply %inner, %1 : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// (exp(x) + exp(-x)) * 0.5 = cosh(x).
// CHECK-LABEL: func.func @cosh_of_exps(
func.func @cosh_of_exps(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.cosh %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %e = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %n = graph.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %inner = graph.add %e, %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.full 0.5 : tensor<f32>
  %r = graph.multiply %inner, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_cosh_of_exps_of_shared_inner(
func.func @no_cosh_of_exps_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[E:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[N:.*]] = graph.exp %[[V0]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.add %[[E]], %[[N]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[INNER]], %[[V1]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %e = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %n = graph.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %inner = graph.add %e, %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.full 0.5 : tensor<f32>
  %r = graph.multiply %inner, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// sin(x) / cos(x) = tan(x).
// CHECK-LABEL: func.func @tan_of_quotient(
func.func @tan_of_quotient(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.tan %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %p = graph.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.cos %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_tan_of_quotient_of_shared_p(
func.func @no_tan_of_quotient_of_shared_p(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.cos %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.cos %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %p : tensor<4xf32>, tensor<4xf32>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_tan_of_quotient_of_shared_q(
func.func @no_tan_of_quotient_of_shared_q(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.cos %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[P]], %[[Q]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xf32>, tensor<4xf32>
  %p = graph.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.cos %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %q : tensor<4xf32>, tensor<4xf32>
}

/// x * (1 + erf(x / sqrt(2))) * 0.5 = gelu(x).
// CHECK-LABEL: func.func @gelu_of_parts(
func.func @gelu_of_parts(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.gelu %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %1 = graph.full 0.70710677 : tensor<f32>
  %2 = graph.multiply %x, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.erf %2 : (tensor<4xf32>) -> tensor<4xf32>
  %s = graph.add %0, %3 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %inner = graph.multiply %x, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.full 0.5 : tensor<f32>
  %r = graph.multiply %inner, %4 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
