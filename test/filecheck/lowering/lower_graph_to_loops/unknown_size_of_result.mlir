// RUN: not stepwell-opt %s -p lower-graph-to-loops 2>&1 | filecheck %s

/// The sizes follow from the operand, but the type of the result does not say them.
// CHECK: unknown_size_of_result.mlir:8:3: error: 'graph.top_k': its loops give results of known sizes, expected tensor<4x?xf32>
// CHECK: hint: write the sizes of the result

func.func @main(%x: tensor<4x8xf32>) -> tensor<4x?xf32> {
  %v, %i = graph.top_k %x, k = 3, axis = 1 : (tensor<4x8xf32>) -> (tensor<4x?xf32>, tensor<4x?xi64>)
  func.return %v : tensor<4x?xf32>
}
