// RUN: stepwell-opt %s -p 'merge-composite{table="%S/rules/layers.mlir"}' | filecheck %s

/// The earlier pattern of the table is looked for first, so the relu goes with its product.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<4x8xf32>, %u: tensor<8x8xf32>, %a: tensor<8xf32>, %v: tensor<8x2xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: %[[V0:.*]] = func.call @npu_dense_relu_0(%x, %u, %a) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %[[V1:.*]] = func.call @npu_dense_0(%[[V0]], %v, %b) : (tensor<4x8xf32>, tensor<8x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: func.return %[[V1]] : tensor<4x2xf32>
  %0 = graph.matmul %x, %u : (tensor<4x8xf32>, tensor<8x8xf32>)
  %1 = graph.add %0, %a : (tensor<4x8xf32>, tensor<8xf32>)
  %2 = graph.relu %1 : (tensor<4x8xf32>)
  %3 = graph.matmul %2, %v : (tensor<4x8xf32>, tensor<8x2xf32>)
  %4 = graph.add %3, %b : (tensor<4x2xf32>, tensor<2xf32>)
  func.return %4 : tensor<4x2xf32>
}
