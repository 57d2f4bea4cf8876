// RUN: stepwell-opt %s -p simplify-expr | filecheck %s

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_gelu_of_parts_of_shared_inner(
func.func @no_gelu_of_parts_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[V1:.*]] = graph.full 0.70710677 : tensor<f32>
  // CHECK-NEXT: %[[V2:.*]] = graph.multiply %x, %[[V1]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.erf %[[V2]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.add %[[V0]], %[[V3]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.multiply %x, %[[S]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V4:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[INNER]], %[[V4]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %1 = graph.full 0.70710677 : tensor<f32>
  %2 = graph.multiply %x, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.erf %2 : (tensor<4xf32>) -> tensor<4xf32>
  %s = graph.add %0, %3 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %inner = graph.multiply %x, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.full 0.5 : tensor<f32>
  %r = graph.multiply %inner, %4 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// `%s` is needed anyway.
// CHECK-LABEL: func.func @no_gelu_of_parts_of_shared_s(
func.func @no_gelu_of_parts_of_shared_s(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[V1:.*]] = graph.full 0.70710677 : tensor<f32>
  // CHECK-NEXT: %[[V2:.*]] = graph.multiply %x, %[[V1]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.erf %[[V2]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.add %[[V0]], %[[V3]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.multiply %x, %[[S]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V4:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[INNER]], %[[V4]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %1 = graph.full 0.70710677 : tensor<f32>
  %2 = graph.multiply %x, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.erf %2 : (tensor<4xf32>) -> tensor<4xf32>
  %s = graph.add %0, %3 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %inner = graph.multiply %x, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.full 0.5 : tensor<f32>
  %r = graph.multiply %inner, %4 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r, %s : tensor<4xf32>, tensor<4xf32>
}

/// x * 0.5 * (1 + erf(x / sqrt(2))) = gelu(x).
// CHECK-LABEL: func.func @gelu_of_half(
func.func @gelu_of_half(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.gelu %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 0.5 : tensor<f32>
  %inner = graph.multiply %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.full 1.0 : tensor<f32>
  %2 = graph.full 0.70710677 : tensor<f32>
  %3 = graph.multiply %x, %2 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = graph.erf %3 : (tensor<4xf32>) -> tensor<4xf32>
  %s = graph.add %1, %4 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %inner, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_gelu_of_half_of_shared_inner(
func.func @no_gelu_of_half_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.multiply %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[V2:.*]] = graph.full 0.70710677 : tensor<f32>
  // CHECK-NEXT: %[[V3:.*]] = graph.multiply %x, %[[V2]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V4:.*]] = graph.erf %[[V3]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.add %[[V1]], %[[V4]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[INNER]], %[[S]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 0.5 : tensor<f32>
  %inner = graph.multiply %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.full 1.0 : tensor<f32>
  %2 = graph.full 0.70710677 : tensor<f32>
  %3 = graph.multiply %x, %2 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = graph.erf %3 : (tensor<4xf32>) -> tensor<4xf32>
  %s = graph.add %1, %4 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %inner, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// `%s` is needed anyway.
// CHECK-LABEL: func.func @no_gelu_of_half_of_shared_s(
func.func @no_gelu_of_half_of_shared_s(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.multiply %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[V2:.*]] = graph.full 0.70710677 : tensor<f32>
  // CHECK-NEXT: %[[V3:.*]] = graph.multiply %x, %[[V2]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V4:.*]] = graph.erf %[[V3]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.add %[[V1]], %[[V4]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[INNER]], %[[S]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 0.5 : tensor<f32>
  %inner = graph.multiply %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.full 1.0 : tensor<f32>
  %2 = graph.full 0.70710677 : tensor<f32>
  %3 = graph.multiply %x, %2 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = graph.erf %3 : (tensor<4xf32>) -> tensor<4xf32>
  %s = graph.add %1, %4 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %inner, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %s : tensor<4xf32>, tensor<4xf32>
}

/// x * ((1 + erf(x / sqrt(2))) * 0.5) = gelu(x).
// CHECK-LABEL: func.func @gelu_of_factor(
func.func @gelu_of_factor(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.gelu %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %1 = graph.full 0.70710677 : tensor<f32>
  %2 = graph.multiply %x, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.erf %2 : (tensor<4xf32>) -> tensor<4xf32>
  %s = graph.add %0, %3 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.full 0.5 : tensor<f32>
  %inner = graph.multiply %s, %4 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.multiply %x, %inner : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_gelu_of_factor_of_shared_inner(
func.func @no_gelu_of_factor_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[V1:.*]] = graph.full 0.70710677 : tensor<f32>
  // CHECK-NEXT: %[[V2:.*]] = graph.multiply %x, %[[V1]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.erf %[[V2]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.add %[[V0]], %[[V3]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V4:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.multiply %[[S]], %[[V4]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[INNER]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %1 = graph.full 0.70710677 : tensor<f32>
  %2 = graph.multiply %x, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.erf %2 : (tensor<4xf32>) -> tensor<4xf32>
  %s = graph.add %0, %3 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.full 0.5 : tensor<f32>
  %inner = graph.multiply %s, %4 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.multiply %x, %inner : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// `%s` is needed anyway.
// CHECK-LABEL: func.func @no_gelu_of_factor_of_shared_s(
func.func @no_gelu_of_factor_of_shared_s(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[V1:.*]] = graph.full 0.70710677 : tensor<f32>
  // CHECK-NEXT: %[[V2:.*]] = graph.multiply %x, %[[V1]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.erf %[[V2]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.add %[[V0]], %[[V3]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V4:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.multiply %[[S]], %[[V4]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[INNER]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %1 = graph.full 0.70710677 : tensor<f32>
  %2 = graph.multiply %x, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.erf %2 : (tensor<4xf32>) -> tensor<4xf32>
  %s = graph.add %0, %3 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.full 0.5 : tensor<f32>
  %inner = graph.multiply %s, %4 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.multiply %x, %inner : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %s : tensor<4xf32>, tensor<4xf32>
}

/// log(softmax(x)) = log_softmax(x).
// CHECK-LABEL: func.func @log_of_softmax(
func.func @log_of_softmax(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.log_softmax %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %inner = graph.softmax %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.log %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_log_of_softmax_of_shared_inner(
func.func @no_log_of_softmax_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.softmax %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.log %[[INNER]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %inner = graph.softmax %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.log %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// exp(log_softmax(x)) = softmax(x).
// CHECK-LABEL: func.func @exp_of_log_softmax(
func.func @exp_of_log_softmax(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.softmax %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %inner = graph.log_softmax %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.exp %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_exp_of_log_softmax_of_shared_inner(
func.func @no_exp_of_log_softmax_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.log_softmax %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.exp %[[INNER]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %inner = graph.log_softmax %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.exp %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// A quotient by sqrt(2) is as good as a product.
// CHECK-LABEL: func.func @gelu_of_quotient(
func.func @gelu_of_quotient(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.gelu %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.41421354 : tensor<f32>
  %1 = graph.divide %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = graph.erf %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.full 1.0 : tensor<f32>
  %4 = graph.add %2, %3 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = graph.multiply %x, %4 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = graph.full 0.5 : tensor<f32>
  %r = graph.multiply %5, %6 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
