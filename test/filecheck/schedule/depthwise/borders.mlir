// RUN: stepwell-opt %s -p 'lower-graph-to-loops,fuse-loops,inline-loops,schedule-cpu{target="x86-64-v4"}' | filecheck %s

/// Tiles of two rows by five or four pixels by sixteen channels. Left and right a tap less is read, what is above and below adds nothing;
/// nothing is copied. Whether a row is outside is asked where it can be: of the first and the last one that a tile reads.
// CHECK-NOT: tensor_loop.alloc
// CHECK: tensor_loop.for %{{.*}} in 7 {
// CHECK: tensor_loop.for %{{.*}} in 2 {
// CHECK: tensor_loop.block "conv2d"
// CHECK-SAME: %data[0, %vy * 2 - 1 : 4, 0 : 6, %vp * 16 : 16]
// CHECK: arith.cmpi sge
// CHECK: scf.if %{{.*}} -> (vector<1x16xf32>, vector<4x16xf32>) {
// CHECK: tile.load %data
// CHECK: tile.multiply_add
// CHECK-NOT: arith.cmpi sge
// CHECK: arith.cmpi slt
// CHECK: scf.if %{{.*}} -> (vector<1x16xf32>, vector<4x16xf32>) {
// CHECK: tile.store %{{.*}} : vector<1x16xf32>
// CHECK: tile.store %{{.*}} : vector<4x16xf32>
// CHECK: tensor_loop.block "conv2d_1"
// CHECK-SAME: 4 : 7, %vp_1 * 16 : 16]
// CHECK-NOT: memref.load
func.func @main(%x: tensor<1x14x14x32xf32>, %w: tensor<3x3x1x32xf32>) -> tensor<1x14x14x32xf32> {
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], groups = 32, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x14x14x32xf32>, tensor<3x3x1x32xf32>) -> tensor<1x14x14x32xf32>
  func.return %y : tensor<1x14x14x32xf32>
}
