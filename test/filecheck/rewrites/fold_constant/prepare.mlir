// RUN: stepwell-opt %s -p 'fold-constant{max-elements=4}' | filecheck %s

/// A transposed weight is computed once per set of weights. The second chain is a group of its own; what two groups share joins them.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x6xf32>, tensor<6x8xf32>, tensor<6x8xf32>) {
  // CHECK-NEXT: %[[T:.*]] = func.call @prepare_0() : () -> tensor<8x6xf32>
  // CHECK-NEXT: %[[E:.*]], %[[F:.*]] = func.call @prepare_2() : () -> (tensor<6x8xf32>, tensor<6x8xf32>)
  // CHECK-NEXT: %[[Y:.*]] = graph.matmul %x, %[[T]] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  // CHECK-NEXT: func.return %[[Y]], %[[E]], %[[F]] : tensor<4x6xf32>, tensor<6x8xf32>, tensor<6x8xf32>
  %w = graph.weight "w" : tensor<6x8xf32>
  %t = graph.permute_dims %w : (tensor<6x8xf32>) -> tensor<8x6xf32>
  %y = graph.matmul %x, %t : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %v = graph.weight "v" : tensor<6x8xf32>
  %two = graph.full 2.0 : tensor<f32>
  %s = graph.multiply %v, %two : (tensor<6x8xf32>, tensor<f32>) -> tensor<6x8xf32>
  %e = graph.exp %s : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %f = graph.sqrt %s : (tensor<6x8xf32>) -> tensor<6x8xf32>
  func.return %y, %e, %f : tensor<4x6xf32>, tensor<6x8xf32>, tensor<6x8xf32>
}

/// A weight as it is needs no function; one that is stretched is cheaper to stretch again.
// CHECK-LABEL: func.func @no_plain_weight(
func.func @no_plain_weight(%x: tensor<4x8xf32>) -> (tensor<8xf32>, tensor<100x8xf32>) {
  // CHECK-NEXT: %[[W:.*]] = graph.weight "b" : tensor<8xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast_to %[[W]], shape = [100, 8] : (tensor<8xf32>) -> tensor<100x8xf32>
  // CHECK-NEXT: func.return %[[W]], %[[B]] : tensor<8xf32>, tensor<100x8xf32>
  %w = graph.weight "b" : tensor<8xf32>
  %b = graph.broadcast_to %w, shape = [100, 8] : (tensor<8xf32>) -> tensor<100x8xf32>
  func.return %w, %b : tensor<8xf32>, tensor<100x8xf32>
}

/// What may fail is not computed before it is needed.
// CHECK-LABEL: func.func @no_failure(
func.func @no_failure(%x: tensor<4x8xf32>) -> tensor<5xi64> {
  // CHECK-NEXT: %[[W:.*]] = graph.weight "i" : tensor<5xi64>
  // CHECK-NEXT: %[[Z:.*]] = graph.weight "j" : tensor<5xi64>
  // CHECK-NEXT: %[[D:.*]] = graph.divide %[[W]], %[[Z]] : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi64>
  // CHECK-NEXT: func.return %[[D]] : tensor<5xi64>
  %w = graph.weight "i" : tensor<5xi64>
  %z = graph.weight "j" : tensor<5xi64>
  %d = graph.divide %w, %z : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi64>
  func.return %d : tensor<5xi64>
}

/// Constant indices that are in range cannot fail.
// CHECK-LABEL: func.func @indices_inside(
func.func @indices_inside() -> (tensor<4xf32>, tensor<9x2xf32>, tensor<9x2xf32>) {
  // CHECK-NEXT: %[[G:.*]] = func.call @prepare_{{[0-9]+}}() : () -> tensor<4xf32>
  // CHECK-NEXT: %[[S:.*]] = func.call @prepare_{{[0-9]+}}() : () -> tensor<9x2xf32>
  // CHECK-NEXT: %[[E:.*]] = func.call @prepare_{{[0-9]+}}() : () -> tensor<9x2xf32>
  // CHECK-NEXT: func.return %[[G]], %[[S]], %[[E]] : tensor<4xf32>, tensor<9x2xf32>, tensor<9x2xf32>
  %w = graph.weight "m" : tensor<9x2xf32>
  %i = graph.constant dense<[[8, 1], [-9, -2], [0, 0], [3, 1]]> : tensor<4x2xi64>
  %g = graph.gather_nd %w, %i : (tensor<9x2xf32>, tensor<4x2xi64>) -> tensor<4xf32>
  %j = graph.constant dense<[[2], [0]]> : tensor<2x1xi64>
  %u = graph.weight "n" : tensor<2x2xf32>
  %s = graph.scatter_nd %w, %j, %u : (tensor<9x2xf32>, tensor<2x1xi64>, tensor<2x2xf32>) -> tensor<9x2xf32>
  %k = graph.constant dense<[[8, -9], [0, 1]]> : tensor<2x2xi64>
  %e = graph.scatter_elements %w, %k, %u, axis = 0 : (tensor<9x2xf32>, tensor<2x2xi64>, tensor<2x2xf32>) -> tensor<9x2xf32>
  func.return %g, %s, %e : tensor<4xf32>, tensor<9x2xf32>, tensor<9x2xf32>
}

/// 2 is outside of the second dimension, so the op may fail. What a weight holds is not known.
// CHECK-LABEL: func.func @no_indices_outside(
func.func @no_indices_outside() -> (tensor<2xf32>, tensor<5x2xf32>) {
  // CHECK: graph.gather_nd
  // CHECK: graph.take
  %w = graph.weight "m" : tensor<9x2xf32>
  %i = graph.constant dense<[[8, 1], [0, 2]]> : tensor<2x2xi64>
  %g = graph.gather_nd %w, %i : (tensor<9x2xf32>, tensor<2x2xi64>) -> tensor<2xf32>
  %j = graph.weight "i" : tensor<5xi64>
  %t = graph.take %w, %j, axis = 0 : (tensor<9x2xf32>, tensor<5xi64>) -> tensor<5x2xf32>
  func.return %g, %t : tensor<2xf32>, tensor<5x2xf32>
}

/// A name that is taken is not used again.
// CHECK-LABEL: func.func private @prepare_1(
func.func private @prepare_1() -> tensor<5xf32> attributes {stepwell.prepare} {
  // CHECK-NEXT: %[[W:.*]] = graph.weight "k" : tensor<5xf32>
  // CHECK-NEXT: %[[E:.*]] = graph.exp %[[W]] : (tensor<5xf32>) -> tensor<5xf32>
  // CHECK-NEXT: func.return %[[E]] : tensor<5xf32>
  %w = graph.weight "k" : tensor<5xf32>
  %e = graph.exp %w : (tensor<5xf32>) -> tensor<5xf32>
  func.return %e : tensor<5xf32>
}

// CHECK-LABEL: func.func private @prepare_0(
// CHECK-SAME: attributes {stepwell.prepare} {
// CHECK-NEXT: %[[W:.*]] = graph.weight "w" : tensor<6x8xf32>
// CHECK-NEXT: %[[T:.*]] = graph.permute_dims %[[W]] : (tensor<6x8xf32>) -> tensor<8x6xf32>
// CHECK-NEXT: func.return %[[T]] : tensor<8x6xf32>

// CHECK-LABEL: func.func private @prepare_2(
// CHECK-SAME: attributes {stepwell.prepare} {
// CHECK-NEXT: %[[V:.*]] = graph.weight "v" : tensor<6x8xf32>
// CHECK-NEXT: %[[TWO:.*]] = graph.full 2.0 : tensor<f32>
// CHECK-NEXT: %[[S:.*]] = graph.multiply %[[V]], %[[TWO]] : (tensor<6x8xf32>, tensor<f32>) -> tensor<6x8xf32>
// CHECK-NEXT: %[[E:.*]] = graph.exp %[[S]] : (tensor<6x8xf32>) -> tensor<6x8xf32>
// CHECK-NEXT: %[[F:.*]] = graph.sqrt %[[S]] : (tensor<6x8xf32>) -> tensor<6x8xf32>
// CHECK-NEXT: func.return %[[E]], %[[F]] : tensor<6x8xf32>, tensor<6x8xf32>
