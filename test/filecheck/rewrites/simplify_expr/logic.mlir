// RUN: stepwell-opt %s -p 'simplify-expr{numerics="strict"}' | filecheck %s

/// x and not x = false.
// CHECK-LABEL: func.func @and_of_opposites(
func.func @and_of_opposites(%x: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.full false : tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_and %x, %0 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x or not x = x xor not x = true.
// CHECK-LABEL: func.func @or_of_opposites(
func.func @or_of_opposites(%x: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.full true : tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_or %x, %0 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x & ~x = 0.
// CHECK-LABEL: func.func @bits_and_of_opposites(
func.func @bits_and_of_opposites(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.full 0 : tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.bitwise_and %x, %0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// x | ~x = x ^ ~x = -1.
// CHECK-LABEL: func.func @bits_or_of_opposites(
func.func @bits_or_of_opposites(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.full -1 : tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.bitwise_or %x, %0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// Unsigned integers and booleans have no sign.
// CHECK-LABEL: func.func @no_bits_or_of_opposites_of_ui8(
func.func @no_bits_or_of_opposites_of_ui8(%x: tensor<4xui8>) -> tensor<4xui8> {
  // CHECK-NEXT: %[[V0:.*]] = graph.bitwise_not %x : (tensor<4xui8>) -> tensor<4xui8>
  // CHECK-NEXT: %[[R:.*]] = graph.bitwise_or %x, %[[V0]] : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xui8>
  %0 = graph.bitwise_not %x : (tensor<4xui8>) -> tensor<4xui8>
  %r = graph.bitwise_or %x, %0 : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  func.return %r : tensor<4xui8>
}

/// x & -1 = x.
// CHECK-LABEL: func.func @bits_and_with_ones(
func.func @bits_and_with_ones(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: func.return %x : tensor<4xi32>
  %0 = graph.full -1 : tensor<i32>
  %r = graph.bitwise_and %x, %0 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// x | -1 = -1.
// CHECK-LABEL: func.func @bits_or_with_ones(
func.func @bits_or_with_ones(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.full -1 : tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.full -1 : tensor<i32>
  %r = graph.bitwise_or %x, %0 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// x ^ -1 = ~x.
// CHECK-LABEL: func.func @bits_xor_with_ones(
func.func @bits_xor_with_ones(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.full -1 : tensor<i32>
  %r = graph.bitwise_xor %x, %0 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_bits_xor_with_ones_that_stretches(
func.func @no_bits_xor_with_ones_that_stretches(%x: tensor<1xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full -1 : tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.bitwise_xor %x, %[[V0]] : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.full -1 : tensor<4xi32>
  %r = graph.bitwise_xor %x, %0 : (tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// x and (x or y) = x.
// CHECK-LABEL: func.func @absorbed_by_and(
func.func @absorbed_by_and(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: func.return %x : tensor<4xi1>
  %0 = graph.logical_or %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_and %x, %0 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x or (x and y) = x.
// CHECK-LABEL: func.func @absorbed_by_or(
func.func @absorbed_by_or(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: func.return %x : tensor<4xi1>
  %0 = graph.logical_and %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_or %x, %0 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x & (x | y) = x.
// CHECK-LABEL: func.func @bits_absorbed_by_and(
func.func @bits_absorbed_by_and(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: func.return %x : tensor<4xi32>
  %0 = graph.bitwise_or %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.bitwise_and %x, %0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// x | (x & y) = x.
// CHECK-LABEL: func.func @bits_absorbed_by_or(
func.func @bits_absorbed_by_or(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: func.return %x : tensor<4xi32>
  %0 = graph.bitwise_and %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = graph.bitwise_or %x, %0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// x and (not x or y) = x and y.
// CHECK-LABEL: func.func @and_without_opposite(
func.func @and_without_opposite(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.logical_and %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  %inner = graph.logical_or %0, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_and %x, %inner : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_and_without_opposite_of_shared_inner(
func.func @no_and_without_opposite_of_shared_inner(%x: tensor<4xi1>, %y: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[INNER:.*]] = graph.logical_or %[[V0]], %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_and %x, %[[INNER]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xi1>, tensor<4xi1>
  %0 = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  %inner = graph.logical_or %0, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_and %x, %inner : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %inner : tensor<4xi1>, tensor<4xi1>
}

/// x or (not x and y) = x or y.
// CHECK-LABEL: func.func @or_without_opposite(
func.func @or_without_opposite(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.logical_or %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %0 = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  %inner = graph.logical_and %0, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_or %x, %inner : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// `%inner` is needed anyway.
// CHECK-LABEL: func.func @no_or_without_opposite_of_shared_inner(
func.func @no_or_without_opposite_of_shared_inner(%x: tensor<4xi1>, %y: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[INNER:.*]] = graph.logical_and %[[V0]], %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_or %x, %[[INNER]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[INNER]] : tensor<4xi1>, tensor<4xi1>
  %0 = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  %inner = graph.logical_and %0, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_or %x, %inner : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %inner : tensor<4xi1>, tensor<4xi1>
}

/// f(x, f(x, y)) = f(x, y) for and, or, max and min.
// CHECK-LABEL: func.func @once_is_enough(
func.func @once_is_enough(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[INNER:.*]] = graph.logical_and %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[INNER]] : tensor<4xi1>
  %inner = graph.logical_and %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_and %x, %inner : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// x xor (x xor y) = y.
// CHECK-LABEL: func.func @xor_there_and_back(
func.func @xor_there_and_back(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: func.return %y : tensor<4xi1>
  %0 = graph.logical_xor %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_xor %x, %0 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// (x xor z) xor (y xor z) = x xor y.
// CHECK-LABEL: func.func @xor_of_xors(
func.func @xor_of_xors(%x: tensor<4xi1>, %z: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[R:.*]] = graph.logical_xor %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %first = graph.logical_xor %x, %z : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %second = graph.logical_xor %y, %z : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_xor %first, %second : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// The result has another shape.
// CHECK-LABEL: func.func @no_xor_of_xors_that_stretches(
func.func @no_xor_of_xors_that_stretches(%x: tensor<1xi1>, %z: tensor<4xi1>, %y: tensor<1xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[FIRST:.*]] = graph.logical_xor %x, %z : (tensor<1xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[SECOND:.*]] = graph.logical_xor %y, %z : (tensor<1xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_xor %[[FIRST]], %[[SECOND]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %first = graph.logical_xor %x, %z : (tensor<1xi1>, tensor<4xi1>) -> tensor<4xi1>
  %second = graph.logical_xor %y, %z : (tensor<1xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_xor %first, %second : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// `%first` is needed anyway.
// CHECK-LABEL: func.func @no_xor_of_xors_of_shared_first(
func.func @no_xor_of_xors_of_shared_first(%x: tensor<4xi1>, %z: tensor<4xi1>, %y: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[FIRST:.*]] = graph.logical_xor %x, %z : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[SECOND:.*]] = graph.logical_xor %y, %z : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_xor %[[FIRST]], %[[SECOND]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[FIRST]] : tensor<4xi1>, tensor<4xi1>
  %first = graph.logical_xor %x, %z : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %second = graph.logical_xor %y, %z : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_xor %first, %second : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %first : tensor<4xi1>, tensor<4xi1>
}

/// `%second` is needed anyway.
// CHECK-LABEL: func.func @no_xor_of_xors_of_shared_second(
func.func @no_xor_of_xors_of_shared_second(%x: tensor<4xi1>, %z: tensor<4xi1>, %y: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[FIRST:.*]] = graph.logical_xor %x, %z : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[SECOND:.*]] = graph.logical_xor %y, %z : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_xor %[[FIRST]], %[[SECOND]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[SECOND]] : tensor<4xi1>, tensor<4xi1>
  %first = graph.logical_xor %x, %z : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %second = graph.logical_xor %y, %z : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_xor %first, %second : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %second : tensor<4xi1>, tensor<4xi1>
}

/// not x and not y = not (x or y).
// CHECK-LABEL: func.func @and_of_nots(
func.func @and_of_nots(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[V0:.*]] = graph.logical_or %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_not %[[V0]] : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %p = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  %q = graph.logical_not %y : (tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_and %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_and_of_nots_of_shared_p(
func.func @no_and_of_nots_of_shared_p(%x: tensor<4xi1>, %y: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[P:.*]] = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[Q:.*]] = graph.logical_not %y : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_and %[[P]], %[[Q]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xi1>, tensor<4xi1>
  %p = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  %q = graph.logical_not %y : (tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_and %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %p : tensor<4xi1>, tensor<4xi1>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_and_of_nots_of_shared_q(
func.func @no_and_of_nots_of_shared_q(%x: tensor<4xi1>, %y: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[P:.*]] = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[Q:.*]] = graph.logical_not %y : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_and %[[P]], %[[Q]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xi1>, tensor<4xi1>
  %p = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  %q = graph.logical_not %y : (tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_and %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %q : tensor<4xi1>, tensor<4xi1>
}

/// not x or not y = not (x and y).
// CHECK-LABEL: func.func @or_of_nots(
func.func @or_of_nots(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK-NEXT: %[[V0:.*]] = graph.logical_and %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_not %[[V0]] : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi1>
  %p = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  %q = graph.logical_not %y : (tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_or %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_or_of_nots_of_shared_p(
func.func @no_or_of_nots_of_shared_p(%x: tensor<4xi1>, %y: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[P:.*]] = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[Q:.*]] = graph.logical_not %y : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_or %[[P]], %[[Q]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xi1>, tensor<4xi1>
  %p = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  %q = graph.logical_not %y : (tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_or %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %p : tensor<4xi1>, tensor<4xi1>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_or_of_nots_of_shared_q(
func.func @no_or_of_nots_of_shared_q(%x: tensor<4xi1>, %y: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-NEXT: %[[P:.*]] = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[Q:.*]] = graph.logical_not %y : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: %[[R:.*]] = graph.logical_or %[[P]], %[[Q]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xi1>, tensor<4xi1>
  %p = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  %q = graph.logical_not %y : (tensor<4xi1>) -> tensor<4xi1>
  %r = graph.logical_or %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r, %q : tensor<4xi1>, tensor<4xi1>
}

/// ~x & ~y = ~(x | y).
// CHECK-LABEL: func.func @bits_and_of_nots(
func.func @bits_and_of_nots(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.bitwise_or %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.bitwise_not %[[V0]] : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %p = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  %q = graph.bitwise_not %y : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.bitwise_and %p, %q : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_bits_and_of_nots_of_shared_p(
func.func @no_bits_and_of_nots_of_shared_p(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[Q:.*]] = graph.bitwise_not %y : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.bitwise_and %[[P]], %[[Q]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xi32>, tensor<4xi32>
  %p = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  %q = graph.bitwise_not %y : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.bitwise_and %p, %q : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r, %p : tensor<4xi32>, tensor<4xi32>
}

/// `%q` is needed anyway.
// CHECK-LABEL: func.func @no_bits_and_of_nots_of_shared_q(
func.func @no_bits_and_of_nots_of_shared_q(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[Q:.*]] = graph.bitwise_not %y : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.bitwise_and %[[P]], %[[Q]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]], %[[Q]] : tensor<4xi32>, tensor<4xi32>
  %p = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  %q = graph.bitwise_not %y : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.bitwise_and %p, %q : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r, %q : tensor<4xi32>, tensor<4xi32>
}

/// ~x | ~y = ~(x & y).
// CHECK-LABEL: func.func @bits_or_of_nots(
func.func @bits_or_of_nots(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.bitwise_and %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.bitwise_not %[[V0]] : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %p = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  %q = graph.bitwise_not %y : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.bitwise_or %p, %q : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// `%p` is needed anyway.
// CHECK-LABEL: func.func @no_bits_or_of_nots_of_shared_p(
func.func @no_bits_or_of_nots_of_shared_p(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[P:.*]] = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[Q:.*]] = graph.bitwise_not %y : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.bitwise_or %[[P]], %[[Q]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]], %[[P]] : tensor<4xi32>, tensor<4xi32>
  %p = graph.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
  %q = graph.bitwise_not %y : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.bitwise_or %p, %q : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r, %p : tensor<4xi32>, tensor<4xi32>
}
