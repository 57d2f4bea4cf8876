// RUN: stepwell-opt %s -p 'simplify-expr{numerics="strict"}' | filecheck %s

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_bits_or_of_nots_of_shared_q(
func.func @no_bits_or_of_nots_of_shared_q(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[Q:.*]] = graph.bitwise_not %y : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.bitwise_or %[[P]], %[[Q]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xi32>, tensor<4xi32>
  %p = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  %q = graph.bitwise_not %y : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.bitwise_or %p, %q : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r, %q : tensor<4xi32>, tensor<4xi32>
}

/// not x xor not y = x xor y.
// CHECK-LABEL: func.func @xor_of_nots(
func.func @xor_of_nots(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.logical_xor %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  %1 = graph.logical_not %y : (tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_xor %0, %1 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// ~x ^ ~y = x ^ y.
// CHECK-LABEL: func.func @bits_xor_of_nots(
func.func @bits_xor_of_nots(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.bitwise_xor %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  %1 = graph.bitwise_not %y : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.bitwise_xor %0, %1 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// x xor true = not x.
// CHECK-LABEL: func.func @xor_with_true(
func.func @xor_with_true(%x: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.full true : tensor<i1>
  %r = graph.logical_xor %x, %0 : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_xor_with_true_that_stretches(
func.func @no_xor_with_true_that_stretches(%x: tensor<1xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full true : tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_xor %x, %[[V0]] : (tensor<1xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.full true : tensor<4xi1>
  %r = graph.logical_xor %x, %0 : (tensor<1xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// -(~x) = x + 1.
// CHECK-LABEL: func.func @negative_of_bits(
func.func @negative_of_bits(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 1 : tensor<i32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %x, %[[V0]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %inner = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.negative %inner : (tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_negative_of_bits_of_shared_inner(
func.func @no_negative_of_bits_of_shared_inner(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[INNER:.*]] = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.negative %[[INNER]] : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xi32>, tensor<4xi32>
  %inner = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.negative %inner : (tensor<4xi32>) -> tensor<4xi32>
  func.return %r, %inner : tensor<4xi32>, tensor<4xi32>
}
