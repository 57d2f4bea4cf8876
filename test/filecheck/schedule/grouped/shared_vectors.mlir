// RUN: stepwell-opt %s -p 'to-loops,prepack-weights{target="x86-64-v4"},schedule-cpu{target="x86-64-v4"}' --split-input-file | filecheck %s

/// Four groups of four channels in a vector, two vectors. Each element of the image is repeated for its group,
/// and multiplied by the weights of all taps that it counts for. The loop over the channels of a group carries the sums.
// CHECK-LABEL: tensor_loop.func private @conv2d
// CHECK-SAME: memref<2x3x3x4x16xf32>
// CHECK-NOT: tensor_loop.alloc
// CHECK: tensor_loop.for %p in 2 {
// CHECK: tensor_loop.block "conv2d"
// CHECK: %[[FIRST:.*]] = arith.muli %vp
// CHECK: scf.for %i = %{{.*}} iter_args(
// CHECK: tile.load %filter[%vp, %{{.*}}, %{{.*}}, %i, %{{.*}}] along [-1, 4] : memref<2x3x3x4x16xf32>, vector<1x16xf32>
// CHECK: tile.load %data[{{.*}}] by [1, 4] repeat 4 : memref<1x14x14x32xf32>, vector<1x16xf32>
// CHECK: tile.multiply_add
// CHECK: scf.yield
// CHECK: tile.store %{{.*}} : vector<4x16xf32>, memref<1x14x14x32xf32>
func.func @main(%x: tensor<1x14x14x32xf32>) -> tensor<1x14x14x32xf32> {
  %w = graph.weight "w" : tensor<3x3x4x32xf32>
  %0 = graph.conv2d %x, %w, padding = [1, 1, 1, 1], groups = 8, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x14x14x32xf32>, tensor<3x3x4x32xf32>) -> tensor<1x14x14x32xf32>
  func.return %0 : tensor<1x14x14x32xf32>
}

// -----

/// Two outputs per channel: there is no loop over the channels of a group. Filters given late are read where they lie.
// CHECK-LABEL: tensor_loop.func private @conv2d
// CHECK-NOT: scf.for
// CHECK: tile.load %filter[{{.*}}] along [-1, 3] : memref<3x3x1x32xf32>, vector<2x16xf32>
// CHECK: tile.load %data[{{.*}}] repeat 2 : memref<1x14x14x16xf32>, vector<2x16xf32>
// CHECK-NOT: scf.for
// CHECK: tile.store
func.func @main(%x: tensor<1x14x14x16xf32>, %w: tensor<3x3x1x32xf32>) -> tensor<1x12x12x32xf32> {
  %0 = graph.conv2d %x, %w, groups = 16, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x14x14x16xf32>, tensor<3x3x1x32xf32>) -> tensor<1x12x12x32xf32>
  func.return %0 : tensor<1x12x12x32xf32>
}
