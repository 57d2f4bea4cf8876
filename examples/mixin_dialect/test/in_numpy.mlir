// RUN: stepwell-opt %s -p 'partition-by-pattern{table=quaternion_numpy annotate-codegen}' | filecheck %s
// RUN: stepwell-run %s -p 'partition-by-pattern{table=quaternion_numpy annotate-codegen},finish' --print | filecheck %s --check-prefix=OUT

// CHECK: graph.compiler = "quaternion_numpy"
// OUT: result0 = float32[1, 4]
// OUT-NEXT: 0. 1. 0. 0.
func.func @main() -> tensor<1x4xf32> {
  %j = graph.constant dense<[[0.0, 0.0, 1.0, 0.0]]> : tensor<1x4xf32>
  %k = graph.constant dense<[[0.0, 0.0, 0.0, 1.0]]> : tensor<1x4xf32>
  %i = quaternion.mul %j, %k : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %i : tensor<1x4xf32>
}
