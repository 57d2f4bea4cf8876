// RUN: stepwell-opt %s -p 'apply-patterns{file="simplify.mlir" rules="idempotent"}' | filecheck %s

/// A shipped file by name, one rule of it.
// CHECK-LABEL: func.func @idempotent(
func.func @idempotent(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.negative %[[A]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.relu %[[B]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[C]] : tensor<4xf32>
  %a = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.negative %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.relu %b : (tensor<4xf32>) -> tensor<4xf32>
  %d = graph.relu %c : (tensor<4xf32>) -> tensor<4xf32>
  func.return %d : tensor<4xf32>
}
