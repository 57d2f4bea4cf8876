// RUN: stepwell-opt %s -p 'eliminate-common-subexpr{skip="graph.add"}' | filecheck %s

/// Ops named in `skip` stay; the others are merged as ever.
// CHECK-LABEL: @same_ops(
func.func @same_ops(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[ONE:.*]] = graph.constant dense<1.0> : tensor<4xf32>
  // CHECK-NEXT: %[[A:.*]] = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.add %[[A]], %[[ONE]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[D:.*]] = graph.add %[[A]], %[[ONE]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[E:.*]] = graph.multiply %[[C]], %[[D]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[E]] : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %uno = graph.constant dense<1.0> : tensor<4xf32>
  %a = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.add %a, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = graph.add %b, %uno : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = graph.multiply %c, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}
