// RUN: stepwell-opt %s -p 'simplify-expr{numerics="strict"}' | filecheck %s

/// x^0 = 1, for NaN too.
// CHECK-LABEL: func.func @power_of_zero(
func.func @power_of_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.full 1.0 : tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 0.0 : tensor<f32>
  %r = graph.power %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// 1^x = 1, for NaN too.
// CHECK-LABEL: func.func @one_to_a_power(
func.func @one_to_a_power(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.full 1.0 : tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 1.0 : tensor<f32>
  %r = graph.power %0, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x^2 = x * x for integers, which wrap.
// CHECK-LABEL: func.func @power_of_two_integer(
func.func @power_of_two_integer(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[R:.*]] = graph.square %x : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xi32>
  %0 = graph.full 2 : tensor<i32>
  %r = graph.power %x, %0 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

/// Floats are rounded, and may be NaN.
// CHECK-LABEL: func.func @no_power_of_two_integer_of_f32(
func.func @no_power_of_two_integer_of_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.full 2.0 : tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.power %x, %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %0 = graph.full 2.0 : tensor<f32>
  %r = graph.power %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
