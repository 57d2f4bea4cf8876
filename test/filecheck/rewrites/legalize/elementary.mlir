// RUN: stepwell-opt %s -p 'legalize{table=elementary}' | filecheck %s

/// An op that the table knows.
// CHECK-LABEL: func.func @square(
func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[Y:.*]] = graph.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<4xf32>
  %y = graph.square %x : (tensor<4xf32>)
  func.return %y : tensor<4xf32>
}

/// The second function sees what the first one made.
// CHECK-LABEL: func.func @relu_of_square(
func.func @relu_of_square(%x: tensor<?x4xui8>) -> tensor<?x4xui8> {
  // CHECK-NEXT: %[[Y:.*]] = graph.multiply %x, %x : (tensor<?x4xui8>, tensor<?x4xui8>) -> tensor<?x4xui8>
  // CHECK-NEXT: %[[V0:.*]] = graph.full 0 : tensor<ui8>
  // CHECK-NEXT: %[[Z:.*]] = graph.maximum %[[Y]], %[[V0]] : (tensor<?x4xui8>, tensor<ui8>) -> tensor<?x4xui8>
  // CHECK-NEXT: func.return %[[Z]] : tensor<?x4xui8>
  %y = graph.square %x : (tensor<?x4xui8>)
  %z = graph.relu %y : (tensor<?x4xui8>)
  func.return %z : tensor<?x4xui8>
}

/// An op that the table does not know.
// CHECK-LABEL: func.func @no_exp(
func.func @no_exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[Y:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<4xf32>
  %y = graph.exp %x : (tensor<4xf32>)
  func.return %y : tensor<4xf32>
}

/// Fused functions are as they are.
// CHECK-LABEL: func.func private @no_primitive(
func.func private @no_primitive(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.primitive} {
  // CHECK-NEXT: %[[Y:.*]] = graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<4xf32>
  %y = graph.square %x : (tensor<4xf32>)
  func.return %y : tensor<4xf32>
}
