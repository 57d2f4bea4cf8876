// RUN: stepwell-opt %s -p 'to-loops,schedule-cpu{target="x86-64-v4"}' | filecheck %s

/// Weights and pixels are loaded as they are stored, and extended in registers. The sums are f32 until the end.
// CHECK-LABEL: tensor_loop.func private @conv2d
// CHECK-NOT: memref.load
// CHECK: [[LOADED:%.*]] = tile.load %filter{{.*}} : memref<3x3x1x16xf16>, vector<1x16xf16>
// CHECK-NEXT: tile.map({{%.*}} = [[LOADED]]) : (vector<1x16xf16>) -> vector<1x16xf32>
// CHECK: tile.load %data{{.*}} : memref<1x8x8x16xf16>, vector<{{[0-9]+}}x16xf16>
// CHECK: arith.truncf {{.*}} : f32 to f16
// CHECK: tile.store {{.*}}vector<{{[0-9]+}}x16xf16>
func.func @main(%x: tensor<1x8x8x16xf16>, %w: tensor<3x3x1x16xf16>) -> tensor<1x8x8x16xf16> {
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], groups = 16, data_layout = "NHWC", kernel_layout = "HWIO"
      : (tensor<1x8x8x16xf16>, tensor<3x3x1x16xf16>) -> tensor<1x8x8x16xf16>
  func.return %y : tensor<1x8x8x16xf16>
}
