// RUN: stepwell-opt %s -p 'canonicalize-ops' | filecheck %s

/// An addition that stretches its bias over the pixels.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<1x3x4x4xf32>, %b: tensor<3xf32>) -> tensor<1x3x4x4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.expand_dims %b, axis = [1, 2] : (tensor<3xf32>) -> tensor<3x1x1xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.add %x, %[[V0]] : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<1x3x4x4xf32>
  %y = graph.bias_add %x, %b : (tensor<1x3x4x4xf32>, tensor<3xf32>)
  func.return %y : tensor<1x3x4x4xf32>
}
