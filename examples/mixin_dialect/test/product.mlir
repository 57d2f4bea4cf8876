// RUN: stepwell-opt %s -p eliminate-common-subexpr | filecheck %s --check-prefix=CSE
// RUN: stepwell-opt %s -p fold-constant | filecheck %s --check-prefix=FOLD
// RUN: stepwell-opt %s -p lower-graph-to-loops | filecheck %s --check-prefix=LOOPS

/// Stepwell's own passes treat the op like one of theirs: two equal products are one.
// CSE-LABEL: @twice
// CSE-COUNT-1: quaternion.mul
// CSE-NOT: quaternion.mul
// CSE: return

// LOOPS-LABEL: @twice
// LOOPS: graph.call_kernel @mul(%a, %b)
// LOOPS: tensor_loop.func private @mul(%lhs: memref<4xf32>, %rhs: memref<4xf32>) outs(%out: memref<4xf32>)
// LOOPS: tensor_loop.block "hamilton"
func.func @twice(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = quaternion.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = quaternion.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

/// i j = k, computed by the compiler from the op's tensor expression.
// FOLD-LABEL: @folded
// FOLD-NEXT: graph.constant dense<[0.0, 0.0, 0.0, 1.0]>
func.func @folded() -> tensor<4xf32> {
  %i = graph.constant dense<[0.0, 1.0, 0.0, 0.0]> : tensor<4xf32>
  %j = graph.constant dense<[0.0, 0.0, 1.0, 0.0]> : tensor<4xf32>
  %k = quaternion.mul %i, %j : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %k : tensor<4xf32>
}
