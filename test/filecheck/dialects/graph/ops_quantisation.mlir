// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @one_scale
// GENERIC-LABEL: sym_name = "one_scale"
func.func @one_scale(%x: tensor<1x3x4xf32>, %s: tensor<f32>, %z: tensor<ui8>) {
  // CHECK: %[[Q:.*]] = graph.quantize %x, %s, %z : (tensor<1x3x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x3x4xui8>
  // GENERIC: "graph.quantize"(%x, %s, %z) <{axis = 1 : i64, block_size = 0 : i64}> : (tensor<1x3x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x3x4xui8>
  %q = graph.quantize %x, %s, %z : (tensor<1x3x4xf32>, tensor<f32>, tensor<ui8>)
  // CHECK: graph.dequantize %[[Q]], %s, %z : (tensor<1x3x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x4xf32>
  // GENERIC: "graph.dequantize"(%{{.*}}, %s, %z) <{axis = 1 : i64, block_size = 0 : i64}> : (tensor<1x3x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x4xf32>
  %d = graph.dequantize %q, %s, %z : (tensor<1x3x4xui8>, tensor<f32>, tensor<ui8>)
  func.return
}

// CHECK-LABEL: @one_scale_per_channel
// GENERIC-LABEL: sym_name = "one_scale_per_channel"
func.func @one_scale_per_channel(%w: tensor<8x?xi8>, %s: tensor<8xf16>, %z: tensor<8xi8>) {
  // CHECK: graph.dequantize %w, %s, %z, axis = -2 : (tensor<8x?xi8>, tensor<8xf16>, tensor<8xi8>) -> tensor<8x?xf16>
  // GENERIC: "graph.dequantize"(%w, %s, %z) <{axis = -2 : i64, block_size = 0 : i64}> : (tensor<8x?xi8>, tensor<8xf16>, tensor<8xi8>) -> tensor<8x?xf16>
  %d = graph.dequantize %w, %s, %z, axis = -2 : (tensor<8x?xi8>, tensor<8xf16>, tensor<8xi8>)
  func.return
}

// CHECK-LABEL: @floats_of_8_bits
// GENERIC-LABEL: sym_name = "floats_of_8_bits"
func.func @floats_of_8_bits(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %z: tensor<3xf8E4M3FN>) {
  // CHECK: %[[Q:.*]] = graph.quantize %x, %s, %z : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf8E4M3FN>) -> tensor<2x3xf8E4M3FN>
  // GENERIC: "graph.quantize"(%x, %s, %z) <{axis = 1 : i64, block_size = 0 : i64}>
  %q = graph.quantize %x, %s, %z : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf8E4M3FN>)
  // CHECK: graph.dequantize %[[Q]], %s, %z : (tensor<2x3xf8E4M3FN>, tensor<3xf32>, tensor<3xf8E4M3FN>) -> tensor<2x3xf32>
  // GENERIC: "graph.dequantize"(%{{.*}}, %s, %z) <{axis = 1 : i64, block_size = 0 : i64}>
  %d = graph.dequantize %q, %s, %z : (tensor<2x3xf8E4M3FN>, tensor<3xf32>, tensor<3xf8E4M3FN>)
  func.return
}

// CHECK-LABEL: @sums
// GENERIC-LABEL: sym_name = "sums"
func.func @sums(%x: tensor<4x?xi32>, %r: tensor<?x8xf16>, %m: tensor<4xf32>, %n: tensor<f16>, %z: tensor<ui8>) {
  // CHECK: graph.requantize %x, %m, %z, axis = 0 : (tensor<4x?xi32>, tensor<4xf32>, tensor<ui8>) -> tensor<4x?xui8>
  // GENERIC: "graph.requantize"(%x, %m, %z) <{axis = 0 : i64}> : (tensor<4x?xi32>, tensor<4xf32>, tensor<ui8>) -> tensor<4x?xui8>
  %q = graph.requantize %x, %m, %z, axis = 0 : (tensor<4x?xi32>, tensor<4xf32>, tensor<ui8>)
  // CHECK: graph.requantize %r, %n, %z : (tensor<?x8xf16>, tensor<f16>, tensor<ui8>) -> tensor<?x8xui8>
  // GENERIC: "graph.requantize"(%r, %n, %z) <{axis = 1 : i64}>
  %t = graph.requantize %r, %n, %z : (tensor<?x8xf16>, tensor<f16>, tensor<ui8>)
  func.return
}

// CHECK-LABEL: @packed_product
// GENERIC-LABEL: sym_name = "packed_product"
func.func @packed_product(%x: tensor<2x?x50xf32>, %w: tensor<8x32xui8>, %s: tensor<8x2xf32>, %z: tensor<8x2xui8>) {
  // CHECK: graph.matmul_packed %x, %w, %s, %z : (tensor<2x?x50xf32>, tensor<8x32xui8>, tensor<8x2xf32>, tensor<8x2xui8>) -> tensor<2x?x8xf32>
  // GENERIC: "graph.matmul_packed"(%x, %w, %s, %z) <{bits = 4 : i64, block_size = 32 : i64, rounded_bits = 0 : i64}>
  %y = graph.matmul_packed %x, %w, %s, %z
      : (tensor<2x?x50xf32>, tensor<8x32xui8>, tensor<8x2xf32>, tensor<8x2xui8>)
  func.return
}

// CHECK-LABEL: @one_scale_per_block
// GENERIC-LABEL: sym_name = "one_scale_per_block"
func.func @one_scale_per_block(%w: tensor<5x8xf64>, %s: tensor<3x8xf64>, %z: tensor<3x8xi32>) {
  // CHECK: graph.quantize %w, %s, %z, axis = 0, block_size = 2 : (tensor<5x8xf64>, tensor<3x8xf64>, tensor<3x8xi32>) -> tensor<5x8xi32>
  // GENERIC: "graph.quantize"(%w, %s, %z) <{axis = 0 : i64, block_size = 2 : i64}> : (tensor<5x8xf64>, tensor<3x8xf64>, tensor<3x8xi32>) -> tensor<5x8xi32>
  %q = graph.quantize %w, %s, %z, axis = 0, block_size = 2 : (tensor<5x8xf64>, tensor<3x8xf64>, tensor<3x8xi32>)
  func.return
}
