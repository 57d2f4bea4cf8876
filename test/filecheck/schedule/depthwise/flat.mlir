// RUN: stepwell-opt %s -p 'lower-graph-to-loops,fuse-loops,inline-loops,schedule-cpu{target="x86-64-v4"}' | filecheck %s

/// Three channels do not fill vectors: pixels and channels of a row become one dimension, and the weights repeat.
// CHECK: memref.collapse_shape %data {{.*}} : memref<1x8x14x3xf32> into memref<1x8x42xf32>
// CHECK: %repeated = tensor_loop.alloc : memref<3x3x18xf32>
// CHECK: tensor_loop.block "repeat"
// CHECK: memref.collapse_shape %out {{.*}} into memref<1x8x42xf32>
/// The pixel at the left has taps in two columns of the window.
// CHECK: tensor_loop.block "conv2d" reads(%repeated[0 : 3, 1 : 2, 0 : 3], %data_rows[0, 0 : 8, 0 : 6]) writes(%out_rows[0, 0 : 8, 0 : 3])
// CHECK: tile.store {{.*}} vector<1x3xf32>
/// Of the twelve pixels inside two whole vectors, then what is left over. A row of inputs completes a sum, goes on with another and begins one.
// CHECK: tensor_loop.for %{{.*}} in 2 {
// CHECK: tensor_loop.block "conv2d_1"
// CHECK: arith.remui
// CHECK: scf.for %{{.*}} iter_args(%{{.*}}, %{{.*}}) -> (vector<1x16xf32>, vector<1x16xf32>) {
// CHECK-COUNT-3: tile.load %data_rows
// CHECK-COUNT-3: tile.multiply_add
// CHECK: tile.prefetch %data_rows
// CHECK: tile.store {{.*}} vector<1x16xf32>
// CHECK: scf.yield
// CHECK: tensor_loop.block "conv2d_2"
// CHECK: tile.store {{.*}} vector<1x4xf32>
/// The pixel at the right.
// CHECK: tensor_loop.block "conv2d_3" reads(%repeated[0 : 3, 0 : 2, 0 : 3]
func.func @main(%x: tensor<1x8x14x3xf32>, %w: tensor<3x3x1x3xf32>) -> tensor<1x8x14x3xf32> {
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], groups = 3, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x8x14x3xf32>, tensor<3x3x1x3xf32>) -> tensor<1x8x14x3xf32>
  func.return %y : tensor<1x8x14x3xf32>
}
