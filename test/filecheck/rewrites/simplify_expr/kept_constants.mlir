// RUN: stepwell-opt %s -p 'simplify-expr{numerics="strict"}' | filecheck %s

// What looks like the rules on constants that meet, and is none of theirs.

// Floats are rounded after each op.

// CHECK-LABEL: func.func @no_merge_multiply_of_multiply(
func.func @no_merge_multiply_of_multiply(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7.0 : tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.multiply %x, %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[A]], %[[L]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 7.0 : tensor<f32>
  %a = graph.multiply %x, %k : (tensor<4xf32>, tensor<f32>)
  %r = graph.multiply %a, %l : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_merge_add_of_add(
func.func @no_merge_add_of_add(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7.0 : tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %x, %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[L]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 7.0 : tensor<f32>
  %a = graph.add %x, %k : (tensor<4xf32>, tensor<f32>)
  %r = graph.add %a, %l : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_merge_subtract_of_subtract(
func.func @no_merge_subtract_of_subtract(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7.0 : tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.subtract %x, %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[A]], %[[L]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 7.0 : tensor<f32>
  %a = graph.subtract %x, %k : (tensor<4xf32>, tensor<f32>)
  %r = graph.subtract %a, %l : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_merge_subtract_of_add(
func.func @no_merge_subtract_of_add(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7.0 : tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %x, %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[A]], %[[L]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 7.0 : tensor<f32>
  %a = graph.add %x, %k : (tensor<4xf32>, tensor<f32>)
  %r = graph.subtract %a, %l : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_merge_add_of_subtract(
func.func @no_merge_add_of_subtract(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7.0 : tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.subtract %x, %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[L]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 7.0 : tensor<f32>
  %a = graph.subtract %x, %k : (tensor<4xf32>, tensor<f32>)
  %r = graph.add %a, %l : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_merge_multiply_of_add(
func.func @no_merge_multiply_of_add(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7.0 : tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %x, %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[A]], %[[L]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 7.0 : tensor<f32>
  %a = graph.add %x, %k : (tensor<4xf32>, tensor<f32>)
  %r = graph.multiply %a, %l : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_merge_divide_of_divide(
func.func @no_merge_divide_of_divide(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7.0 : tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.divide %x, %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[A]], %[[L]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 7.0 : tensor<f32>
  %a = graph.divide %x, %k : (tensor<4xf32>, tensor<f32>)
  %r = graph.divide %a, %l : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_merge_divide_of_multiply(
func.func @no_merge_divide_of_multiply(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7.0 : tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.multiply %x, %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %[[A]], %[[L]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 7.0 : tensor<f32>
  %a = graph.multiply %x, %k : (tensor<4xf32>, tensor<f32>)
  %r = graph.divide %a, %l : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_merge_multiply_of_divide(
func.func @no_merge_multiply_of_divide(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7.0 : tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.divide %x, %[[K]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[A]], %[[L]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<f32>
  %l = graph.full 7.0 : tensor<f32>
  %a = graph.divide %x, %k : (tensor<4xf32>, tensor<f32>)
  %r = graph.multiply %a, %l : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}

// The inner op is needed anyway.

// CHECK-LABEL: func.func @no_shared_multiply_of_multiply(
func.func @no_shared_multiply_of_multiply(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7 : tensor<i32>
  // CHECK-NEXT: %[[A:.*]] = graph.multiply %x, %[[K]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[A]], %[[L]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[A]], %[[R]] : tensor<4xi32>, tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 7 : tensor<i32>
  %a = graph.multiply %x, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.multiply %a, %l : (tensor<4xi32>, tensor<i32>)
  func.return %a, %r : tensor<4xi32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @no_shared_add_of_add(
func.func @no_shared_add_of_add(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7 : tensor<i32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %x, %[[K]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[L]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[A]], %[[R]] : tensor<4xi32>, tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 7 : tensor<i32>
  %a = graph.add %x, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.add %a, %l : (tensor<4xi32>, tensor<i32>)
  func.return %a, %r : tensor<4xi32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @no_shared_subtract_of_subtract(
func.func @no_shared_subtract_of_subtract(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7 : tensor<i32>
  // CHECK-NEXT: %[[A:.*]] = graph.subtract %x, %[[K]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[A]], %[[L]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[A]], %[[R]] : tensor<4xi32>, tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 7 : tensor<i32>
  %a = graph.subtract %x, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.subtract %a, %l : (tensor<4xi32>, tensor<i32>)
  func.return %a, %r : tensor<4xi32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @no_shared_subtract_of_add(
func.func @no_shared_subtract_of_add(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7 : tensor<i32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %x, %[[K]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[A]], %[[L]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[A]], %[[R]] : tensor<4xi32>, tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 7 : tensor<i32>
  %a = graph.add %x, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.subtract %a, %l : (tensor<4xi32>, tensor<i32>)
  func.return %a, %r : tensor<4xi32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @no_shared_add_of_subtract(
func.func @no_shared_add_of_subtract(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7 : tensor<i32>
  // CHECK-NEXT: %[[A:.*]] = graph.subtract %x, %[[K]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[L]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[A]], %[[R]] : tensor<4xi32>, tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 7 : tensor<i32>
  %a = graph.subtract %x, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.add %a, %l : (tensor<4xi32>, tensor<i32>)
  func.return %a, %r : tensor<4xi32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @no_shared_multiply_of_add(
func.func @no_shared_multiply_of_add(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7 : tensor<i32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %x, %[[K]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[A]], %[[L]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[A]], %[[R]] : tensor<4xi32>, tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 7 : tensor<i32>
  %a = graph.add %x, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.multiply %a, %l : (tensor<4xi32>, tensor<i32>)
  func.return %a, %r : tensor<4xi32>, tensor<4xi32>
}

// Three literals are the business of fold-constant.

// CHECK-LABEL: func.func @no_literal_multiply_of_multiply(
func.func @no_literal_multiply_of_multiply() -> tensor<4xi32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7 : tensor<i32>
  // CHECK-NEXT: %[[X:.*]] = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  // CHECK-NEXT: %[[A:.*]] = graph.multiply %[[X]], %[[K]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[A]], %[[L]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 7 : tensor<i32>
  %x = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %a = graph.multiply %x, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.multiply %a, %l : (tensor<4xi32>, tensor<i32>)
  func.return %r : tensor<4xi32>
}

// CHECK-LABEL: func.func @no_literal_add_of_add(
func.func @no_literal_add_of_add() -> tensor<4xi32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7 : tensor<i32>
  // CHECK-NEXT: %[[X:.*]] = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[X]], %[[K]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[L]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 7 : tensor<i32>
  %x = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %a = graph.add %x, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.add %a, %l : (tensor<4xi32>, tensor<i32>)
  func.return %r : tensor<4xi32>
}

// CHECK-LABEL: func.func @no_literal_subtract_of_subtract(
func.func @no_literal_subtract_of_subtract() -> tensor<4xi32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7 : tensor<i32>
  // CHECK-NEXT: %[[X:.*]] = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  // CHECK-NEXT: %[[A:.*]] = graph.subtract %[[X]], %[[K]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[A]], %[[L]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 7 : tensor<i32>
  %x = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %a = graph.subtract %x, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.subtract %a, %l : (tensor<4xi32>, tensor<i32>)
  func.return %r : tensor<4xi32>
}

// CHECK-LABEL: func.func @no_literal_subtract_of_add(
func.func @no_literal_subtract_of_add() -> tensor<4xi32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7 : tensor<i32>
  // CHECK-NEXT: %[[X:.*]] = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[X]], %[[K]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[A]], %[[L]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 7 : tensor<i32>
  %x = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %a = graph.add %x, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.subtract %a, %l : (tensor<4xi32>, tensor<i32>)
  func.return %r : tensor<4xi32>
}

// CHECK-LABEL: func.func @no_literal_add_of_subtract(
func.func @no_literal_add_of_subtract() -> tensor<4xi32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7 : tensor<i32>
  // CHECK-NEXT: %[[X:.*]] = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  // CHECK-NEXT: %[[A:.*]] = graph.subtract %[[X]], %[[K]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[L]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 7 : tensor<i32>
  %x = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %a = graph.subtract %x, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.add %a, %l : (tensor<4xi32>, tensor<i32>)
  func.return %r : tensor<4xi32>
}

// CHECK-LABEL: func.func @no_literal_multiply_of_add(
func.func @no_literal_multiply_of_add() -> tensor<4xi32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full 3 : tensor<i32>
  // CHECK-NEXT: %[[L:.*]] = graph.full 7 : tensor<i32>
  // CHECK-NEXT: %[[X:.*]] = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[X]], %[[K]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %[[A]], %[[L]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %k = graph.full 3 : tensor<i32>
  %l = graph.full 7 : tensor<i32>
  %x = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %a = graph.add %x, %k : (tensor<4xi32>, tensor<i32>)
  %r = graph.multiply %a, %l : (tensor<4xi32>, tensor<i32>)
  func.return %r : tensor<4xi32>
}

// The number 2 makes the shape; the inner sum is needed anyway; floats.

// CHECK-LABEL: func.func @no_binomial_of_other_shape_first(
func.func @no_binomial_of_other_shape_first(%x: tensor<i32>, %y: tensor<i32>) -> tensor<3xi32> {
  // CHECK-NEXT: %[[TWO:.*]] = graph.full 2 : tensor<3xi32>
  // CHECK-NEXT: %[[XX:.*]] = graph.multiply %x, %x : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[YY:.*]] = graph.multiply %y, %y : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[XY:.*]] = graph.multiply %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %[[XY]], %[[TWO]] : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[XX]], %[[P]] : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[YY]] : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<3xi32>
  %two = graph.full 2 : tensor<3xi32>
  %xx = graph.multiply %x, %x : (tensor<i32>, tensor<i32>)
  %yy = graph.multiply %y, %y : (tensor<i32>, tensor<i32>)
  %xy = graph.multiply %x, %y : (tensor<i32>, tensor<i32>)
  %p = graph.multiply %xy, %two : (tensor<i32>, tensor<3xi32>)
  %a = graph.add %xx, %p : (tensor<i32>, tensor<3xi32>)
  %r = graph.add %a, %yy : (tensor<3xi32>, tensor<i32>)
  func.return %r : tensor<3xi32>
}

// CHECK-LABEL: func.func @no_shared_binomial_first(
func.func @no_shared_binomial_first(%x: tensor<i32>, %y: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  // CHECK-NEXT: %[[TWO:.*]] = graph.full 2 : tensor<i32>
  // CHECK-NEXT: %[[XX:.*]] = graph.multiply %x, %x : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[YY:.*]] = graph.multiply %y, %y : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[XY:.*]] = graph.multiply %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %[[XY]], %[[TWO]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[XX]], %[[P]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[YY]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: func.return %[[A]], %[[R]] : tensor<i32>, tensor<i32>
  %two = graph.full 2 : tensor<i32>
  %xx = graph.multiply %x, %x : (tensor<i32>, tensor<i32>)
  %yy = graph.multiply %y, %y : (tensor<i32>, tensor<i32>)
  %xy = graph.multiply %x, %y : (tensor<i32>, tensor<i32>)
  %p = graph.multiply %xy, %two : (tensor<i32>, tensor<i32>)
  %a = graph.add %xx, %p : (tensor<i32>, tensor<i32>)
  %r = graph.add %a, %yy : (tensor<i32>, tensor<i32>)
  func.return %a, %r : tensor<i32>, tensor<i32>
}

// CHECK-LABEL: func.func @no_binomial_of_floats_first(
func.func @no_binomial_of_floats_first(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: %[[TWO:.*]] = graph.full 2.0 : tensor<f32>
  // CHECK-NEXT: %[[XX:.*]] = graph.multiply %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[YY:.*]] = graph.multiply %y, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[XY:.*]] = graph.multiply %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %[[XY]], %[[TWO]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[XX]], %[[P]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[YY]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: func.return %[[R]] : tensor<f32>
  %two = graph.full 2.0 : tensor<f32>
  %xx = graph.multiply %x, %x : (tensor<f32>, tensor<f32>)
  %yy = graph.multiply %y, %y : (tensor<f32>, tensor<f32>)
  %xy = graph.multiply %x, %y : (tensor<f32>, tensor<f32>)
  %p = graph.multiply %xy, %two : (tensor<f32>, tensor<f32>)
  %a = graph.add %xx, %p : (tensor<f32>, tensor<f32>)
  %r = graph.add %a, %yy : (tensor<f32>, tensor<f32>)
  func.return %r : tensor<f32>
}

// CHECK-LABEL: func.func @no_binomial_of_other_shape_last(
func.func @no_binomial_of_other_shape_last(%x: tensor<i32>, %y: tensor<i32>) -> tensor<3xi32> {
  // CHECK-NEXT: %[[TWO:.*]] = graph.full 2 : tensor<3xi32>
  // CHECK-NEXT: %[[XX:.*]] = graph.multiply %x, %x : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[YY:.*]] = graph.multiply %y, %y : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[XY:.*]] = graph.multiply %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %[[XY]], %[[TWO]] : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[XX]], %[[YY]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[P]] : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<3xi32>
  %two = graph.full 2 : tensor<3xi32>
  %xx = graph.multiply %x, %x : (tensor<i32>, tensor<i32>)
  %yy = graph.multiply %y, %y : (tensor<i32>, tensor<i32>)
  %xy = graph.multiply %x, %y : (tensor<i32>, tensor<i32>)
  %p = graph.multiply %xy, %two : (tensor<i32>, tensor<3xi32>)
  %a = graph.add %xx, %yy : (tensor<i32>, tensor<i32>)
  %r = graph.add %a, %p : (tensor<i32>, tensor<3xi32>)
  func.return %r : tensor<3xi32>
}

// CHECK-LABEL: func.func @no_shared_binomial_last(
func.func @no_shared_binomial_last(%x: tensor<i32>, %y: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  // CHECK-NEXT: %[[TWO:.*]] = graph.full 2 : tensor<i32>
  // CHECK-NEXT: %[[XX:.*]] = graph.multiply %x, %x : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[YY:.*]] = graph.multiply %y, %y : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[XY:.*]] = graph.multiply %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %[[XY]], %[[TWO]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[XX]], %[[YY]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[P]] : (tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK-NEXT: func.return %[[A]], %[[R]] : tensor<i32>, tensor<i32>
  %two = graph.full 2 : tensor<i32>
  %xx = graph.multiply %x, %x : (tensor<i32>, tensor<i32>)
  %yy = graph.multiply %y, %y : (tensor<i32>, tensor<i32>)
  %xy = graph.multiply %x, %y : (tensor<i32>, tensor<i32>)
  %p = graph.multiply %xy, %two : (tensor<i32>, tensor<i32>)
  %a = graph.add %xx, %yy : (tensor<i32>, tensor<i32>)
  %r = graph.add %a, %p : (tensor<i32>, tensor<i32>)
  func.return %a, %r : tensor<i32>, tensor<i32>
}

// CHECK-LABEL: func.func @no_binomial_of_floats_last(
func.func @no_binomial_of_floats_last(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: %[[TWO:.*]] = graph.full 2.0 : tensor<f32>
  // CHECK-NEXT: %[[XX:.*]] = graph.multiply %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[YY:.*]] = graph.multiply %y, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[XY:.*]] = graph.multiply %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[P:.*]] = graph.multiply %[[XY]], %[[TWO]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[XX]], %[[YY]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %[[A]], %[[P]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: func.return %[[R]] : tensor<f32>
  %two = graph.full 2.0 : tensor<f32>
  %xx = graph.multiply %x, %x : (tensor<f32>, tensor<f32>)
  %yy = graph.multiply %y, %y : (tensor<f32>, tensor<f32>)
  %xy = graph.multiply %x, %y : (tensor<f32>, tensor<f32>)
  %p = graph.multiply %xy, %two : (tensor<f32>, tensor<f32>)
  %a = graph.add %xx, %yy : (tensor<f32>, tensor<f32>)
  %r = graph.add %a, %p : (tensor<f32>, tensor<f32>)
  func.return %r : tensor<f32>
}
