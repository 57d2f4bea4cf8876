// RUN: stepwell-opt %s -p 'integer-arithmetic{rules=widened-conversions,widened-moves,widened-products}' | filecheck %s
// RUN: stepwell-opt %s -p 'integer-arithmetic{numerics=strict}' | filecheck %s --check-prefix STRICT

// CHECK-LABEL: func.func @widened_conversions(
// CHECK: %[[S:.*]] = graph.astype %s, dtype = f32 : (tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT: %[[D:.*]] = graph.dequantize %q, %[[S]], %z : (tensor<4x8xi8>, tensor<8xf32>, tensor<8xi8>) -> tensor<4x8xf32>
// CHECK-NEXT: func.return %[[D]]
// STRICT-LABEL: func.func @widened_conversions(
// STRICT: graph.dequantize {{.*}} -> tensor<4x8xf16>
func.func @widened_conversions(%q: tensor<4x8xi8>, %s: tensor<8xf16>, %z: tensor<8xi8>) -> tensor<4x8xf32> {
  %d = graph.dequantize %q, %s, %z : (tensor<4x8xi8>, tensor<8xf16>, tensor<8xi8>) -> tensor<4x8xf16>
  %y = graph.astype %d, dtype = f32 : (tensor<4x8xf16>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

/// To round f32 to f16, f16 to bf16, or f64 to f32 is no widening.
// CHECK-LABEL: func.func @no_widened_conversions(
// CHECK-NEXT: %[[A:.*]] = graph.dequantize
// CHECK-NEXT: graph.astype %[[A]]
// CHECK-NEXT: %[[B:.*]] = graph.dequantize
// CHECK-NEXT: graph.astype %[[B]]
// CHECK-NEXT: %[[C:.*]] = graph.dequantize
// CHECK-NEXT: graph.astype %[[C]]
func.func @no_widened_conversions(%q: tensor<8xi8>, %s: tensor<f32>, %t: tensor<f16>, %u: tensor<f64>, %z: tensor<i8>) -> (tensor<8xf16>, tensor<8xbf16>, tensor<8xf32>) {
  %a = graph.dequantize %q, %s, %z : (tensor<8xi8>, tensor<f32>, tensor<i8>) -> tensor<8xf32>
  %b = graph.astype %a, dtype = f16 : (tensor<8xf32>) -> tensor<8xf16>
  %c = graph.dequantize %q, %t, %z : (tensor<8xi8>, tensor<f16>, tensor<i8>) -> tensor<8xf16>
  %d = graph.astype %c, dtype = bf16 : (tensor<8xf16>) -> tensor<8xbf16>
  %e = graph.dequantize %q, %u, %z : (tensor<8xi8>, tensor<f64>, tensor<i8>) -> tensor<8xf64>
  %f = graph.astype %e, dtype = f32 : (tensor<8xf64>) -> tensor<8xf32>
  func.return %b, %d, %f : tensor<8xf16>, tensor<8xbf16>, tensor<8xf32>
}

// CHECK-LABEL: func.func @widened_moves(
// CHECK: %[[W:.*]] = graph.permute_dims %w : (tensor<8x32xi8>) -> tensor<32x8xi8>
// CHECK-NEXT: %[[D:.*]] = graph.dequantize %[[W]], %s, %{{.*}} : (tensor<32x8xi8>, tensor<8xf32>, tensor<8xi8>) -> tensor<32x8xf32>
// CHECK-NEXT: graph.astype %[[D]], dtype = f16 : (tensor<32x8xf32>) -> tensor<32x8xf16>
func.func @widened_moves() -> tensor<32x8xf16> {
  %w = graph.weight "w" : tensor<8x32xi8>
  %s = graph.weight "s" : tensor<8xf32>
  %z = graph.full 0 : tensor<8xi8>
  %d = graph.dequantize %w, %s, %z, axis = 0 : (tensor<8x32xi8>, tensor<8xf32>, tensor<8xi8>) -> tensor<8x32xf32>
  %f = graph.astype %d, dtype = f16 : (tensor<8x32xf32>) -> tensor<8x32xf16>
  %y = graph.permute_dims %f : (tensor<8x32xf16>) -> tensor<32x8xf16>
  func.return %y : tensor<32x8xf16>
}

/// What a caller gives is moved as f16, and f64 as f64. Scales of rows do not follow rows that are cut in halves.
// CHECK-LABEL: func.func @no_widened_moves(
// CHECK: graph.permute_dims {{.*}} -> tensor<32x8xf16>
// CHECK: graph.reshape {{.*}} -> tensor<16x16xf16>
// CHECK: graph.permute_dims {{.*}} -> tensor<32x8xf64>
func.func @no_widened_moves(%q: tensor<8x32xi8>) -> (tensor<32x8xf16>, tensor<16x16xf16>, tensor<32x8xf64>) {
  %w = graph.weight "w" : tensor<8x32xi8>
  %s = graph.weight "s" : tensor<8xf32>
  %z = graph.full 0 : tensor<8xi8>
  %a = graph.dequantize %q, %s, %z, axis = 0 : (tensor<8x32xi8>, tensor<8xf32>, tensor<8xi8>) -> tensor<8x32xf32>
  %b = graph.astype %a, dtype = f16 : (tensor<8x32xf32>) -> tensor<8x32xf16>
  %c = graph.permute_dims %b : (tensor<8x32xf16>) -> tensor<32x8xf16>
  %d = graph.dequantize %w, %s, %z, axis = 0 : (tensor<8x32xi8>, tensor<8xf32>, tensor<8xi8>) -> tensor<8x32xf32>
  %e = graph.astype %d, dtype = f16 : (tensor<8x32xf32>) -> tensor<8x32xf16>
  %f = graph.reshape %e, shape = [16, 16] : (tensor<8x32xf16>) -> tensor<16x16xf16>
  %g = graph.astype %d, dtype = f64 : (tensor<8x32xf32>) -> tensor<8x32xf64>
  %h = graph.permute_dims %g : (tensor<8x32xf64>) -> tensor<32x8xf64>
  func.return %c, %f, %h : tensor<32x8xf16>, tensor<16x16xf16>, tensor<32x8xf64>
}

/// Both operands stand for bytes: they are read in f32, one of them without the cast between.
// CHECK-LABEL: func.func @widened_products(
// CHECK: %[[X:.*]] = graph.dequantize %x, %{{.*}}, %zx : (tensor<3x32xui8>, tensor<f32>, tensor<ui8>) -> tensor<3x32xf32>
// CHECK: %[[Y:.*]] = graph.matmul %[[X]], %b : (tensor<3x32xf32>, tensor<32x8xf32>) -> tensor<3x8xf32>
// CHECK-NEXT: graph.astype %[[Y]], dtype = f16 : (tensor<3x8xf32>) -> tensor<3x8xf16>
// STRICT-LABEL: func.func @widened_products(
// STRICT: graph.matmul {{.*}} -> tensor<3x8xf16>
func.func @widened_products(%x: tensor<3x32xui8>, %zx: tensor<ui8>) -> tensor<3x8xf16> {
  %sx = graph.full 0.5 : tensor<f16>
  %w = graph.weight "w" : tensor<32x8xi8>
  %s = graph.weight "s" : tensor<8xf32>
  %z = graph.full 0 : tensor<8xi8>
  %a = graph.dequantize %x, %sx, %zx : (tensor<3x32xui8>, tensor<f16>, tensor<ui8>) -> tensor<3x32xf16>
  %b = graph.dequantize %w, %s, %z : (tensor<32x8xi8>, tensor<8xf32>, tensor<8xi8>) -> tensor<32x8xf32>
  %c = graph.astype %b, dtype = f16 : (tensor<32x8xf32>) -> tensor<32x8xf16>
  %y = graph.matmul %a, %c : (tensor<3x32xf16>, tensor<32x8xf16>) -> tensor<3x8xf16>
  func.return %y : tensor<3x8xf16>
}

/// Weights alone, in blocks, that were cast.
// CHECK-LABEL: func.func @widened_products_of_weights(
// CHECK: %[[X:.*]] = graph.astype %x, dtype = f32
// CHECK: graph.matmul %[[X]], %d : (tensor<3x32xf32>, tensor<32x8xf32>) -> tensor<3x8xf32>
func.func @widened_products_of_weights(%x: tensor<3x32xf16>) -> tensor<3x8xf16> {
  %w = graph.weight "w" : tensor<32x8xi4>
  %s = graph.weight "s" : tensor<2x8xf32>
  %z = graph.full 0 : tensor<2x8xi4>
  %d = graph.dequantize %w, %s, %z, axis = 0, block_size = 16 : (tensor<32x8xi4>, tensor<2x8xf32>, tensor<2x8xi4>) -> tensor<32x8xf32>
  %c = graph.astype %d, dtype = f16 : (tensor<32x8xf32>) -> tensor<32x8xf16>
  %y = graph.matmul %x, %c : (tensor<3x32xf16>, tensor<32x8xf16>) -> tensor<3x8xf16>
  func.return %y : tensor<3x8xf16>
}

// CHECK-LABEL: func.func @widened_convolutions(
// CHECK: %[[Y:.*]] = graph.conv2d {{.*}} -> tensor<1x2x3x3xf32>
// CHECK-NEXT: graph.astype %[[Y]], dtype = bf16
func.func @widened_convolutions(%x: tensor<1x3x3x3xi8>) -> tensor<1x2x3x3xbf16> {
  %s = graph.full 0.5 : tensor<bf16>
  %z = graph.full 0 : tensor<i8>
  %w = graph.weight "w" : tensor<2x3x1x1xi8>
  %a = graph.dequantize %x, %s, %z : (tensor<1x3x3x3xi8>, tensor<bf16>, tensor<i8>) -> tensor<1x3x3x3xbf16>
  %b = graph.dequantize %w, %s, %z : (tensor<2x3x1x1xi8>, tensor<bf16>, tensor<i8>) -> tensor<2x3x1x1xbf16>
  %y = graph.conv2d %a, %b : (tensor<1x3x3x3xbf16>, tensor<2x3x1x1xbf16>) -> tensor<1x2x3x3xbf16>
  func.return %y : tensor<1x2x3x3xbf16>
}

/// Floats, weights of rows, and left operands with a scale for each row have no integer form.
// CHECK-LABEL: func.func @no_widened_products(
// CHECK-COUNT-4: graph.matmul {{.*}} -> tensor<4x8xf16>
func.func @no_widened_products(%x: tensor<4x8xf16>, %q: tensor<4x8xi8>) -> (tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>) {
  %f = graph.weight "f" : tensor<8x8xf16>
  %a = graph.matmul %x, %f : (tensor<4x8xf16>, tensor<8x8xf16>) -> tensor<4x8xf16>
  %w = graph.weight "w" : tensor<8x8xi8>
  %s = graph.weight "s" : tensor<8xf16>
  %z = graph.full 0 : tensor<8xi8>
  %one = graph.full 0.5 : tensor<f16>
  %none = graph.full 0 : tensor<i8>
  %b = graph.dequantize %w, %s, %z, axis = 0 : (tensor<8x8xi8>, tensor<8xf16>, tensor<8xi8>) -> tensor<8x8xf16>
  %c = graph.dequantize %q, %one, %none : (tensor<4x8xi8>, tensor<f16>, tensor<i8>) -> tensor<4x8xf16>
  %d = graph.matmul %c, %b : (tensor<4x8xf16>, tensor<8x8xf16>) -> tensor<4x8xf16>
  %rows = graph.weight "rows" : tensor<4xf16>
  %none4 = graph.full 0 : tensor<4xi8>
  %e = graph.dequantize %q, %rows, %none4, axis = 0 : (tensor<4x8xi8>, tensor<4xf16>, tensor<4xi8>) -> tensor<4x8xf16>
  %g = graph.dequantize %w, %one, %none : (tensor<8x8xi8>, tensor<f16>, tensor<i8>) -> tensor<8x8xf16>
  %h = graph.matmul %e, %g : (tensor<4x8xf16>, tensor<8x8xf16>) -> tensor<4x8xf16>
  %i = graph.matmul %x, %g : (tensor<4x8xf16>, tensor<8x8xf16>) -> tensor<4x8xf16>
  func.return %a, %d, %h, %i : tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>
}
