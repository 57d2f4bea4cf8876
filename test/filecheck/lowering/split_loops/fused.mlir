// RUN: stepwell-opt %s -p graph-optimize,to-loops | filecheck %s

/// The rotation of rotary embeddings: what one half alone reads is computed there, no buffer is left.
// CHECK-LABEL: tensor_loop.func private @fused_
// CHECK-NOT: tensor_loop.alloc
// CHECK-NOT: scf.if
// CHECK: in (6, 32)
// CHECK: arith.negf
// CHECK: in (6, 32)
// CHECK-NOT: arith.negf
func.func @rotated(%x: tensor<6x64xf32>, %s: tensor<6x64xf32>) -> tensor<6x64xf32> {
  %a = graph.strided_slice %x, axes = [1], begin = [0], end = [32], strides = [1] : (tensor<6x64xf32>) -> tensor<6x32xf32>
  %b = graph.strided_slice %x, axes = [1], begin = [32], end = [64], strides = [1] : (tensor<6x64xf32>) -> tensor<6x32xf32>
  %n = graph.negative %b : (tensor<6x32xf32>) -> tensor<6x32xf32>
  %r = graph.concat %n, %a, axis = 1 : (tensor<6x32xf32>, tensor<6x32xf32>) -> tensor<6x64xf32>
  %y = graph.multiply %r, %s : (tensor<6x64xf32>, tensor<6x64xf32>) -> tensor<6x64xf32>
  func.return %y : tensor<6x64xf32>
}
