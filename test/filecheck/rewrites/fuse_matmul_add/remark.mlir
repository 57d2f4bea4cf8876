// RUN: stepwell-opt %s -p fuse-matmul-add --remarks 2>&1 | filecheck %s

/// A product with two users is not fused, and the user learns why, once per addition.
// CHECK: remark: 'graph.add': not fused: %product has 2 users
// CHECK: remark: 'graph.add': not fused: %product has 2 users
// CHECK-NOT: remark
func.func @no_two_users(%x: tensor<4x4xf32>, %b: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %product = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.add %product, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = graph.add %product, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}
