// RUN: stepwell-opt %s --split-input-file -p 'graph-optimize,to-loops,prepack-weights{target="x86-64-v4"}' | filecheck %s

/// Pixels of small floats are widened as they are loaded. The filters are transformed in f32 once, and kept so.
// CHECK-LABEL: tensor_loop.func private @conv2d
// CHECK-SAME: memref<16x1x64x64xf32>
// CHECK: tensor_loop.block "rows"
// CHECK: tile.load {{.*}} : memref<1x56x56x64xf16>, vector<1x{{.*}}xf16>
// CHECK: tile.map({{.*}}) : (vector<1x32xf16>) -> vector<1x32xf32>
// CHECK-NEXT: arith.extf %{{.*}} : f16 to f32
// CHECK: tensor_loop.block "outputs"
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: tensor_loop.func private @pack_filters0(%weight: memref<3x3x64x64xf16>) outs(%filters: memref<16x1x64x64xf32>)
// CHECK: arith.extf %{{.*}} : f16 to f32
func.func @main(%x: tensor<1x56x56x64xf16>) -> tensor<1x56x56x64xf16> {
  %w = graph.weight "w" : tensor<3x3x64x64xf16>
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x56x56x64xf16>, tensor<3x3x64x64xf16>) -> tensor<1x56x56x64xf16>
  func.return %y : tensor<1x56x56x64xf16>
}

// -----

/// Transformed filters would be eight times as large as the ones given, and are read once: that takes longer than the products.
// CHECK-LABEL: {{^}}// -----
// CHECK: pack_panels
// CHECK-NOT: pack_filters
func.func @no_winograd(%x: tensor<1x4x4x512xbf16>) -> tensor<1x4x4x512xbf16> {
  %w = graph.weight "w" : tensor<3x3x512x512xbf16>
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x4x4x512xbf16>, tensor<3x3x512x512xbf16>) -> tensor<1x4x4x512xbf16>
  func.return %y : tensor<1x4x4x512xbf16>
}
