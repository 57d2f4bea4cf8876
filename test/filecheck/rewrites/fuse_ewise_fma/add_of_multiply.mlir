// RUN: stepwell-opt %s -p fuse-ewise-fma | filecheck %s

/// x * y + z with the product on either side; what is left of it goes.
// CHECK-LABEL: func.func @add_of_multiply(
func.func @add_of_multiply(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[B:.*]] = graph.ewise_fma %x, %y, %y : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[D:.*]] = graph.ewise_fma %[[B]], %[[B]], %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[D]] : tensor<4xf32>
  %a = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.add %a, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = graph.multiply %b, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = graph.add %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %d : tensor<4xf32>
}

/// Shapes broadcast as before.
// CHECK-LABEL: func.func @broadcasting(
func.func @broadcasting(%x: tensor<4x1xf32>, %y: tensor<3xf32>, %z: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  // CHECK-NEXT: %[[B:.*]] = graph.ewise_fma %x, %y, %z : (tensor<4x1xf32>, tensor<3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  // CHECK-NEXT: func.return %[[B]] : tensor<2x4x3xf32>
  %a = graph.multiply %x, %y : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %b = graph.add %z, %a : (tensor<2x4x3xf32>, tensor<4x3xf32>) -> tensor<2x4x3xf32>
  func.return %b : tensor<2x4x3xf32>
}

/// A product that somebody else needs would be computed twice.
// CHECK-LABEL: func.func @no_shared_product(
func.func @no_shared_product(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.add %[[A]], %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]] : tensor<4xf32>, tensor<4xf32>
  %a = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.add %a, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

/// One product can be absorbed, not the same one twice.
// CHECK-LABEL: func.func @no_product_plus_itself(
func.func @no_product_plus_itself(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.add %[[A]], %[[A]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[B]] : tensor<4xf32>
  %a = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

/// Of two products the first is absorbed.
// CHECK-LABEL: func.func @two_products(
func.func @two_products(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[B:.*]] = graph.multiply %y, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.ewise_fma %x, %x, %[[B]] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[C]] : tensor<4xf32>
  %a = graph.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.multiply %y, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = graph.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

/// Subtraction is no addition.
// CHECK-LABEL: func.func @no_subtract(
func.func @no_subtract(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.subtract %[[A]], %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[B]] : tensor<4xf32>
  %a = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.subtract %a, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

/// Nothing moves into a branch.
// CHECK-LABEL: func.func @no_move_into_branch(
func.func @no_move_into_branch(%x: tensor<4xf32>, %y: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = scf.if %c -> (tensor<4xf32>) {
  // CHECK-NEXT: %[[B:.*]] = graph.add %[[A]], %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: scf.yield %[[B]] : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %y : tensor<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %a = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = scf.if %c -> (tensor<4xf32>) {
    %b = graph.add %a, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

/// A fused group is an atom.
// CHECK-LABEL: func.func private @no_primitive(
func.func private @no_primitive(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {graph.primitive} {
  // CHECK-NEXT: %[[A:.*]] = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.add %[[A]], %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[B]] : tensor<4xf32>
  %a = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.add %a, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

/// The sum of small floats takes the product unrounded as it is, and an fma of them is dear.
// CHECK-LABEL: func.func @no_small_floats(
// CHECK-NEXT: graph.multiply
// CHECK-NEXT: graph.add
func.func @no_small_floats(%x: tensor<4xf16>, %y: tensor<4xf16>) -> tensor<4xf16> {
  %a = graph.multiply %x, %y : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %b = graph.add %a, %y : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  func.return %b : tensor<4xf16>
}
