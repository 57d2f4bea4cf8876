// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,plan-schedules{target="zen4"}' --remarks 2>%t | filecheck %s
// RUN: filecheck %s --check-prefix REMARK --input-file %t

/// Weights that are not the same at every call stay where they are.
// CHECK-LABEL: tensor_loop.func private @matmul_packed(
// CHECK-NOT: #schedule.packed
// CHECK: stepwell.prepacked = "its right operand is not the same at every call"
// REMARK: block "matmul_packed" of @matmul_packed: a plain loop nest
func.func @no_constant_weights(%x: tensor<1x64xf32>, %w: tensor<8x32xui8>) -> tensor<1x8xf32> {
  %s = graph.weight "s" : tensor<8x2xf32>
  %z = graph.full 8 : tensor<ui8>
  %y = graph.matmul_packed %x, %w, %s, %z : (tensor<1x64xf32>, tensor<8x32xui8>, tensor<8x2xf32>, tensor<ui8>) -> tensor<1x8xf32>
  func.return %y : tensor<1x8xf32>
}
