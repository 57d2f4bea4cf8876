// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,apply-schedule,prepack-weights{target="x86-64-v4"},schedule-cpu{target="x86-64-v4"}' | filecheck %s
// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,apply-schedule,prepack-weights{target="x86-64-v4" winograd=false},schedule-cpu{target="x86-64-v4"}' | filecheck %s --check-prefix DIRECT

/// Tiles of a row of three pixels where the rules choose others.
// CHECK-LABEL: tensor_loop.func private @conv2d(
// CHECK: tensor_loop.for %{{.*}} in 14
// CHECK: tile.store %{{.*}} : vector<3x16xf32>
// CHECK-NOT: stepwell.tiling
func.func @depthwise(%x: tensor<1x14x14x32xf32>) -> tensor<1x14x14x32xf32> {
  %w = graph.weight "w" : tensor<3x3x1x32xf32>
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], groups = 32, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x14x14x32xf32>, tensor<3x3x1x32xf32>) -> tensor<1x14x14x32xf32>
  func.return %y : tensor<1x14x14x32xf32>
}

/// Winograd's filtering where the rules choose the product: one row of three squares at a time. The option that forbids it is the stronger one.
// CHECK-LABEL: tensor_loop.func private @conv2d_1(
// CHECK-SAME: memref<16x1x4x16xf32>
// CHECK: %inputs = tensor_loop.alloc : memref<1x16x3x4xf32>
// CHECK: tensor_loop.for %y0 in 3 {
// CHECK: tile.mma {{.*}} : vector<3x16xf32>
// CHECK-NOT: stepwell.tiling
// DIRECT-LABEL: tensor_loop.func private @conv2d_1(
// DIRECT-SAME: memref<1x3x3x4x16xf32>
// DIRECT-NOT: stepwell.tiling
func.func @squares(%x: tensor<1x6x6x4xf32>) -> tensor<1x6x6x16xf32> {
  %w = graph.weight "v" : tensor<3x3x4x16xf32>
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x6x6x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  func.return %y : tensor<1x6x6x16xf32>
}

/// Without an attribute the rules choose.
// CHECK-LABEL: tensor_loop.func private @conv2d_2(
// CHECK-SAME: memref<1x3x3x4x16xf32>
func.func @no_squares(%x: tensor<1x4x5x4xf32>) -> tensor<1x4x5x16xf32> {
  %w = graph.weight "u" : tensor<3x3x4x16xf32>
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x4x5x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x4x5x16xf32>
  func.return %y : tensor<1x4x5x16xf32>
}

schedule.program {
  %a = schedule.get_block "conv2d" in @conv2d
  schedule.annotate %a "stepwell.tiling" with #schedule.depthwise<rows = 1, pixels = 3>
  %b = schedule.get_block "conv2d" in @conv2d_1
  schedule.annotate %b "stepwell.tiling" with #schedule.winograd<images = 1, rows = 1, tile_rows = 3, tile_columns = 64>
}
