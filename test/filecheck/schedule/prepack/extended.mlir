// RUN: stepwell-opt %s --split-input-file -p 'graph-optimize,to-loops,prepack-weights{target="x86-64-v4"}' | filecheck %s
// RUN: stepwell-opt %s --split-input-file -p 'graph-optimize,to-loops,prepack-weights{target="x86-64-v3"}' | filecheck %s

/// Panels of f16 that many rows read are extended by the first tile that reads them, and tiles take them as f32. The
/// weights in memory stay f16.
// CHECK-LABEL: tensor_loop.func private @matmul
// CHECK-SAME: %rhs: memref<[[SHAPE:[0-9]+x64x[0-9]+x]]f16>
// CHECK: %extended = tensor_loop.alloc : memref<[[SHAPE]]f32>
// CHECK: tensor_loop.for %p in
// CHECK: tensor_loop.for %m0 in
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %vm0
// CHECK: scf.for
// CHECK: scf.if %[[FIRST]] {
// CHECK: tile.load %rhs[
// CHECK: tile.store %{{.*}}, %extended[
// CHECK: tile.mma %{{.*}}, %lhs[{{.*}}], %extended[
func.func @main(%x: tensor<192x64xf16>) -> tensor<192x128xf16> {
  %w = graph.weight "w" : tensor<64x128xf16>
  %y = graph.matmul %x, %w : (tensor<192x64xf16>, tensor<64x128xf16>) -> tensor<192x128xf16>
  func.return %y : tensor<192x128xf16>
}

// -----

/// The pixels of all rows of an image are rows.
// CHECK-LABEL: tensor_loop.func private @conv2d
// CHECK: tile.mma %{{.*}}, %{{.*}}, %extended[
func.func @image(%x: tensor<1x14x14x16xf16>) -> tensor<1x14x14x32xf16> {
  %w = graph.weight "w" : tensor<1x1x16x32xf16>
  %y = graph.conv2d %x, %w, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x14x14x16xf16>, tensor<1x1x16x32xf16>) -> tensor<1x14x14x32xf16>
  func.return %y : tensor<1x14x14x32xf16>
}

// -----

/// A tile skips taps outside of the image. So panels are extended before their tiles.
// CHECK-LABEL: tensor_loop.func private @conv2d
// CHECK: tensor_loop.block "pack" {{.*}} reads(%filter[{{.*}}]) writes(%extended[{{.*}}])
// CHECK-NOT: scf.if {{.*}}tile.store
// CHECK: tile.mma %{{.*}}, %{{.*}}[{{.*}}], %extended[
func.func @no_taps_in_tiles(%x: tensor<1x28x28x16xf16>) -> tensor<1x14x14x64xf16> {
  %w = graph.weight "w" : tensor<3x3x16x64xf16>
  %y = graph.conv2d %x, %w, strides = [2, 2], padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x28x28x16xf16>, tensor<3x3x16x64xf16>) -> tensor<1x14x14x64xf16>
  func.return %y : tensor<1x14x14x64xf16>
}

// -----

// CHECK-LABEL: tensor_loop.func private @matmul
// CHECK-NOT: %extended
// CHECK: tensor_loop.func private @pack_panels0
func.func @no_few_rows(%x: tensor<128x64xf16>) -> tensor<128x128xf16> {
  %w = graph.weight "w" : tensor<64x128xf16>
  %y = graph.matmul %x, %w : (tensor<128x64xf16>, tensor<64x128xf16>) -> tensor<128x128xf16>
  func.return %y : tensor<128x128xf16>
}

// -----

/// 4 MiB of f32 would push each other out of L2.
// CHECK-LABEL: tensor_loop.func private @matmul
// CHECK-NOT: %extended
// CHECK: tensor_loop.func private @pack_panels0
func.func @no_large_weights(%x: tensor<192x1024xf16>) -> tensor<192x1024xf16> {
  %w = graph.weight "w" : tensor<1024x1024xf16>
  %y = graph.matmul %x, %w : (tensor<192x1024xf16>, tensor<1024x1024xf16>) -> tensor<192x1024xf16>
  func.return %y : tensor<192x1024xf16>
}

// -----

// CHECK-LABEL: tensor_loop.func private @matmul
// CHECK-NOT: %extended
// CHECK: tensor_loop.func private @pack_panels0
func.func @no_bf16(%x: tensor<192x64xbf16>) -> tensor<192x128xbf16> {
  %w = graph.weight "w" : tensor<64x128xbf16>
  %y = graph.matmul %x, %w : (tensor<192x64xbf16>, tensor<64x128xbf16>) -> tensor<192x128xbf16>
  func.return %y : tensor<192x128xbf16>
}
