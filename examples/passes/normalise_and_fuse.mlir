// RUN: stepwell-opt %s -p 'simplify-inference,fold-constant,plan-fusion,apply-fusion-plan' | filecheck %s

/// Each normalisation that became arithmetic becomes one function again, with what stands around it.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<4x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[V0:.*]] = func.call @fused_{{.*}}(%x, %gamma, %beta) : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: func.return %[[V0]] : tensor<4x8xf32>
  %0 = graph.layer_norm %x, %gamma, %beta, epsilon = 0.5 : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  %1 = graph.relu %0 : (tensor<4x8xf32>)
  func.return %1 : tensor<4x8xf32>
}
