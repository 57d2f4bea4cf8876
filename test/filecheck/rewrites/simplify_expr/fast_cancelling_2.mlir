// RUN: stepwell-opt %s -p 'simplify-expr{numerics="fast"}' | filecheck %s

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_divide_twice_of_shared_inner(
func.func @no_divide_twice_of_shared_inner(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.divide %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[INNER]], %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %inner = graph.divide %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %inner, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// x / (y / z) = x * z / y.
// CHECK-LABEL: func.func @divide_by_quotient(
func.func @divide_by_quotient(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.multiply %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[V0]], %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %inner = graph.divide %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %x, %inner : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Constants are folded, not moved.
// CHECK-LABEL: func.func @no_divide_by_quotient_of_literal_y(
func.func @no_divide_by_quotient_of_literal_y(%x: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[Y:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.divide %[[Y]], %z : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %[[INNER]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %y = graph.full 2.5 : tensor<f32>
  %inner = graph.divide %y, %z : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %x, %inner : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_divide_by_quotient_of_shared_inner(
func.func @no_divide_by_quotient_of_shared_inner(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.divide %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %[[INNER]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %inner = graph.divide %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %x, %inner : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// x * (1 / y) = x / y.
// CHECK-LABEL: func.func @multiply_by_reciprocal(
func.func @multiply_by_reciprocal(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %inner = graph.divide %0, %y : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %x, %inner : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Constants are folded, not moved.
// CHECK-LABEL: func.func @no_multiply_by_reciprocal_of_literal_y(
func.func @no_multiply_by_reciprocal_of_literal_y(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[Y:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.divide %[[V0]], %[[Y]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[INNER]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %y = graph.full 2.5 : tensor<f32>
  %inner = graph.divide %0, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = graph.multiply %x, %inner : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_multiply_by_reciprocal_of_shared_inner(
func.func @no_multiply_by_reciprocal_of_shared_inner(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.divide %[[V0]], %y : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[INNER]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %inner = graph.divide %0, %y : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %x, %inner : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_multiply_by_reciprocal_that_stretches(
func.func @no_multiply_by_reciprocal_that_stretches(%x: tensor<1xf32>, %y: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.divide %[[V0]], %y : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[INNER]] : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<4xf32>
  %inner = graph.divide %0, %y : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %r = graph.multiply %x, %inner : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x / (1 / y) = x * y.
// CHECK-LABEL: func.func @divide_by_reciprocal(
func.func @divide_by_reciprocal(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %inner = graph.divide %0, %y : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %x, %inner : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_divide_by_reciprocal_that_stretches(
func.func @no_divide_by_reciprocal_that_stretches(%x: tensor<1xf32>, %y: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1.0 : tensor<4xf32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.divide %[[V0]], %y : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %[[INNER]] : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<4xf32>
  %inner = graph.divide %0, %y : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %r = graph.divide %x, %inner : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// (x * z) / (y * z) = x / y.
// CHECK-LABEL: func.func @quotient_of_products(
func.func @quotient_of_products(%x: tensor<4xf32>, %z: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.multiply %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.multiply %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
