// RUN: stepwell-opt %s -p 'legalize{table=elementary}' | filecheck %s

/// A table knows functions for some ops; what they make is looked at again.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.exp %[[V0]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[V1]] : tensor<4xf32>
  %0 = graph.square %x : (tensor<4xf32>)
  %1 = graph.exp %0 : (tensor<4xf32>)
  func.return %1 : tensor<4xf32>
}
