// RUN: stepwell-opt %s -p 'lower-graph-to-loops,fuse-loops,inline-loops,schedule-cpu{target="x86-64-v4"}' | filecheck %s

/// The first and the last row and column of the result read less of the window; nothing is copied.
// CHECK-NOT: tensor_loop.alloc
// CHECK: tensor_loop.block "conv2d"
// CHECK-SAME: %{{.*}}[0 : 3, 1 : 2, 0, 0 : 32]
// CHECK: tile.map
// CHECK: tile.store %{{.*}} : vector<1x32xf32>
// CHECK: tensor_loop.block "conv2d_1"
// CHECK-SAME: %{{.*}}[0 : 3, 0 : 3, 0, 0 : 32]
// CHECK: tile.store %{{.*}} : vector<6x32xf32>
// CHECK: tensor_loop.block "conv2d_2"
// CHECK-SAME: %{{.*}}[0 : 3, 0 : 2, 0, 0 : 32]
// CHECK-NOT: memref.load
func.func @main(%x: tensor<1x10x8x32xf32>, %w: tensor<3x3x1x32xf32>) -> tensor<1x8x8x32xf32> {
  %y = graph.conv2d %x, %w, padding = [0, 1, 0, 1], groups = 32, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x10x8x32xf32>, tensor<3x3x1x32xf32>) -> tensor<1x8x8x32xf32>
  func.return %y : tensor<1x8x8x32xf32>
}
