// RUN: stepwell-opt %s -p 'fuse-matmul-add' --remarks 2>&1 | filecheck %s

// Two sums need the product, so it stays one op: fused with both it would be computed twice.
// CHECK: remark: {{.*}} not fused
// CHECK-LABEL: func.func @main(
// CHECK: graph.matmul
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.add
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %product = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>)
  %first = graph.add %product, %a : (tensor<4x8xf32>, tensor<8xf32>)
  %second = graph.add %product, %b : (tensor<4x8xf32>, tensor<8xf32>)
  func.return %first, %second : tensor<4x8xf32>, tensor<4x8xf32>
}
