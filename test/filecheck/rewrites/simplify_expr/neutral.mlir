// RUN: stepwell-opt %s -p simplify-expr | filecheck %s

/// x - 0.0 = x, and so for integers.
// CHECK-LABEL: @subtract_of_zero(
func.func @subtract_of_zero(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK-NEXT: func.return %x, %i : tensor<4xf32>, tensor<4xi32>
  %k = graph.full 0.0 : tensor<4xf32>
  %z = graph.full 0 : tensor<4xi32>
  %a = graph.subtract %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.subtract %i, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %a, %b : tensor<4xf32>, tensor<4xi32>
}

/// 0.0 - x is not x, nor is it -x: 0.0 - 0.0 is 0.0.
// CHECK-LABEL: @no_subtract_from_zero(
func.func @no_subtract_from_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 0.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[V0]], %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 0.0 : tensor<4xf32>
  %r = graph.subtract %k, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x - -0.0 turns -0.0 into 0.0.
// CHECK-LABEL: @no_subtract_of_negative_zero(
func.func @no_subtract_of_negative_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full -0.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full -0.0 : tensor<4xf32>
  %r = graph.subtract %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x + -0.0 = x, on either side.
// CHECK-LABEL: @add_of_negative_zero(
func.func @add_of_negative_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %k = graph.full -0.0 : tensor<4xf32>
  %a = graph.add %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.add %k, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x + 0.0 turns -0.0 into 0.0.
// CHECK-LABEL: @no_add_of_zero(
func.func @no_add_of_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 0.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 0.0 : tensor<4xf32>
  %r = graph.add %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x + 0 = x for integers.
// CHECK-LABEL: @add_of_zero_integer(
func.func @add_of_zero_integer(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: func.return %x : tensor<4xi32>
  %k = graph.full 0 : tensor<4xi32>
  %r = graph.add %k, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// x * 1 = x, on either side; the constant may be a literal and of a smaller shape.
// CHECK-LABEL: @multiply_by_one(
func.func @multiply_by_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %k = graph.constant dense<1.0> : tensor<1xf32>
  %a = graph.multiply %k, %x : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %a, %k : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// A constant that stretches the other operand is needed for its shape.
// CHECK-LABEL: @no_multiply_that_broadcasts(
func.func @no_multiply_that_broadcasts(%x: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 1.0 : tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[K]] : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 1.0 : tensor<4xf32>
  %r = graph.multiply %x, %k : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x / 1 = x; integers too.
// CHECK-LABEL: @divide_by_one(
func.func @divide_by_one(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK-NEXT: func.return %x, %i : tensor<4xf32>, tensor<4xi32>
  %k = graph.full 1.0 : tensor<4xf32>
  %z = graph.full 1 : tensor<4xi32>
  %a = graph.divide %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.divide %i, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %a, %b : tensor<4xf32>, tensor<4xi32>
}

/// x // 1 = x for integers; for floats it is floor(x).
// CHECK-LABEL: @floor_divide_by_one(
func.func @floor_divide_by_one(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 1.0 : tensor<4xf32>
  // CHECK-NEXT: %[[A:.*]] = graph.floor_divide %x, %[[K]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]], %i : tensor<4xf32>, tensor<4xi32>
  %k = graph.full 1.0 : tensor<4xf32>
  %z = graph.full 1 : tensor<4xi32>
  %a = graph.floor_divide %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.floor_divide %i, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %a, %b : tensor<4xf32>, tensor<4xi32>
}

/// x to the power of 1 is x, and 1 to the power of x is 1.
// CHECK-LABEL: @power_of_one(
func.func @power_of_one(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[B:.*]] = graph.full 1.0 : tensor<4xf32>
  // CHECK-NEXT: func.return %x, %[[B]] : tensor<4xf32>, tensor<4xf32>
  %k = graph.full 1.0 : tensor<4xf32>
  %a = graph.power %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.power %k, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

/// x and true = x.
// CHECK-LABEL: @logical_and_with_true(
func.func @logical_and_with_true(%x: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: func.return %x : tensor<4xi1>
  %k = graph.full true : tensor<4xi1>
  %r = graph.logical_and %k, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x or false = x, x xor false = x; x xor true is the negation.
// CHECK-LABEL: @logical_or_with_false(
func.func @logical_or_with_false(%x: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[C:.*]] = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %x, %[[C]] : tensor<4xi1>, tensor<4xi1>
  %k = graph.full false : tensor<4xi1>
  %t = graph.full true : tensor<4xi1>
  %a = graph.logical_or %k, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %b = graph.logical_xor %a, %k : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %c = graph.logical_xor %x, %t : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %b, %c : tensor<4xi1>, tensor<4xi1>
}

/// x | 0 = x ^ 0 = x.
// CHECK-LABEL: @bitwise_or_with_zero(
func.func @bitwise_or_with_zero(%x: tensor<4xui8>) -> tensor<4xui8> {
  // CHECK-NEXT: func.return %x : tensor<4xui8>
  %k = graph.full 0 : tensor<4xui8>
  %a = graph.bitwise_or %k, %x : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %r = graph.bitwise_xor %a, %k : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  func.return %r : tensor<4xui8>
}

/// x << 0 = x >> 0 = x; 0 << x is something else.
// CHECK-LABEL: @shift_by_zero(
func.func @shift_by_zero(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 0 : tensor<4xi32>
  // CHECK-NEXT: %[[C:.*]] = graph.left_shift %[[K]], %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %x, %[[C]] : tensor<4xi32>, tensor<4xi32>
  %k = graph.full 0 : tensor<4xi32>
  %a = graph.left_shift %x, %k : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %b = graph.right_shift %a, %k : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %c = graph.left_shift %k, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %b, %c : tensor<4xi32>, tensor<4xi32>
}
