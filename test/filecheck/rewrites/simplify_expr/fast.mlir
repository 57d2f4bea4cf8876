// RUN: stepwell-opt %s -p 'simplify-expr{numerics="fast"}' | filecheck %s

/// x + 0.0 = x, except for -0.0.
// CHECK-LABEL: @add_of_zero(
func.func @add_of_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %k = graph.full 0.0 : tensor<4xf32>
  %r = graph.add %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x * 0.0 = 0.0, except for NaN, inf and the sign.
// CHECK-LABEL: @multiply_by_zero(
func.func @multiply_by_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.full 0.0 : tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 0.0 : tensor<4xf32>
  %r = graph.multiply %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

/// x - x = 0.0, except for NaN and inf.
// CHECK-LABEL: @subtract_of_itself(
func.func @subtract_of_itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.full 0.0 : tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %r = graph.subtract %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
