// RUN: stepwell-opt %s -p 'simplify-expr{numerics="fast"}' | filecheck %s

/// (exp(x) - exp(-x)) / (exp(x) + exp(-x)) = tanh(x).
// CHECK-LABEL: func.func @tanh_of_exps(
func.func @tanh_of_exps(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %e = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %n = graph.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.subtract %e, %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.add %e, %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.divide %1, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
