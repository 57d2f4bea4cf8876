// RUN: stepwell-opt %s -p simplify-expr | filecheck %s

/// x * 0 = 0 for integers, in the shape of the product.
// CHECK-LABEL: @multiply_by_zero_integer(
func.func @multiply_by_zero_integer(%x: tensor<4xi32>, %y: tensor<1xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.full 0 : tensor<4xi32>
  // CHECK-NEXT: %[[B:.*]] = graph.full 0 : tensor<4xi32>
  // CHECK-NEXT: func.return %[[A]], %[[B]] : tensor<4xi32>, tensor<4xi32>
  %k = graph.full 0 : tensor<4xi32>
  %a = graph.multiply %x, %k : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %b = graph.multiply %y, %k : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %a, %b : tensor<4xi32>, tensor<4xi32>
}

/// x * 0.0 is NaN for NaN and inf, -0.0 for negative x.
// CHECK-LABEL: @no_multiply_by_zero(
func.func @no_multiply_by_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 0.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 0.0 : tensor<4xf32>
  %r = graph.multiply %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x and false = false.
// CHECK-LABEL: @logical_and_with_false(
func.func @logical_and_with_false(%x: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.full false : tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %k = graph.full false : tensor<4xi1>
  %r = graph.logical_and %x, %k : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x or true = true.
// CHECK-LABEL: @logical_or_with_true(
func.func @logical_or_with_true(%x: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.full true : tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %k = graph.full true : tensor<4xi1>
  %r = graph.logical_or %x, %k : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x & 0 = 0.
// CHECK-LABEL: @bitwise_and_with_zero(
func.func @bitwise_and_with_zero(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.full 0 : tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 0 : tensor<4xi32>
  %r = graph.bitwise_and %k, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// x - x = 0 for integers.
// CHECK-LABEL: @subtract_of_itself_integer(
func.func @subtract_of_itself_integer(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.full 0 : tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %r = graph.subtract %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// x - x is NaN for NaN and inf.
// CHECK-LABEL: @no_subtract_of_itself(
func.func @no_subtract_of_itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %r = graph.subtract %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x xor x = 0.
// CHECK-LABEL: @xor_of_itself(
func.func @xor_of_itself(%x: tensor<4xi1>, %i: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.full false : tensor<4xi1>
  // CHECK-NEXT: %[[B:.*]] = graph.full 0 : tensor<4xi32>
  // CHECK-NEXT: func.return %[[A]], %[[B]] : tensor<4xi1>, tensor<4xi32>
  %a = graph.logical_xor %x, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %b = graph.bitwise_xor %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %a, %b : tensor<4xi1>, tensor<4xi32>
}

/// x < x is false, for NaN too.
// CHECK-LABEL: @less_than_itself(
func.func @less_than_itself(%x: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[A:.*]] = graph.full false : tensor<4xi1>
  // CHECK-NEXT: %[[B:.*]] = graph.full false : tensor<4xi1>
  // CHECK-NEXT: func.return %[[A]], %[[B]] : tensor<4xi1>, tensor<4xi1>
  %a = graph.less %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %b = graph.greater %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return %a, %b : tensor<4xi1>, tensor<4xi1>
}

/// x = x, x <= x, x >= x are true for integers.
// CHECK-LABEL: @equal_to_itself_integer(
func.func @equal_to_itself_integer(%x: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[A:.*]] = graph.full true : tensor<4xi1>
  // CHECK-NEXT: %[[B:.*]] = graph.full true : tensor<4xi1>
  // CHECK-NEXT: %[[C:.*]] = graph.full true : tensor<4xi1>
  // CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]] : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
  %a = graph.equal %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %b = graph.less_equal %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %c = graph.greater_equal %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  func.return %a, %b, %c : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

/// A NaN is not equal to itself, and nothing else is.
// CHECK-LABEL: @no_equal_to_itself(
func.func @no_equal_to_itself(%x: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[A:.*]] = graph.equal %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: %[[B:.*]] = graph.isnan %x : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[A]], %[[B]] : tensor<4xi1>, tensor<4xi1>
  %a = graph.equal %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %b = graph.not_equal %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return %a, %b : tensor<4xi1>, tensor<4xi1>
}

/// x != x is false for integers.
// CHECK-LABEL: @not_equal_to_itself_integer(
func.func @not_equal_to_itself_integer(%x: tensor<4xui8>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.full false : tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %r = graph.not_equal %x, %x : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// max(x, x) = min(x, x) = x, and so for `and` and `or`.
// CHECK-LABEL: @maximum_of_itself(
func.func @maximum_of_itself(%x: tensor<4xf32>, %c: tensor<4xi1>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi1>, tensor<4xi32>) {
  // CHECK-NEXT: func.return %x, %c, %i : tensor<4xf32>, tensor<4xi1>, tensor<4xi32>
  %a = graph.maximum %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.minimum %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = graph.logical_and %c, %c : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %e = graph.logical_or %d, %d : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %f = graph.bitwise_and %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %g = graph.bitwise_or %f, %f : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %b, %e, %g : tensor<4xf32>, tensor<4xi1>, tensor<4xi32>
}

/// Different values stay.
// CHECK-LABEL: @no_maximum_of_two(
func.func @no_maximum_of_two(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.maximum %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %r = graph.maximum %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// The `?` of an operand may be 1 and that of the other not: both are needed unless they are the same value.
// CHECK-LABEL: @no_maximum_of_unknown_size(
func.func @no_maximum_of_unknown_size(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.maximum %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<?xf32>
  %r = graph.maximum %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %r : tensor<?xf32>
}

/// x * -1 = x / -1 = -x.
// CHECK-LABEL: @multiply_by_minus_one(
func.func @multiply_by_minus_one(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.negative %i : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[A]], %[[B]] : tensor<4xf32>, tensor<4xi32>
  %k = graph.full -1.0 : tensor<4xf32>
  %z = graph.full -1 : tensor<4xi32>
  %a = graph.multiply %k, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.divide %i, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %a, %b : tensor<4xf32>, tensor<4xi32>
}

/// -1 / x is no negation; -x that stretches x is none either.
// CHECK-LABEL: @no_division_of_minus_one(
func.func @no_division_of_minus_one(%x: tensor<4xf32>, %y: tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full -1.0 : tensor<4xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.full -1.0 : tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.divide %[[V0]], %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.multiply %y, %[[K]] : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]] : tensor<4xf32>, tensor<4xf32>
  %k = graph.full -1.0 : tensor<4xf32>
  %a = graph.divide %k, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.multiply %y, %k : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}
