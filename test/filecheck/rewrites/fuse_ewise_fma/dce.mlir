// RUN: stepwell-opt %s -p 'fuse-ewise-fma{dce=false}' | filecheck %s

/// x * y + z with the product on either side; without `dce` the products stay.
// CHECK-LABEL: func.func @add_of_multiply(
func.func @add_of_multiply(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.ewise_fma %x, %y, %y : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.multiply %[[B]], %[[B]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[D:.*]] = graph.ewise_fma %[[B]], %[[B]], %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[D]] : tensor<4xf32>
  %a = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.add %a, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = graph.multiply %b, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = graph.add %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %d : tensor<4xf32>
}
