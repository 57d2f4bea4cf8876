// RUN: stepwell-opt %s --verify-diagnostics --remarks -p 'legalize{table=nobodys}' | filecheck %s

/// A table that does not exist changes nothing.
// CHECK-LABEL: @square
func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.square %x
  %y = graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
