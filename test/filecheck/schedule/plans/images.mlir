// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,plan-schedules{target="sapphire-rapids"}' | filecheck %s
// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,plan-schedules{target="cascade-lake"}' | filecheck %s --check-prefix VNNI

/// Tiles of pixels.
// CHECK-LABEL: tensor_loop.func private @conv2d(
// CHECK: tensor_loop.block "conv2d_pad" {{.*}}stepwell.tiling = #schedule.left_out<"conv2d">
// CHECK: tensor_loop.block "conv2d" {{.*}}stepwell.tiling = #schedule.depthwise<rows = 2, pixels = 6>
// CHECK-SAME: stepwell.reason = {stepwell.tiling = "2x6 sums share the inputs and weights that are in registers"
func.func @depthwise(%x: tensor<1x14x14x32xf32>, %w: tensor<3x3x1x32xf32>) -> tensor<1x14x14x32xf32> {
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], groups = 32, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x14x14x32xf32>, tensor<3x3x1x32xf32>) -> tensor<1x14x14x32xf32>
  func.return %y : tensor<1x14x14x32xf32>
}

/// Channels that do not fill vectors.
// CHECK-LABEL: tensor_loop.func private @conv2d_1(
// CHECK: tensor_loop.block "conv2d" {{.*}}stepwell.tiling = #schedule.flat_rows<rows = 28>
// CHECK-SAME: stepwell.reason = {stepwell.tiling = "33 channels do not fill vectors of 16, flattened rows do"
func.func @flat(%x: tensor<1x28x28x33xf32>, %w: tensor<3x3x1x33xf32>) -> tensor<1x28x28x33xf32> {
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], groups = 33, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x28x28x33xf32>, tensor<3x3x1x33xf32>) -> tensor<1x28x28x33xf32>
  func.return %y : tensor<1x28x28x33xf32>
}

/// Bytes, by what the machine has for them.
// CHECK-LABEL: tensor_loop.func private @matmul(
// CHECK: tensor_loop.block "matmul" {{.*}}stepwell.tiling = #schedule.tile_registers<panels = 4>
// CHECK-SAME: stepwell.tiling = "'sapphire-rapids' has tile registers for it"
// VNNI-LABEL: tensor_loop.func private @matmul(
// VNNI: tensor_loop.block "matmul" {{.*}}stepwell.tiling = #schedule.dots<rows = 4, columns = 64>
func.func @bytes(%x: tensor<64x128xi8>) -> tensor<64x128xi32> {
  %w = graph.weight "w" : tensor<128x128xi8>
  %y = graph.matmul %x, %w, out_dtype = i32 : (tensor<64x128xi8>, tensor<128x128xi8>) -> tensor<64x128xi32>
  func.return %y : tensor<64x128xi32>
}

/// No sum of bytes: single loops.
// CHECK-LABEL: tensor_loop.func private @multiply(
// CHECK: tensor_loop.block "multiply" {{.*}}stepwell.tiling = #schedule.order<[0, 1], vectorized>
func.func @no_bytes(%x: tensor<64x128xi8>, %w: tensor<64x128xi8>) -> tensor<64x128xi8> {
  %y = graph.multiply %x, %w : (tensor<64x128xi8>, tensor<64x128xi8>) -> tensor<64x128xi8>
  func.return %y : tensor<64x128xi8>
}
