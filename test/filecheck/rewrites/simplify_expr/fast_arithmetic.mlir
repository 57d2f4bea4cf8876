// RUN: stepwell-opt %s -p 'simplify-expr{numerics="fast"}' | filecheck %s

/// 0.0 - x = -x, except for x = 0.0.
// CHECK-LABEL: func.func @subtract_from_zero(
func.func @subtract_from_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 0.0 : tensor<4xf32>
  %r = graph.subtract %k, %x : (tensor<4xf32>, tensor<4xf32>)
  func.return %r : tensor<4xf32>
}

/// Division by zero and NaN are taken not to occur.
// CHECK-LABEL: func.func @zero_divided(
func.func @zero_divided(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.full 0.0 : tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 0.0 : tensor<f32>
  %r = graph.divide %k, %x : (tensor<f32>, tensor<4xf32>)
  func.return %r : tensor<4xf32>
}

/// 1.0 is not 0.0.
// CHECK-LABEL: func.func @no_one_divided(
func.func @no_one_divided(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[K]], %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 1.0 : tensor<f32>
  %r = graph.divide %k, %x : (tensor<f32>, tensor<4xf32>)
  func.return %r : tensor<4xf32>
}

/// x - 3 - 5 = x - 8.
// CHECK-LABEL: func.func @subtract_of_constants(
func.func @subtract_of_constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5.0 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.add %[[K]], %[[L]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 5.0 : tensor<f32>
  %a = graph.subtract %x, %k : (tensor<4xf32>, tensor<f32>)
  %r = graph.subtract %a, %l : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

/// x + 3 - 5 = x + (3 - 5).
// CHECK-LABEL: func.func @subtract_after_add(
func.func @subtract_after_add(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5.0 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.subtract %[[K]], %[[L]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 5.0 : tensor<f32>
  %a = graph.add %x, %k : (tensor<4xf32>, tensor<f32>)
  %r = graph.subtract %a, %l : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

/// x - 3 + 5 = x + (5 - 3).
// CHECK-LABEL: func.func @add_after_subtract(
func.func @add_after_subtract(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5.0 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.subtract %[[L]], %[[K]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 5.0 : tensor<f32>
  %a = graph.subtract %x, %k : (tensor<4xf32>, tensor<f32>)
  %r = graph.add %a, %l : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

/// x / 3 / 5 = x / 15.
// CHECK-LABEL: func.func @divide_by_constants(
func.func @divide_by_constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5.0 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.multiply %[[K]], %[[L]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 5.0 : tensor<f32>
  %a = graph.divide %x, %k : (tensor<4xf32>, tensor<f32>)
  %r = graph.divide %a, %l : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

/// x * 3 / 5 = x * (3 / 5).
// CHECK-LABEL: func.func @divide_after_multiply(
func.func @divide_after_multiply(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5.0 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.divide %[[K]], %[[L]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 5.0 : tensor<f32>
  %a = graph.multiply %x, %k : (tensor<4xf32>, tensor<f32>)
  %r = graph.divide %a, %l : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

/// x / 3 * 5 = x * (5 / 3).
// CHECK-LABEL: func.func @multiply_after_divide(
func.func @multiply_after_divide(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5.0 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.divide %[[L]], %[[K]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 5.0 : tensor<f32>
  %a = graph.divide %x, %k : (tensor<4xf32>, tensor<f32>)
  %r = graph.multiply %l, %a : (tensor<f32>, tensor<4xf32>)
  func.return %r : tensor<4xf32>
}

/// 5 / (x * 3) has x below.
// CHECK-LABEL: func.func @no_divide_of_constant(
func.func @no_divide_of_constant(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5.0 : tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.multiply %x, %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[L]], %[[A]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 5.0 : tensor<f32>
  %a = graph.multiply %x, %k : (tensor<4xf32>, tensor<f32>)
  %r = graph.divide %l, %a : (tensor<f32>, tensor<4xf32>)
  func.return %r : tensor<4xf32>
}

/// The product comes first.
// CHECK-LABEL: func.func @multiply_of_sum(
func.func @multiply_of_sum(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5.0 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.multiply %x, %[[L]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.multiply %[[K]], %[[L]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[V0]], %[[V1]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 5.0 : tensor<f32>
  %a = graph.add %x, %k : (tensor<4xf32>, tensor<f32>)
  %r = graph.multiply %a, %l : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

/// The sum is no literal.
// CHECK-LABEL: func.func @no_multiply_of_sum_of_two(
func.func @no_multiply_of_sum_of_two(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[L:.*]] = graph.full 5.0 : tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[A]], %[[L]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %l = graph.full 5.0 : tensor<f32>
  %a = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>)
  %r = graph.multiply %a, %l : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

/// x * x + 2 * x * y + y * y.
// CHECK-LABEL: func.func @binomial(
func.func @binomial(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[V0]], %[[V0]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %two = graph.full 2.0 : tensor<f32>
  %xx = graph.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>)
  %yy = graph.multiply %y, %y : (tensor<4xf32>, tensor<4xf32>)
  %d = graph.multiply %two, %x : (tensor<f32>, tensor<4xf32>)
  %p = graph.multiply %d, %y : (tensor<4xf32>, tensor<4xf32>)
  %a = graph.add %xx, %p : (tensor<4xf32>, tensor<4xf32>)
  %r = graph.add %a, %yy : (tensor<4xf32>, tensor<4xf32>)
  func.return %r : tensor<4xf32>
}

/// x * x + y * y + (x * y + x * y).
// CHECK-LABEL: func.func @binomial_product_last(
func.func @binomial_product_last(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[V0]], %[[V0]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %xx = graph.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>)
  %yy = graph.multiply %y, %y : (tensor<4xf32>, tensor<4xf32>)
  %xy = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>)
  %p = graph.add %xy, %xy : (tensor<4xf32>, tensor<4xf32>)
  %a = graph.add %xx, %yy : (tensor<4xf32>, tensor<4xf32>)
  %r = graph.add %a, %p : (tensor<4xf32>, tensor<4xf32>)
  func.return %r : tensor<4xf32>
}

/// The sum of squares is needed anyway.
// CHECK-LABEL: func.func @no_binomial_of_shared_sum(
func.func @no_binomial_of_shared_sum(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[XX:.*]] = graph.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[YY:.*]] = graph.multiply %y, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[XY:.*]] = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.full 2.0 : tensor<f32>
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %[[XY]], %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[XX]], %[[YY]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[P]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]], %[[R]] : tensor<4xf32>, tensor<4xf32>
  %xx = graph.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>)
  %yy = graph.multiply %y, %y : (tensor<4xf32>, tensor<4xf32>)
  %xy = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>)
  %p = graph.add %xy, %xy : (tensor<4xf32>, tensor<4xf32>)
  %a = graph.add %xx, %yy : (tensor<4xf32>, tensor<4xf32>)
  %r = graph.add %a, %p : (tensor<4xf32>, tensor<4xf32>)
  func.return %a, %r : tensor<4xf32>, tensor<4xf32>
}
