// RUN: stepwell-opt %s -p 'simplify-expr{numerics="fast"}' | filecheck %s

/// -sign(-x) = sign(x), except for the sign of zero.
// CHECK-LABEL: func.func @sign_of_negative(
func.func @sign_of_negative(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.sign %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.sign %0 : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.negative %1 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
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
