// RUN: stepwell-opt %s -p O3 | filecheck %s

/// A slice that ends before it begins has no elements. What is computed of it never runs, and so reads nothing outside
/// of the operand. (Found by stepwell fuzz, seed 68451 of ops: the verifier took it for a fault of inline-loops.)
// CHECK: llvm.func internal @main
func.func @main(%x: tensor<1x1x1xi32>) -> tensor<0x1xi32> {
  %s = graph.strided_slice %x, axes = [2, -2, -3], begin = [2, 0, -3], end = [2, 1, 1] : (tensor<1x1x1xi32>) -> tensor<1x1x0xi32>
  %y = graph.reshape %s, shape = [0, 1] : (tensor<1x1x0xi32>) -> tensor<0x1xi32>
  func.return %y : tensor<0x1xi32>
}
