// RUN: not stepwell-opt %s -p lower-loops-to-scf 2>&1 | filecheck %s

// CHECK: 'graph.call_kernel': @exp is called on tensors
// CHECK: hint: run bufferize before lower-loops-to-scf
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.call_kernel @exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
tensor_loop.func private @exp(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
}
