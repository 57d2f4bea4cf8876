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

// CHECK-LABEL: @one_scale_per_block
// GENERIC-LABEL: sym_name = "one_scale_per_block"
func.func @one_scale_per_block(%w: tensor<5x8xf64>, %s: tensor<3x8xf64>, %z: tensor<3x8xi32>) {
  // CHECK: graph.quantize %w, %s, %z, axis = 0, block_size = 2 : (tensor<5x8xf64>, tensor<3x8xf64>, tensor<3x8xi32>) -> tensor<5x8xi32>
  // GENERIC: "graph.quantize"(%w, %s, %z) <{axis = 0 : i64, block_size = 2 : i64}> : (tensor<5x8xf64>, tensor<3x8xf64>, tensor<3x8xi32>) -> tensor<5x8xi32>
  %q = graph.quantize %w, %s, %z, axis = 0, block_size = 2 : (tensor<5x8xf64>, tensor<3x8xf64>, tensor<3x8xi32>)
  func.return
}
