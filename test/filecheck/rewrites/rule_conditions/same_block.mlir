// RUN: stepwell-opt %s -p fold-scale-axis,fuse-matmul-add | filecheck %s

// What stands before a branch is not moved into it: it would be computed more often, or the branch taken would compute it.

/// A product before the branch that adds to it.
// CHECK-LABEL: @no_add_of_matmul(
func.func @no_add_of_matmul(%c: i1, %x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %b: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[P:.*]] = graph.matmul %x, %w
  // CHECK-NEXT: %[[R:.*]] = scf.if %c
  // CHECK-NEXT:   %[[S:.*]] = graph.add %[[P]], %b
  // CHECK-NEXT:   scf.yield %[[S]]
  // CHECK-NOT: graph.primitive
  %p = graph.matmul %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %r = scf.if %c -> (tensor<2x4xf32>) {
    %s = graph.add %p, %b : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    scf.yield %s : tensor<2x4xf32>
  } else {
    scf.yield %b : tensor<2x4xf32>
  }
  func.return %r : tensor<2x4xf32>
}

/// A product before the branch that scales it.
// CHECK-LABEL: @no_backward_scale_of_contraction(
func.func @no_backward_scale_of_contraction(%c: i1, %x: tensor<2x3xf32>, %w: tensor<3x2xf32>, %b: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK-NEXT: %[[F:.*]] = graph.constant
  // CHECK-NEXT: %[[P:.*]] = graph.matmul %x, %w
  // CHECK-NEXT: %[[R:.*]] = scf.if %c
  // CHECK-NEXT:   %[[S:.*]] = graph.multiply %[[P]], %[[F]]
  // CHECK-NEXT:   scf.yield %[[S]]
  %f = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %p = graph.matmul %x, %w : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %r = scf.if %c -> (tensor<2x2xf32>) {
    %s = graph.multiply %p, %f : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    scf.yield %s : tensor<2x2xf32>
  } else {
    scf.yield %b : tensor<2x2xf32>
  }
  func.return %r : tensor<2x2xf32>
}

/// A factor before the branch that has the product.
// CHECK-LABEL: @no_forward_contraction_of_scale(
func.func @no_forward_contraction_of_scale(%c: i1, %x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK-NEXT: %[[F:.*]] = graph.constant
  // CHECK-NEXT: %[[S:.*]] = graph.multiply %x, %[[F]]
  // CHECK-NEXT: %[[R:.*]] = scf.if %c
  // CHECK-NEXT:   %[[P:.*]] = graph.matmul %[[S]], %w
  // CHECK-NEXT:   scf.yield %[[P]]
  %f = graph.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %s = graph.multiply %x, %f : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %r = scf.if %c -> (tensor<2x2xf32>) {
    %p = graph.matmul %s, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.yield %p : tensor<2x2xf32>
  } else {
    scf.yield %x : tensor<2x2xf32>
  }
  func.return %r : tensor<2x2xf32>
}
