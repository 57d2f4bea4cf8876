// RUN: stepwell-opt %s -p lower-graph-to-loops,widen-left-operands --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p lower-graph-to-loops,widen-left-operands,widen-left-operands --split-input-file | filecheck %s

/// A sum is kept in f32 for the product that reads it again and again. The rounding is implied. Weights stay f16.
// CHECK-LABEL: func.func @product
// CHECK: graph.call_kernel @add_wide(%x, %x) : (tensor<8x32xf16>, tensor<8x32xf16>) -> tensor<8x32xf32>
// CHECK: graph.call_kernel @matmul_wide({{.*}}) : (tensor<8x32xf32>, tensor<32x192xf16>) -> tensor<8x192xf16>
// CHECK-LABEL: tensor_loop.func private @add_wide
// CHECK-SAME: outs(%out: memref<8x32xf32>)
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : f16
// CHECK: %[[WIDE:.*]] = arith.extf %[[SUM]] {stepwell.implied} : f16 to f32
// CHECK: memref.store %[[WIDE]], %out
// CHECK-LABEL: tensor_loop.func private @matmul_wide
// CHECK: %[[LEFT:.*]] = memref.load %lhs[%vm, %vk] : memref<8x32xf32>
// CHECK: %[[RIGHT:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK: arith.mulf %[[LEFT]], %[[RIGHT]]
func.func @product(%x: tensor<8x32xf16>, %w: tensor<32x192xf16>) -> tensor<8x192xf16> {
  %a = graph.add %x, %x : (tensor<8x32xf16>, tensor<8x32xf16>) -> tensor<8x32xf16>
  %y = graph.matmul %a, %w : (tensor<8x32xf16>, tensor<32x192xf16>) -> tensor<8x192xf16>
  func.return %y : tensor<8x192xf16>
}

// -----

/// What computes with the tensor as well takes it as if it were just rounded, and so does the copy with zeros around it.
// CHECK-LABEL: func.func @image
// CHECK: graph.call_kernel @multiply_wide({{.*}}) : (tensor<1x8x8x16xf32>, tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf16>
// CHECK-LABEL: tensor_loop.func private @conv2d_wide
// CHECK: %conv2d_pad = tensor_loop.alloc : memref<1x10x10x16xf32>
// CHECK: scf.if %{{.*}} -> (f32)
// CHECK: memref.store %{{.*}}, %conv2d_pad[{{.*}}] : memref<1x10x10x16xf32>
// CHECK-NOT: memref<1x10x10x16xf16>
// CHECK-LABEL: tensor_loop.func private @multiply_wide
// CHECK: %[[LOADED:.*]] = memref.load %lhs[{{.*}}] : memref<1x8x8x16xf32>
// CHECK: arith.truncf %[[LOADED]] {stepwell.implied} : f32 to f16
func.func @image(%x: tensor<1x8x8x16xf16>, %w: tensor<3x3x16x192xf16>) -> (tensor<1x4x4x192xf16>, tensor<1x8x8x16xf16>) {
  %a = graph.add %x, %x : (tensor<1x8x8x16xf16>, tensor<1x8x8x16xf16>) -> tensor<1x8x8x16xf16>
  %y = graph.conv2d %a, %w, strides = [2, 2], padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x8x8x16xf16>, tensor<3x3x16x192xf16>) -> tensor<1x4x4x192xf16>
  %z = graph.multiply %a, %a : (tensor<1x8x8x16xf16>, tensor<1x8x8x16xf16>) -> tensor<1x8x8x16xf16>
  func.return %y, %z : tensor<1x4x4x192xf16>, tensor<1x8x8x16xf16>
}

// -----

/// Two panels hold all columns.
// CHECK-LABEL: func.func @no_few_columns
// CHECK-NOT: _wide
// CHECK: func.return
func.func @no_few_columns(%x: tensor<8x32xf16>, %w: tensor<32x128xf16>) -> tensor<8x128xf16> {
  %a = graph.add %x, %x : (tensor<8x32xf16>, tensor<8x32xf16>) -> tensor<8x32xf16>
  %y = graph.matmul %a, %w : (tensor<8x32xf16>, tensor<32x128xf16>) -> tensor<8x128xf16>
  func.return %y : tensor<8x128xf16>
}

// -----

/// The caller wants an f16.
// CHECK-LABEL: func.func @no_result
// CHECK-NOT: _wide
// CHECK: func.return
func.func @no_result(%x: tensor<8x32xf16>, %w: tensor<32x192xf16>) -> (tensor<8x32xf16>, tensor<8x192xf16>) {
  %a = graph.add %x, %x : (tensor<8x32xf16>, tensor<8x32xf16>) -> tensor<8x32xf16>
  %y = graph.matmul %a, %w : (tensor<8x32xf16>, tensor<32x192xf16>) -> tensor<8x192xf16>
  func.return %a, %y : tensor<8x32xf16>, tensor<8x192xf16>
}

// -----

/// What moves elements extends each of them once.
// CHECK-LABEL: func.func @moved
// CHECK: graph.call_kernel @permute_dims_wide(%x) : (tensor<64x4x24xf16>) -> tensor<4x64x24xf32>
// CHECK: graph.call_kernel @matmul_wide
// CHECK: tensor_loop.func private @permute_dims_wide(
// CHECK: arith.extf %{{.*}} {stepwell.implied} : f16 to f32
func.func @moved(%x: tensor<64x4x24xf16>) -> tensor<4x64x256xf16> {
  %w = graph.weight "w" : tensor<24x256xf16>
  %h = graph.permute_dims %x, axes = [1, 0, 2] : (tensor<64x4x24xf16>) -> tensor<4x64x24xf16>
  %y = graph.matmul %h, %w : (tensor<4x64x24xf16>, tensor<24x256xf16>) -> tensor<4x64x256xf16>
  func.return %y : tensor<4x64x256xf16>
}

// -----

/// A maximum takes the bits of f16, and a transpose moves them.
// CHECK-LABEL: func.func @no_bits
// CHECK-NOT: _wide
// CHECK: func.return
func.func @no_bits(%x: tensor<8x32xf16>, %w: tensor<32x192xf16>) -> (tensor<8xf16>, tensor<8x192xf16>, tensor<32x8xf16>, tensor<8x192xf16>) {
  %a = graph.add %x, %x : (tensor<8x32xf16>, tensor<8x32xf16>) -> tensor<8x32xf16>
  %m = graph.max %a, axis = [1] : (tensor<8x32xf16>) -> tensor<8xf16>
  %y = graph.matmul %a, %w : (tensor<8x32xf16>, tensor<32x192xf16>) -> tensor<8x192xf16>
  %b = graph.multiply %x, %x : (tensor<8x32xf16>, tensor<8x32xf16>) -> tensor<8x32xf16>
  %t = graph.permute_dims %b, axes = [1, 0] : (tensor<8x32xf16>) -> tensor<32x8xf16>
  %z = graph.matmul %b, %w : (tensor<8x32xf16>, tensor<32x192xf16>) -> tensor<8x192xf16>
  func.return %m, %y, %t, %z : tensor<8xf16>, tensor<8x192xf16>, tensor<32x8xf16>, tensor<8x192xf16>
}

// -----

/// Pairs of bf16 have instructions, and elements of bf16 are extended as they go to all lanes.
// CHECK-LABEL: func.func @no_bf16
// CHECK-NOT: _wide
// CHECK: func.return
func.func @no_bf16(%x: tensor<8x32xbf16>, %w: tensor<32x192xbf16>) -> tensor<8x192xbf16> {
  %a = graph.add %x, %x : (tensor<8x32xbf16>, tensor<8x32xbf16>) -> tensor<8x32xbf16>
  %y = graph.matmul %a, %w : (tensor<8x32xbf16>, tensor<32x192xbf16>) -> tensor<8x192xbf16>
  func.return %y : tensor<8x192xbf16>
}
