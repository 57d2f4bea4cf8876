// RUN: stepwell-opt %s -p 'fuse-ewise-fma{allow-duplicate=true}' | filecheck %s

/// A product that somebody else needs may be computed twice when asked for.
// CHECK-LABEL: func.func @shared_product(
func.func @shared_product(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.ewise_fma %x, %y, %y : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]] : tensor<4xf32>, tensor<4xf32>
  %a = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.add %a, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}
