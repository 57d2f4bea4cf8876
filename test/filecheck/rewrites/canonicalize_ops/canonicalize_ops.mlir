// RUN: stepwell-opt %s -p 'canonicalize-ops' | filecheck %s

/// Axis 1 of rank 4: two dimensions after the bias.
// CHECK-LABEL: func.func @bias_add_to_add(
func.func @bias_add_to_add(%x: tensor<1x3x4x4xf32>, %bias: tensor<3xf32>) -> tensor<1x3x4x4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.expand_dims %bias, axis = [1, 2] : (tensor<3xf32>) -> tensor<3x1x1xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.add %x, %[[V0]] : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<1x3x4x4xf32>
  %y = graph.bias_add %x, %bias : (tensor<1x3x4x4xf32>, tensor<3xf32>)
  func.return %y : tensor<1x3x4x4xf32>
}

/// The last axis: the bias broadcasts as it is.
// CHECK-LABEL: func.func @bias_add_along_the_last_axis(
func.func @bias_add_along_the_last_axis(%x: tensor<1x4x4x3xi8>, %bias: tensor<3xi8>) -> tensor<1x4x4x3xi8> {
  // CHECK-NEXT: %[[Y:.*]] = graph.add %x, %bias : (tensor<1x4x4x3xi8>, tensor<3xi8>) -> tensor<1x4x4x3xi8>
  // CHECK-NEXT: func.return %[[Y]] : tensor<1x4x4x3xi8>
  %y = graph.bias_add %x, %bias, axis = -1 : (tensor<1x4x4x3xi8>, tensor<3xi8>)
  func.return %y : tensor<1x4x4x3xi8>
}

/// An axis counted from the end.
// CHECK-LABEL: func.func @bias_add_along_a_negative_axis(
func.func @bias_add_along_a_negative_axis(%x: tensor<?x3x4xf16>, %bias: tensor<3xf16>) -> tensor<?x3x4xf16> {
  // CHECK-NEXT: %[[V0:.*]] = graph.expand_dims %bias, axis = [1] : (tensor<3xf16>) -> tensor<3x1xf16>
  // CHECK-NEXT: %[[Y:.*]] = graph.add %x, %[[V0]] : (tensor<?x3x4xf16>, tensor<3x1xf16>) -> tensor<?x3x4xf16>
  // CHECK-NEXT: func.return %[[Y]] : tensor<?x3x4xf16>
  %y = graph.bias_add %x, %bias, axis = -2 : (tensor<?x3x4xf16>, tensor<3xf16>)
  func.return %y : tensor<?x3x4xf16>
}

/// An addition stays.
// CHECK-LABEL: func.func @no_add(
func.func @no_add(%x: tensor<1x3xf32>, %bias: tensor<3xf32>) -> tensor<1x3xf32> {
  // CHECK-NEXT: %[[Y:.*]] = graph.add %x, %bias : (tensor<1x3xf32>, tensor<3xf32>) -> tensor<1x3xf32>
  // CHECK-NEXT: func.return %[[Y]] : tensor<1x3xf32>
  %y = graph.add %x, %bias : (tensor<1x3xf32>, tensor<3xf32>)
  func.return %y : tensor<1x3xf32>
}
