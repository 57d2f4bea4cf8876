// RUN: %roundtrip
// RUN: stepwell-opt %s -p lower-graph-to-loops | filecheck %s --check-prefix=LOOPS
// RUN: stepwell-run %s --print | filecheck %s --check-prefix=OUT

/// From the front: i, i j = k, i j k = -1. From the end: k, k j = -i, k j i = 1.
// CHECK-LABEL: @main
// CHECK: quaternion.chain %units : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK: quaternion.chain %units, reverse = true
// LOOPS: tensor_loop.func private @chain
// LOOPS: scf.for
// OUT: result0 = float32[3, 4]
// OUT-NEXT: 0. 1. 0. 0.
// OUT-NEXT: 0. 0. 0. 1.
// OUT-NEXT: -1. 0. 0. 0.
// OUT: result1 = float32[3, 4]
// OUT-NEXT: 1. 0. 0. 0.
// OUT-NEXT: 0. -1. 0. 0.
// OUT-NEXT: 0. 0. 0. 1.
func.func @main() -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %units = graph.constant dense<[[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<3x4xf32>
  %0 = quaternion.chain %units : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = quaternion.chain %units, reverse = true : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %0, %1 : tensor<3x4xf32>, tensor<3x4xf32>
}
