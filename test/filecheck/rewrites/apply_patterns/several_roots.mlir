// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/several_roots.rules"}' | filecheck %s

/// Two products of one tensor are one.
// CHECK-LABEL: func.func @products_of_one_tensor(
// CHECK-NEXT: %[[W:.*]] = graph.concat %a, %b, axis = 1 : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x10xf32>
// CHECK-NEXT: %[[M:.*]] = graph.matmul %x, %[[W]] : (tensor<2x3xf32>, tensor<3x10xf32>) -> tensor<2x10xf32>
// CHECK-NEXT: %[[Q:.*]], %[[K:.*]] = graph.split %[[M]]
// CHECK-NEXT: %[[E:.*]] = graph.exp %[[Q]] : (tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: func.return %[[E]], %[[K]] : tensor<2x5xf32>, tensor<2x5xf32>
func.func @products_of_one_tensor(%x: tensor<2x3xf32>, %a: tensor<3x5xf32>, %b: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>) {
  %0 = graph.matmul %x, %a : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %1 = graph.exp %0 : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %2 = graph.matmul %x, %b : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  func.return %1, %2 : tensor<2x5xf32>, tensor<2x5xf32>
}

/// Of two tensors; of two widths; one product alone.
// CHECK-LABEL: func.func @no_products_of_one_tensor(
// CHECK-COUNT-5: graph.matmul
// CHECK-NOT: graph.concat
// CHECK: func.return
func.func @no_products_of_one_tensor(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<2x3xf32>, %a: tensor<3x5xf32>, %b: tensor<3x4xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = graph.matmul %x, %a : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %1 = graph.matmul %y, %a : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %2 = graph.matmul %z, %a : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %3 = graph.matmul %z, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %e = graph.exp %z : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = graph.matmul %e, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %0, %1, %2, %3, %4 : tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}
