// RUN: stepwell-opt %s -p 'simplify-expr{numerics="fast"}' | filecheck %s

// Work on literals alone is left to fold-constant: these rules would only move it about, without an end.

/// (x * k) * l of literals.
// CHECK-LABEL: @no_multiply_by_constants_integer(
func.func @no_multiply_by_constants_integer() -> tensor<2xi32> {
  // CHECK-NEXT: %[[X:.*]] = graph.constant dense<[1, 2]> : tensor<2xi32>
  // CHECK-NEXT: %[[K:.*]] = graph.constant dense<[3, 4]> : tensor<2xi32>
  // CHECK-NEXT: %[[L:.*]] = graph.constant dense<[5, 6]> : tensor<2xi32>
  // CHECK-NEXT: %[[M:.*]] = graph.multiply %[[X]], %[[K]] : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[M]], %[[L]] : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2xi32>
  %x = graph.constant dense<[1, 2]> : tensor<2xi32>
  %k = graph.constant dense<[3, 4]> : tensor<2xi32>
  %l = graph.constant dense<[5, 6]> : tensor<2xi32>
  %m = graph.multiply %x, %k : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %r = graph.multiply %m, %l : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  func.return %r : tensor<2xi32>
}

/// (x + k) + l of literals.
// CHECK-LABEL: @no_add_of_constants_integer(
func.func @no_add_of_constants_integer() -> tensor<2xi32> {
  // CHECK-NEXT: %[[X:.*]] = graph.constant dense<[1, 2]> : tensor<2xi32>
  // CHECK-NEXT: %[[K:.*]] = graph.constant dense<[3, 4]> : tensor<2xi32>
  // CHECK-NEXT: %[[L:.*]] = graph.constant dense<[5, 6]> : tensor<2xi32>
  // CHECK-NEXT: %[[M:.*]] = graph.add %[[X]], %[[K]] : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[M]], %[[L]] : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2xi32>
  %x = graph.constant dense<[1, 2]> : tensor<2xi32>
  %k = graph.constant dense<[3, 4]> : tensor<2xi32>
  %l = graph.constant dense<[5, 6]> : tensor<2xi32>
  %m = graph.add %x, %k : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %r = graph.add %m, %l : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  func.return %r : tensor<2xi32>
}

/// (x - k) + l of literals.
// CHECK-LABEL: @no_add_after_subtract_integer(
func.func @no_add_after_subtract_integer() -> tensor<2xi32> {
  // CHECK-NEXT: %[[X:.*]] = graph.constant dense<[1, 2]> : tensor<2xi32>
  // CHECK-NEXT: %[[K:.*]] = graph.constant dense<[3, 4]> : tensor<2xi32>
  // CHECK-NEXT: %[[L:.*]] = graph.constant dense<[5, 6]> : tensor<2xi32>
  // CHECK-NEXT: %[[M:.*]] = graph.subtract %[[X]], %[[K]] : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[M]], %[[L]] : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2xi32>
  %x = graph.constant dense<[1, 2]> : tensor<2xi32>
  %k = graph.constant dense<[3, 4]> : tensor<2xi32>
  %l = graph.constant dense<[5, 6]> : tensor<2xi32>
  %m = graph.subtract %x, %k : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %r = graph.add %m, %l : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  func.return %r : tensor<2xi32>
}

/// (x * k) * l of literals.
// CHECK-LABEL: @no_multiply_by_constants(
func.func @no_multiply_by_constants() -> tensor<2xf32> {
  // CHECK-NEXT: %[[X:.*]] = graph.constant dense<[1.5, 2.5]> : tensor<2xf32>
  // CHECK-NEXT: %[[K:.*]] = graph.constant dense<[3.5, 4.5]> : tensor<2xf32>
  // CHECK-NEXT: %[[L:.*]] = graph.constant dense<[5.5, 6.5]> : tensor<2xf32>
  // CHECK-NEXT: %[[M:.*]] = graph.multiply %[[X]], %[[K]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[M]], %[[L]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2xf32>
  %x = graph.constant dense<[1.5, 2.5]> : tensor<2xf32>
  %k = graph.constant dense<[3.5, 4.5]> : tensor<2xf32>
  %l = graph.constant dense<[5.5, 6.5]> : tensor<2xf32>
  %m = graph.multiply %x, %k : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %r = graph.multiply %m, %l : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

/// (x + k) + l of literals.
// CHECK-LABEL: @no_add_of_constants(
func.func @no_add_of_constants() -> tensor<2xf32> {
  // CHECK-NEXT: %[[X:.*]] = graph.constant dense<[1.5, 2.5]> : tensor<2xf32>
  // CHECK-NEXT: %[[K:.*]] = graph.constant dense<[3.5, 4.5]> : tensor<2xf32>
  // CHECK-NEXT: %[[L:.*]] = graph.constant dense<[5.5, 6.5]> : tensor<2xf32>
  // CHECK-NEXT: %[[M:.*]] = graph.add %[[X]], %[[K]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[M]], %[[L]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2xf32>
  %x = graph.constant dense<[1.5, 2.5]> : tensor<2xf32>
  %k = graph.constant dense<[3.5, 4.5]> : tensor<2xf32>
  %l = graph.constant dense<[5.5, 6.5]> : tensor<2xf32>
  %m = graph.add %x, %k : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %r = graph.add %m, %l : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

/// (x - k) + l of literals.
// CHECK-LABEL: @no_add_after_subtract(
func.func @no_add_after_subtract() -> tensor<2xf32> {
  // CHECK-NEXT: %[[X:.*]] = graph.constant dense<[1.5, 2.5]> : tensor<2xf32>
  // CHECK-NEXT: %[[K:.*]] = graph.constant dense<[3.5, 4.5]> : tensor<2xf32>
  // CHECK-NEXT: %[[L:.*]] = graph.constant dense<[5.5, 6.5]> : tensor<2xf32>
  // CHECK-NEXT: %[[M:.*]] = graph.subtract %[[X]], %[[K]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[M]], %[[L]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2xf32>
  %x = graph.constant dense<[1.5, 2.5]> : tensor<2xf32>
  %k = graph.constant dense<[3.5, 4.5]> : tensor<2xf32>
  %l = graph.constant dense<[5.5, 6.5]> : tensor<2xf32>
  %m = graph.subtract %x, %k : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %r = graph.add %m, %l : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

/// (x / k) * l of literals.
// CHECK-LABEL: @no_multiply_after_divide(
func.func @no_multiply_after_divide() -> tensor<2xf32> {
  // CHECK-NEXT: %[[X:.*]] = graph.constant dense<[1.5, 2.5]> : tensor<2xf32>
  // CHECK-NEXT: %[[K:.*]] = graph.constant dense<[3.5, 4.5]> : tensor<2xf32>
  // CHECK-NEXT: %[[L:.*]] = graph.constant dense<[5.5, 6.5]> : tensor<2xf32>
  // CHECK-NEXT: %[[M:.*]] = graph.divide %[[X]], %[[K]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[M]], %[[L]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2xf32>
  %x = graph.constant dense<[1.5, 2.5]> : tensor<2xf32>
  %k = graph.constant dense<[3.5, 4.5]> : tensor<2xf32>
  %l = graph.constant dense<[5.5, 6.5]> : tensor<2xf32>
  %m = graph.divide %x, %k : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %r = graph.multiply %m, %l : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

/// A literal stretched on the left of a literal.
// CHECK-LABEL: @no_splat_on_the_left(
func.func @no_splat_on_the_left() -> tensor<2xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<2xf32>
  // CHECK-NEXT: %[[X:.*]] = graph.constant dense<[1.5, 2.5]> : tensor<2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.power %[[K]], %[[X]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2xf32>
  %k = graph.full 3.0 : tensor<2xf32>
  %x = graph.constant dense<[1.5, 2.5]> : tensor<2xf32>
  %r = graph.power %k, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

/// A literal stretched on the right of a literal.
// CHECK-LABEL: @no_splat_on_the_right(
func.func @no_splat_on_the_right() -> tensor<2xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 5.0 : tensor<2xf32>
  // CHECK-NEXT: %[[X:.*]] = graph.constant dense<[1.5, 2.5]> : tensor<2xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.power %[[X]], %[[K]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<2xf32>
  %k = graph.full 5.0 : tensor<2xf32>
  %x = graph.constant dense<[1.5, 2.5]> : tensor<2xf32>
  %r = graph.power %x, %k : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}
