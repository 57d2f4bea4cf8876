// RUN: stepwell-opt %s -p fuse-matmul-add,lower-graph-to-loops,fuse-loops | filecheck %s
// RUN: stepwell-opt %s -p fuse-matmul-add,lower-graph-to-loops,fuse-loops,fuse-loops | filecheck %s

/// A group of two kernels becomes one function: two blocks, one temporary between them. The kernels of the group are
/// gone; those that something else calls stay.

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[T:.*]] = graph.call_kernel @permute_dims(%w)
// CHECK-NEXT: %[[S:.*]] = graph.call_kernel @fused_matmul_add0(%x, %[[T]], %b) : (tensor<2x4xf32>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[R:.*]] = graph.call_kernel @relu(%[[S]])
// CHECK-NEXT: func.return %[[R]]
// CHECK-NOT: graph.primitive

// CHECK: tensor_loop.func private @fused_matmul_add0(%[[X:.*]]: memref<2x4xf32>, %[[W:.*]]: memref<4x3xf32>, %[[B:.*]]: memref<3xf32>) outs(%out: memref<2x3xf32>)
// CHECK-NEXT: %[[P:.*]] = tensor_loop.alloc : memref<2x3xf32>
// CHECK-NEXT: tensor_loop.grid (%{{.*}}, %{{.*}}, %{{.*}}) in (2, 3, 4)
// CHECK-NEXT: tensor_loop.block "matmul" {{.*}} reads(%[[X]][%vm, %vk], %[[W]][%vk, %vn]) writes(%[[P]][%vm, %vn])
// CHECK-NOT: tensor_loop.alloc
// CHECK: tensor_loop.block "add" {{.*}} reads(%[[P]][%vi0, %vi1], %[[B]][%vi1]) writes(%out[%vi0, %vi1])
// CHECK-NOT: tensor_loop.block
// CHECK-NOT: @matmul
// CHECK-NOT: @add
// CHECK: tensor_loop.func private @permute_dims
// CHECK: tensor_loop.func private @relu
// CHECK-NOT: tensor_loop.func
func.func @main(%x: tensor<2x4xf32>, %w: tensor<3x4xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %t = graph.permute_dims %w, axes = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %p = graph.matmul %x, %t : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %s = graph.add %p, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %r = graph.relu %s : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}
