// RUN: stepwell-run %s --opt-level 0 --print | filecheck %s

/// j k = i, natively (level 0: nothing is folded).
// CHECK: result0 = float32[1, 4]
// CHECK-NEXT: 0. 1. 0. 0.
func.func @main() -> tensor<1x4xf32> {
  %j = graph.constant dense<[[0.0, 0.0, 1.0, 0.0]]> : tensor<1x4xf32>
  %k = graph.constant dense<[[0.0, 0.0, 0.0, 1.0]]> : tensor<1x4xf32>
  %i = quaternion.mul %j, %k : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %i : tensor<1x4xf32>
}
