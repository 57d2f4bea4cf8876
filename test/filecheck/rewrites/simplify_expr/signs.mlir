// RUN: stepwell-opt %s -p 'simplify-expr{numerics="strict"}' | filecheck %s

/// x // -1 = -x.
// CHECK-LABEL: func.func @floor_divide_by_minus_one(
func.func @floor_divide_by_minus_one(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.negative %x : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.full -1 : tensor<i32>
  %r = graph.floor_divide %x, %0 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// Floats are rounded, and may be NaN.
// CHECK-LABEL: func.func @no_floor_divide_by_minus_one_of_f32(
func.func @no_floor_divide_by_minus_one_of_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full -1.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.floor_divide %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full -1.0 : tensor<f32>
  %r = graph.floor_divide %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_floor_divide_by_minus_one_that_stretches(
func.func @no_floor_divide_by_minus_one_that_stretches(%x: tensor<1xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full -1 : tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.floor_divide %x, %[[V0]] : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.full -1 : tensor<4xi32>
  %r = graph.floor_divide %x, %0 : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// -(x * k) = x * -k.
// CHECK-LABEL: func.func @negative_of_product(
func.func @negative_of_product(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.negative %[[K]] : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 2.5 : tensor<f32>
  %inner = graph.multiply %x, %k : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.negative %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Constants are folded, not moved.
// CHECK-LABEL: func.func @no_negative_of_product_of_literal_x(
func.func @no_negative_of_product_of_literal_x() -> tensor<f32> {
  // CHECK-NEXT: %[[X:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.5 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.multiply %[[X]], %[[K]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.negative %[[INNER]] : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: func.return %[[R]] : tensor<f32>
  %x = graph.full 2.5 : tensor<f32>
  %k = graph.full 3.5 : tensor<f32>
  %inner = graph.multiply %x, %k : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = graph.negative %inner : (tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_negative_of_product_of_shared_inner(
func.func @no_negative_of_product_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.multiply %x, %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.negative %[[INNER]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %k = graph.full 2.5 : tensor<f32>
  %inner = graph.multiply %x, %k : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.negative %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// -(x / k) = x / -k for floats.
// CHECK-LABEL: func.func @negative_of_quotient(
func.func @negative_of_quotient(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.negative %[[K]] : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 2.5 : tensor<f32>
  %inner = graph.divide %x, %k : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.negative %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Integers are other numbers.
// CHECK-LABEL: func.func @no_negative_of_quotient_of_i32(
func.func @no_negative_of_quotient_of_i32(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.divide %x, %[[K]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.negative %[[INNER]] : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %inner = graph.divide %x, %k : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %r = graph.negative %inner : (tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// Constants are folded, not moved.
// CHECK-LABEL: func.func @no_negative_of_quotient_of_literal_x(
func.func @no_negative_of_quotient_of_literal_x() -> tensor<f32> {
  // CHECK-NEXT: %[[X:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.5 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.divide %[[X]], %[[K]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.negative %[[INNER]] : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: func.return %[[R]] : tensor<f32>
  %x = graph.full 2.5 : tensor<f32>
  %k = graph.full 3.5 : tensor<f32>
  %inner = graph.divide %x, %k : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = graph.negative %inner : (tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_negative_of_quotient_of_shared_inner(
func.func @no_negative_of_quotient_of_shared_inner(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[INNER:.*]] = graph.divide %x, %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.negative %[[INNER]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xf32>, tensor<4xf32>
  %k = graph.full 2.5 : tensor<f32>
  %inner = graph.divide %x, %k : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.negative %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %inner : tensor<4xf32>, tensor<4xf32>
}

/// -x * k = x * -k.
// CHECK-LABEL: func.func @product_of_negative(
func.func @product_of_negative(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.negative %[[K]] : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %k = graph.full 2.5 : tensor<f32>
  %r = graph.multiply %0, %k : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Constants are folded, not moved.
// CHECK-LABEL: func.func @no_product_of_negative_of_literal_x(
func.func @no_product_of_negative_of_literal_x() -> tensor<f32> {
  // CHECK-NEXT: %[[X:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.negative %[[X]] : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.5 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[V0]], %[[K]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: func.return %[[R]] : tensor<f32>
  %x = graph.full 2.5 : tensor<f32>
  %0 = graph.negative %x : (tensor<f32>) -> tensor<f32>
  %k = graph.full 3.5 : tensor<f32>
  %r = graph.multiply %0, %k : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

/// -x / k = x / -k for floats.
// CHECK-LABEL: func.func @quotient_of_negative(
func.func @quotient_of_negative(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.negative %[[K]] : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %k = graph.full 2.5 : tensor<f32>
  %r = graph.divide %0, %k : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Constants are folded, not moved.
// CHECK-LABEL: func.func @no_quotient_of_negative_of_literal_x(
func.func @no_quotient_of_negative_of_literal_x() -> tensor<f32> {
  // CHECK-NEXT: %[[X:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.negative %[[X]] : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.5 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[V0]], %[[K]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: func.return %[[R]] : tensor<f32>
  %x = graph.full 2.5 : tensor<f32>
  %0 = graph.negative %x : (tensor<f32>) -> tensor<f32>
  %k = graph.full 3.5 : tensor<f32>
  %r = graph.divide %0, %k : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

/// k / -x = -k / x for floats.
// CHECK-LABEL: func.func @divide_by_negative(
func.func @divide_by_negative(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.negative %[[K]] : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[V0]], %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 2.5 : tensor<f32>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %k, %0 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// Constants are folded, not moved.
// CHECK-LABEL: func.func @no_divide_by_negative_of_literal_x(
func.func @no_divide_by_negative_of_literal_x() -> tensor<f32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 2.5 : tensor<f32>
  // CHECK-NEXT: %[[X:.*]] = graph.full 3.5 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.negative %[[X]] : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[K]], %[[V0]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: func.return %[[R]] : tensor<f32>
  %k = graph.full 2.5 : tensor<f32>
  %x = graph.full 3.5 : tensor<f32>
  %0 = graph.negative %x : (tensor<f32>) -> tensor<f32>
  %r = graph.divide %k, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

/// (-x) * (-x) = |x| * |x| = x * x.
// CHECK-LABEL: func.func @square_of_sign(
func.func @square_of_sign(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.square %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// |x| * |x| = x * x.
// CHECK-LABEL: func.func @product_of_absolutes(
func.func @product_of_absolutes(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %a = graph.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// f(-x) = f(|x|) = f(x) for even f.
// CHECK-LABEL: func.func @even_of_sign(
func.func @even_of_sign(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.cos %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.cos %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// -f(-x) = f(x) for odd f.
// CHECK-LABEL: func.func @odd_of_negative(
func.func @odd_of_negative(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.sin %0 : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.negative %1 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// sign(x) * |x| = x.
// CHECK-LABEL: func.func @sign_times_absolute_integer(
func.func @sign_times_absolute_integer(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: func.return %x : tensor<4xi32>
  %0 = graph.sign %x : (tensor<4xi32>) -> tensor<4xi32>
  %1 = graph.abs %x : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.multiply %0, %1 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// |f(x)| = f(x) for f that is nowhere negative.
// CHECK-LABEL: func.func @absolute_of_positive(
func.func @absolute_of_positive(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[INNER:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[INNER]] : tensor<4xf32>
  %inner = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.abs %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// |x * x| = x * x for floats.
// CHECK-LABEL: func.func @absolute_of_square(
func.func @absolute_of_square(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[INNER:.*]] = graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[INNER]] : tensor<4xf32>
  %inner = graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.abs %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// |x * x| = x * x for floats.
// CHECK-LABEL: func.func @absolute_of_product(
func.func @absolute_of_product(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[INNER:.*]] = graph.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[INNER]] : tensor<4xf32>
  %inner = graph.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.abs %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
