// RUN: stepwell-opt %s -p 'to-loops,prepack-weights{target="x86-64-v4"},schedule-cpu{target="x86-64-v4"}' --split-input-file | filecheck %s

/// A product per group of 32 channels. Groups are inside the loop over rows: all panels stay in L2.
/// The image is read without a copy; the epilogue is done on the tiles.
// CHECK-LABEL: tensor_loop.func private @fused_conv2d_relu0
// CHECK-SAME: memref<4x1x3x3x32x32xf32>
// CHECK-NOT: tensor_loop.alloc
// CHECK: tensor_loop.for %oh in 14 parallel {
// CHECK-NEXT: tensor_loop.for %g in 4 parallel {
// CHECK-NEXT: tensor_loop.block "conv2d" spatial(%voh in 14 = %oh, %vg in 4 = %g)
// CHECK: %[[G:.*]] = arith.muli %vg
// CHECK: tile.mma %{{.*}}, %x[{{.*}}], %w[%vg, {{.*}}] depth 4
// CHECK: tile.map
// CHECK: arith.maximumf
// CHECK: tile.store %{{.*}}, %out[
// CHECK-LABEL: tensor_loop.func private @pack_panels0
// CHECK: tensor_loop.for %g in 4 {
func.func @main(%x: tensor<1x14x14x128xf32>) -> tensor<1x14x14x128xf32> {
  %w = graph.weight "w" : tensor<3x3x32x128xf32>
  %0 = func.call @fused_conv2d_relu0(%x, %w) : (tensor<1x14x14x128xf32>, tensor<3x3x32x128xf32>) -> tensor<1x14x14x128xf32>
  func.return %0 : tensor<1x14x14x128xf32>
}
func.func private @fused_conv2d_relu0(%x: tensor<1x14x14x128xf32>, %w: tensor<3x3x32x128xf32>) -> tensor<1x14x14x128xf32> attributes {graph.primitive} {
  %0 = graph.conv2d %x, %w, padding = [1, 1, 1, 1], groups = 4, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x14x14x128xf32>, tensor<3x3x32x128xf32>) -> tensor<1x14x14x128xf32>
  %1 = graph.relu %0 : (tensor<1x14x14x128xf32>) -> tensor<1x14x14x128xf32>
  func.return %1 : tensor<1x14x14x128xf32>
}

// -----

/// Panels of 2.4 MB do not stay in L2: the loop over the groups is outside.
// CHECK-LABEL: tensor_loop.func private @conv2d
// CHECK: tensor_loop.for %g in 16 parallel {
// CHECK-NEXT: tensor_loop.for %oh in 14 {
// CHECK-NEXT: tensor_loop.block "conv2d"
func.func @main(%x: tensor<1x14x14x1024xf32>) -> tensor<1x14x14x1024xf32> {
  %w = graph.weight "w" : tensor<3x3x64x1024xf32>
  %0 = graph.conv2d %x, %w, padding = [1, 1, 1, 1], groups = 16, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x14x14x1024xf32>, tensor<3x3x64x1024xf32>) -> tensor<1x14x14x1024xf32>
  func.return %0 : tensor<1x14x14x1024xf32>
}
