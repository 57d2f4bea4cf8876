// RUN: stepwell-opt %s -p 'simplify-expr{numerics="strict"}' | filecheck %s

/// A sign is a subtraction.
// CHECK-LABEL: func.func @add_of_negative(
func.func @add_of_negative(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %n = graph.negative %y : (tensor<4xf32>)
  %r = graph.add %n, %x : (tensor<4xf32>, tensor<4xf32>)
  func.return %r : tensor<4xf32>
}

/// Two signs are none.
// CHECK-LABEL: func.func @subtract_of_negative(
func.func @subtract_of_negative(%x: tensor<4xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.add %x, %y : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<3x4xf32>
  %n = graph.negative %y : (tensor<3x4xf32>)
  %r = graph.subtract %x, %n : (tensor<4xf32>, tensor<3x4xf32>)
  func.return %r : tensor<3x4xf32>
}

/// -x - y has its sign on the other side.
// CHECK-LABEL: func.func @no_subtract_from_negative(
func.func @no_subtract_from_negative(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[N:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[N]], %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %n = graph.negative %x : (tensor<4xf32>)
  %r = graph.subtract %n, %y : (tensor<4xf32>, tensor<4xf32>)
  func.return %r : tensor<4xf32>
}

/// Two signs are none.
// CHECK-LABEL: func.func @product_of_negatives(
func.func @product_of_negatives(%x: tensor<4xi8>, %y: tensor<4xi8>) -> tensor<4xi8> {
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi8>
  %a = graph.negative %x : (tensor<4xi8>)
  %b = graph.negative %y : (tensor<4xi8>)
  %r = graph.multiply %a, %b : (tensor<4xi8>, tensor<4xi8>)
  func.return %r : tensor<4xi8>
}

/// One sign is one.
// CHECK-LABEL: func.func @no_product_of_one_negative(
func.func @no_product_of_one_negative(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[A]], %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %a = graph.negative %x : (tensor<4xf32>)
  %r = graph.multiply %a, %y : (tensor<4xf32>, tensor<4xf32>)
  func.return %r : tensor<4xf32>
}

/// -0.0 - 0.0 = -0.0, as the sign of 0.0.
// CHECK-LABEL: func.func @subtract_from_negative_zero(
func.func @subtract_from_negative_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full -0.0 : tensor<4xf32>
  %r = graph.subtract %k, %x : (tensor<4xf32>, tensor<4xf32>)
  func.return %r : tensor<4xf32>
}

/// Integers have one zero.
// CHECK-LABEL: func.func @subtract_from_zero_integer(
func.func @subtract_from_zero_integer(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.negative %x : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 0 : tensor<4xi32>
  %r = graph.subtract %k, %x : (tensor<4xi32>, tensor<4xi32>)
  func.return %r : tensor<4xi32>
}

/// 0.0 - 0.0 = 0.0, whose sign is that of no negative; and the zeros make the shape.
// CHECK-LABEL: func.func @no_subtract_from_zero(
func.func @no_subtract_from_zero(%x: tensor<f32>, %y: tensor<i32>) -> (tensor<f32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 0.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[K]], %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 0 : tensor<4xi32>
  // CHECK-NEXT: %[[S:.*]] = graph.subtract %[[L]], %y : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<f32>, tensor<4xi32>
  %k = graph.full 0.0 : tensor<f32>
  %r = graph.subtract %k, %x : (tensor<f32>, tensor<f32>)
  %l = graph.full 0 : tensor<4xi32>
  %s = graph.subtract %l, %y : (tensor<4xi32>, tensor<i32>)
  func.return %r, %s : tensor<f32>, tensor<4xi32>
}

/// Both are the same bits, and 2 meets other constants.
// CHECK-LABEL: func.func @add_of_itself(
func.func @add_of_itself(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 2.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[V0]] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<?x4xf32>
  %r = graph.add %x, %x : (tensor<?x4xf32>, tensor<?x4xf32>)
  func.return %r : tensor<?x4xf32>
}

/// Equal is not the same.
// CHECK-LABEL: func.func @no_add_of_two(
func.func @no_add_of_two(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %r = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>)
  func.return %r : tensor<4xf32>
}

/// A product is cheaper than a quotient.
// CHECK-LABEL: func.func @divide_by_power_of_two(
func.func @divide_by_power_of_two(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full -0.125 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full -8.0 : tensor<f32>
  %r = graph.divide %x, %k : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

/// 1/3 is rounded, 2^15 is too great for f16 to have its reciprocal as a normal number, integers truncate.
// CHECK-LABEL: func.func @no_divide_by_others(
func.func @no_divide_by_others(%x: tensor<4xf32>, %y: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 32768.0 : tensor<f32>
  // CHECK-NEXT: %[[S:.*]] = graph.divide %x, %[[L]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[M:.*]] = graph.full 2 : tensor<i32>
  // CHECK-NEXT: %[[T:.*]] = graph.divide %y, %[[M]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]], %[[S]], %[[T]] : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
  %k = graph.full 3.0 : tensor<f32>
  %r = graph.divide %x, %k : (tensor<4xf32>, tensor<f32>)
  %l = graph.full 32768.0 : tensor<f32>
  %s = graph.divide %x, %l : (tensor<4xf32>, tensor<f32>)
  %m = graph.full 2 : tensor<i32>
  %t = graph.divide %y, %m : (tensor<4xi32>, tensor<i32>)
  func.return %r, %s, %t : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}

/// Nothing fails, so nothing is lost.
// CHECK-LABEL: func.func @zero_divided_by_literal(
func.func @zero_divided_by_literal() -> tensor<3xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.full 0 : tensor<3xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<3xi32>
  %k = graph.full 0 : tensor<3xi32>
  %y = graph.constant dense<[1, -2, 3]> : tensor<3xi32>
  %r = graph.mod %k, %y : (tensor<3xi32>, tensor<3xi32>)
  func.return %r : tensor<3xi32>
}

/// 0.0 / -3.0 is -0.0.
// CHECK-LABEL: func.func @no_zero_divided_by_float(
func.func @no_zero_divided_by_float() -> tensor<3xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 0.0 : tensor<3xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.constant dense<[1.0, -3.0, 3.0]> : tensor<3xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[K]], %[[Y]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<3xf32>
  %k = graph.full 0.0 : tensor<3xf32>
  %y = graph.constant dense<[1.0, -3.0, 3.0]> : tensor<3xf32>
  %r = graph.divide %k, %y : (tensor<3xf32>, tensor<3xf32>)
  func.return %r : tensor<3xf32>
}

/// The division may fail.
// CHECK-LABEL: func.func @no_zero_divided_by_unknown(
func.func @no_zero_divided_by_unknown(%y: tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 0 : tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[K]], %y : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK-NEXT: %[[Z:.*]] = graph.constant dense<[1, 0, 3]> : tensor<3xi32>
  // CHECK-NEXT: %[[S:.*]] = graph.divide %[[K]], %[[Z]] : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<3xi32>, tensor<3xi32>
  %k = graph.full 0 : tensor<i32>
  %r = graph.divide %k, %y : (tensor<i32>, tensor<3xi32>)
  %z = graph.constant dense<[1, 0, 3]> : tensor<3xi32>
  %s = graph.divide %k, %z : (tensor<i32>, tensor<3xi32>)
  func.return %r, %s : tensor<3xi32>, tensor<3xi32>
}

/// Nothing is left.
// CHECK-LABEL: func.func @mod_of_one(
func.func @mod_of_one(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.full 0 : tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 1 : tensor<i32>
  %r = graph.mod %x, %k : (tensor<4xi32>, tensor<i32>)
  func.return %r : tensor<4xi32>
}

/// Of floats the fraction is.
// CHECK-LABEL: func.func @no_mod_of_one(
func.func @no_mod_of_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 1.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.mod %x, %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 1.0 : tensor<f32>
  %r = graph.mod %x, %k : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

/// Literals are multiplied with each other.
// CHECK-LABEL: func.func @multiply_by_constants_integer(
func.func @multiply_by_constants_integer(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[K:.*]] = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5 : tensor<i32>
  // CHECK-NEXT: %[[V0:.*]] = graph.multiply %[[K]], %[[L]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[V0]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %l = graph.full 5 : tensor<i32>
  %a = graph.multiply %x, %k : (tensor<4xi32>, tensor<4xi32>)
  %r = graph.multiply %l, %a : (tensor<i32>, tensor<4xi32>)
  func.return %r : tensor<4xi32>
}

/// And added to each other.
// CHECK-LABEL: func.func @add_of_constants_integer(
func.func @add_of_constants_integer(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[K:.*]] = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5 : tensor<i32>
  // CHECK-NEXT: %[[V0:.*]] = graph.add %[[K]], %[[L]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %x, %[[V0]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %l = graph.full 5 : tensor<i32>
  %a = graph.add %x, %k : (tensor<4xi32>, tensor<4xi32>)
  %r = graph.add %l, %a : (tensor<i32>, tensor<4xi32>)
  func.return %r : tensor<4xi32>
}

/// x - 3 - 5 = x - 8.
// CHECK-LABEL: func.func @subtract_of_constants_integer(
func.func @subtract_of_constants_integer(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5 : tensor<i32>
  // CHECK-NEXT: %[[V0:.*]] = graph.add %[[K]], %[[L]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %x, %[[V0]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 5 : tensor<i32>
  %a = graph.subtract %x, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.subtract %a, %l : (tensor<4xi32>, tensor<i32>)
  func.return %r : tensor<4xi32>
}

/// x + 3 - 5 = x + (3 - 5).
// CHECK-LABEL: func.func @subtract_after_add_integer(
func.func @subtract_after_add_integer(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5 : tensor<i32>
  // CHECK-NEXT: %[[V0:.*]] = graph.subtract %[[K]], %[[L]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %x, %[[V0]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 5 : tensor<i32>
  %a = graph.add %x, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.subtract %a, %l : (tensor<4xi32>, tensor<i32>)
  func.return %r : tensor<4xi32>
}

/// x - 3 + 5 = x + (5 - 3).
// CHECK-LABEL: func.func @add_after_subtract_integer(
func.func @add_after_subtract_integer(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5 : tensor<i32>
  // CHECK-NEXT: %[[V0:.*]] = graph.subtract %[[L]], %[[K]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %x, %[[V0]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 5 : tensor<i32>
  %a = graph.subtract %x, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.add %a, %l : (tensor<4xi32>, tensor<i32>)
  func.return %r : tensor<4xi32>
}

/// 5 - (x - 3) has x on the other side.
// CHECK-LABEL: func.func @no_subtract_from_constant(
func.func @no_subtract_from_constant(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5 : tensor<i32>
  // CHECK-NEXT: %[[A:.*]] = graph.subtract %x, %[[K]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[L]], %[[A]] : (tensor<i32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 5 : tensor<i32>
  %a = graph.subtract %x, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.subtract %l, %a : (tensor<i32>, tensor<4xi32>)
  func.return %r : tensor<4xi32>
}

/// The product comes first, so that it meets those before it: (x * 7 + 3) * 5 = x * 35 + 15.
// CHECK-LABEL: func.func @multiply_of_sum_integer(
func.func @multiply_of_sum_integer(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5 : tensor<i32>
  // CHECK-NEXT: %[[M:.*]] = graph.full 7 : tensor<i32>
  // CHECK-NEXT: %[[V0:.*]] = graph.multiply %[[M]], %[[L]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[V1:.*]] = graph.multiply %x, %[[V0]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[V2:.*]] = graph.multiply %[[K]], %[[L]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[V1]], %[[V2]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 5 : tensor<i32>
  %m = graph.full 7 : tensor<i32>
  %p = graph.multiply %x, %m : (tensor<4xi32>, tensor<i32>)
  %a = graph.add %p, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.multiply %a, %l : (tensor<4xi32>, tensor<i32>)
  func.return %r : tensor<4xi32>
}

/// The sum is needed anyway.
// CHECK-LABEL: func.func @no_multiply_of_shared_sum(
func.func @no_multiply_of_shared_sum(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5 : tensor<i32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %x, %[[K]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[A]], %[[L]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[A]], %[[R]] : tensor<4xi32>, tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 5 : tensor<i32>
  %a = graph.add %x, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.multiply %a, %l : (tensor<4xi32>, tensor<i32>)
  func.return %a, %r : tensor<4xi32>, tensor<4xi32>
}

/// x * x + 2 * (x * y) + y * y.
// CHECK-LABEL: func.func @binomial_integer(
func.func @binomial_integer(%x: tensor<4xi32>, %y: tensor<i32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.add %x, %y : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[V0]], %[[V0]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %two = graph.full 2 : tensor<i32>
  %xx = graph.multiply %x, %x : (tensor<4xi32>, tensor<4xi32>)
  %yy = graph.multiply %y, %y : (tensor<i32>, tensor<i32>)
  %xy = graph.multiply %x, %y : (tensor<4xi32>, tensor<i32>)
  %p = graph.multiply %two, %xy : (tensor<i32>, tensor<4xi32>)
  %a = graph.add %xx, %p : (tensor<4xi32>, tensor<4xi32>)
  %r = graph.add %a, %yy : (tensor<4xi32>, tensor<i32>)
  func.return %r : tensor<4xi32>
}

/// y * (x * 2) + (y * y + x * x).
// CHECK-LABEL: func.func @binomial_product_last_integer(
func.func @binomial_product_last_integer(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.add %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[V0]], %[[V0]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %xx = graph.multiply %x, %x : (tensor<4xi32>, tensor<4xi32>)
  %yy = graph.multiply %y, %y : (tensor<4xi32>, tensor<4xi32>)
  %d = graph.add %x, %x : (tensor<4xi32>, tensor<4xi32>)
  %p = graph.multiply %y, %d : (tensor<4xi32>, tensor<4xi32>)
  %a = graph.add %yy, %xx : (tensor<4xi32>, tensor<4xi32>)
  %r = graph.add %p, %a : (tensor<4xi32>, tensor<4xi32>)
  func.return %r : tensor<4xi32>
}

/// The middle is x * y once; here the number 2 makes the shape; here it is 3; and floats are rounded in another way.
// CHECK-LABEL: func.func @no_binomial(
func.func @no_binomial(%x: tensor<i32>, %y: tensor<i32>, %u: tensor<4xf32>, %v: tensor<4xf32>) -> (tensor<i32>, tensor<3xi32>, tensor<i32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[XX:.*]] = graph.multiply %x, %x : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[YY:.*]] = graph.multiply %y, %y : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[XY:.*]] = graph.multiply %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[XX]], %[[XY]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[YY]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[TWO:.*]] = graph.full 2 : tensor<3xi32>
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %[[XY]], %[[TWO]] : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK-NEXT: %[[B:.*]] = graph.add %[[XX]], %[[P]] : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK-NEXT: %[[S:.*]] = graph.add %[[B]], %[[YY]] : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  // CHECK-NEXT: %[[THREE:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[Q:.*]] = graph.multiply %[[XY]], %[[THREE]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[C:.*]] = graph.add %[[XX]], %[[Q]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[T:.*]] = graph.add %[[C]], %[[YY]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[F:.*]] = graph.full 2.0 : tensor<f32>
  // CHECK-NEXT: %[[UU:.*]] = graph.multiply %u, %u : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[VV:.*]] = graph.multiply %v, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[UV:.*]] = graph.multiply %u, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[G:.*]] = graph.multiply %[[UV]], %[[F]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[H:.*]] = graph.add %[[UU]], %[[G]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[W:.*]] = graph.add %[[H]], %[[VV]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[S]], %[[T]], %[[W]] : tensor<i32>, tensor<3xi32>, tensor<i32>, tensor<4xf32>
  %xx = graph.multiply %x, %x : (tensor<i32>, tensor<i32>)
  %yy = graph.multiply %y, %y : (tensor<i32>, tensor<i32>)
  %xy = graph.multiply %x, %y : (tensor<i32>, tensor<i32>)
  %a = graph.add %xx, %xy : (tensor<i32>, tensor<i32>)
  %r = graph.add %a, %yy : (tensor<i32>, tensor<i32>)
  %two = graph.full 2 : tensor<3xi32>
  %p = graph.multiply %xy, %two : (tensor<i32>, tensor<3xi32>)
  %b = graph.add %xx, %p : (tensor<i32>, tensor<3xi32>)
  %s = graph.add %b, %yy : (tensor<3xi32>, tensor<i32>)
  %three = graph.full 3 : tensor<i32>
  %q = graph.multiply %xy, %three : (tensor<i32>, tensor<i32>)
  %c = graph.add %xx, %q : (tensor<i32>, tensor<i32>)
  %t = graph.add %c, %yy : (tensor<i32>, tensor<i32>)
  %f = graph.full 2.0 : tensor<f32>
  %uu = graph.multiply %u, %u : (tensor<4xf32>, tensor<4xf32>)
  %vv = graph.multiply %v, %v : (tensor<4xf32>, tensor<4xf32>)
  %uv = graph.multiply %u, %v : (tensor<4xf32>, tensor<4xf32>)
  %g = graph.multiply %uv, %f : (tensor<4xf32>, tensor<f32>)
  %h = graph.add %uu, %g : (tensor<4xf32>, tensor<4xf32>)
  %w = graph.add %h, %vv : (tensor<4xf32>, tensor<4xf32>)
  func.return %r, %s, %t, %w : tensor<i32>, tensor<3xi32>, tensor<i32>, tensor<4xf32>
}

/// None of these is exact for floats.
// CHECK-LABEL: func.func @no_merged_floats(
func.func @no_merged_floats(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 5.0 : tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.subtract %x, %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.add %[[A]], %[[L]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.multiply %[[B]], %[[L]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[D:.*]] = graph.divide %[[C]], %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[E:.*]] = graph.divide %[[D]], %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[F:.*]] = graph.subtract %[[K]], %[[E]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[B]], %[[C]], %[[D]], %[[E]], %[[F]] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 5.0 : tensor<f32>
  %a = graph.subtract %x, %k : (tensor<4xf32>, tensor<f32>)
  %b = graph.add %a, %l : (tensor<4xf32>, tensor<f32>)
  %c = graph.multiply %b, %l : (tensor<4xf32>, tensor<f32>)
  %d = graph.divide %c, %k : (tensor<4xf32>, tensor<f32>)
  %e = graph.divide %d, %k : (tensor<4xf32>, tensor<f32>)
  %f = graph.subtract %k, %e : (tensor<f32>, tensor<4xf32>)
  func.return %b, %c, %d, %e, %f : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
