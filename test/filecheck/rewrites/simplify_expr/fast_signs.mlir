// RUN: stepwell-opt %s -p 'simplify-expr{numerics="fast"}' | filecheck %s

/// -sign(-x) = sign(x), except for the sign of zero.
// CHECK-LABEL: func.func @sign_of_negative(
func.func @sign_of_negative(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.sign %x : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.negative %x : (tensor<4xi32>) -> tensor<4xi32>
  %1 = graph.sign %0 : (tensor<4xi32>) -> tensor<4xi32>
  %r = graph.negative %1 : (tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// Unsigned integers and booleans have no sign.
// CHECK-LABEL: func.func @no_sign_of_negative_of_ui8(
func.func @no_sign_of_negative_of_ui8(%x: tensor<4xui8>) -> tensor<4xui8> {
  // CHECK-NEXT: %[[V0:.*]] = graph.negative %x : (tensor<4xui8>) -> tensor<4xui8>
  // CHECK-NEXT: %[[V1:.*]] = graph.sign %[[V0]] : (tensor<4xui8>) -> tensor<4xui8>
  // CHECK-NEXT: %[[R:.*]] = graph.negative %[[V1]] : (tensor<4xui8>) -> tensor<4xui8>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xui8>
  %0 = graph.negative %x : (tensor<4xui8>) -> tensor<4xui8>
  %1 = graph.sign %0 : (tensor<4xui8>) -> tensor<4xui8>
  %r = graph.negative %1 : (tensor<4xui8>) -> tensor<4xui8>
  func.return %r : tensor<4xui8>
}

/// sign(x) * |x| = x.
// CHECK-LABEL: func.func @sign_times_absolute(
func.func @sign_times_absolute(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %0 = graph.sign %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.multiply %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// |sqrt(x)| = sqrt(x), except for the sign of zero.
// CHECK-LABEL: func.func @absolute_of_sqrt(
func.func @absolute_of_sqrt(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[INNER:.*]] = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[INNER]] : tensor<4xf32>
  %inner = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.abs %inner : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
