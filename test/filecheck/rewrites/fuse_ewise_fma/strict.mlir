// RUN: stepwell-opt %s -p 'fuse-ewise-fma{numerics="strict"}' | filecheck %s

/// One rounding instead of two is not the same bits.
// CHECK-LABEL: func.func @no_strict(
func.func @no_strict(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.multiply %y, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.add %[[A]], %[[B]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[C]] : tensor<4xf32>
  %a = graph.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.multiply %y, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = graph.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}
