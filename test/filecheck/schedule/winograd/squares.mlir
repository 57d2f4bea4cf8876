// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,prepack-weights{target="x86-64-v4"}' | filecheck %s
// RUN: stepwell-opt %s -p 'graph-optimize,to-loops,prepack-weights{target="x86-64-v4" winograd=false}' | filecheck %s --check-prefix DIRECT

/// Blocks of rows of squares: four rows of pixels go through a strip, then there are sixteen products, then outputs of two by two with what
/// follows the convolution. No copy with padding.
// CHECK-LABEL: tensor_loop.func private @fused_conv2d_relu0
// CHECK-SAME: %w: memref<16x1x64x64xf32>
// CHECK-NOT: conv2d_pad
// CHECK: tensor_loop.block "border"
// CHECK: tensor_loop.for %y0 in 7 {
// CHECK: tensor_loop.block "rows"
// CHECK: scf.if
// CHECK: tensor_loop.block "squares"
// CHECK: tensor_loop.for %s in 16 {
// CHECK: tensor_loop.block "conv2d"
// CHECK: tile.mma
// CHECK: tensor_loop.block "outputs"
// CHECK: arith.maximumf
// CHECK: tensor_loop.func private @pack_filters0(%weight: memref<3x3x64x64xf32>) outs(%filters: memref<16x1x64x64xf32>)
// CHECK: arith.constant 5.000000e-01 : f32

// DIRECT: pack_panels0
// DIRECT-NOT: pack_filters0
func.func @main(%x: tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32> {
  %w = graph.weight "w" : tensor<3x3x64x64xf32>
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x56x56x64xf32>
  %z = graph.relu %y : (tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
  func.return %z : tensor<1x56x56x64xf32>
}
