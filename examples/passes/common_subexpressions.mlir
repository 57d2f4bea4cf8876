// RUN: stepwell-opt %s -p 'eliminate-common-subexpr' | filecheck %s
// RUN: stepwell-opt %s -p 'eliminate-common-subexpr{skip="graph.add"}' | filecheck %s --check-prefix=SKIP

// SKIP-COUNT-2: graph.add

/// b + c twice, the second time in the other order.
// CHECK-LABEL: func.func @main(
func.func @main(%b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.add %b, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]], %[[A]] : tensor<4xf32>, tensor<4xf32>
  %a = graph.add %b, %c : (tensor<4xf32>, tensor<4xf32>)
  %d = graph.add %c, %b : (tensor<4xf32>, tensor<4xf32>)
  func.return %a, %d : tensor<4xf32>, tensor<4xf32>
}
