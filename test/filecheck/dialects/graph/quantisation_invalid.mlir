// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<f32>, %z: tensor<i64>) {
  // expected-error@+1 {{'graph.quantize': zero_point has element type i64, expected one of i2, i4, ui2, ui4, i8, ui8, i16, ui16, i32, f8E4M3FN, f8E5M2}}
  %y = graph.quantize %x, %s, %z : (tensor<4x8xf32>, tensor<f32>, tensor<i64>) -> tensor<4x8xi64>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<f16>, %z: tensor<i8>) {
  // expected-error@+1 {{'graph.quantize': operand has element type f32 but scale has f16; convert with graph.astype}}
  %y = graph.quantize %x, %s, %z : (tensor<4x8xf32>, tensor<f16>, tensor<i8>) -> tensor<4x8xi8>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xui8>, %s: tensor<f32>, %z: tensor<i8>) {
  // expected-error@+1 {{'graph.dequantize': operand has element type ui8 but zero_point has i8; convert with graph.astype}}
  %y = graph.dequantize %x, %s, %z : (tensor<4x8xui8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xi8>, %s: tensor<8xf32>, %z: tensor<i8>) {
  // expected-error@+1 {{'graph.dequantize': scale is 8 but zero_point is ()}}
  %y = graph.dequantize %x, %s, %z : (tensor<4x8xi8>, tensor<8xf32>, tensor<i8>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xi8>, %s: tensor<8xf32>, %z: tensor<8xi8>) {
  // expected-error@+1 {{'graph.dequantize': scale is 8, expected 4: the extent of axis 0 of 4x8}}
  %y = graph.dequantize %x, %s, %z, axis = 0 : (tensor<4x8xi8>, tensor<8xf32>, tensor<8xi8>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xi8>, %s: tensor<4x4xf32>, %z: tensor<4x4xi8>) {
  // expected-error@+1 {{'graph.dequantize': scale is 4x4, expected 4x3: blocks of 3 along axis 1 of 4x8}}
  %y = graph.dequantize %x, %s, %z, block_size = 3 : (tensor<4x8xi8>, tensor<4x4xf32>, tensor<4x4xi8>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xi8>, %s: tensor<f32>, %z: tensor<i8>) {
  // expected-error@+1 {{'graph.dequantize': block_size is -1, expected at least 0}}
  %y = graph.dequantize %x, %s, %z, block_size = -1 : (tensor<4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xi8>, %s: tensor<8xf32>, %z: tensor<8xi8>) {
  // expected-error@+1 {{'graph.dequantize': axis 2 is out of range for rank 2, expected -2 to 1}}
  %y = graph.dequantize %x, %s, %z, axis = 2 : (tensor<4x8xi8>, tensor<8xf32>, tensor<8xi8>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @packed_bits(%x: tensor<4x64xf32>, %w: tensor<8x16xui8>, %s: tensor<8x2xf32>, %z: tensor<8x2xui8>) {
  // expected-error@+1 {{'graph.matmul_packed': bits is 2, expected 4 or 8}}
  %y = graph.matmul_packed %x, %w, %s, %z, bits = 2
      : (tensor<4x64xf32>, tensor<8x16xui8>, tensor<8x2xf32>, tensor<8x2xui8>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @packed_element(%x: tensor<4x64xf32>, %w: tensor<8x32xui16>, %s: tensor<8x2xf32>, %z: tensor<8x2xui16>) {
  // expected-error@+1 {{'graph.matmul_packed': weights has element type ui16, expected ui8}}
  %y = graph.matmul_packed %x, %w, %s, %z
      : (tensor<4x64xf32>, tensor<8x32xui16>, tensor<8x2xf32>, tensor<8x2xui16>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @packed_block(%x: tensor<4x63xf32>, %w: tensor<8x32xui8>, %s: tensor<8x9xf32>, %z: tensor<8x9xui8>) {
  // expected-error@+1 {{'graph.matmul_packed': block_size is 7, expected whole bytes of 4 bits}}
  %y = graph.matmul_packed %x, %w, %s, %z, block_size = 7
      : (tensor<4x63xf32>, tensor<8x32xui8>, tensor<8x9xf32>, tensor<8x9xui8>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @packed_rows(%x: tensor<4x64xf32>, %w: tensor<8x64xui8>, %s: tensor<8x2xf32>, %z: tensor<8x2xui8>) {
  // expected-error@+1 {{'graph.matmul_packed': weights is 8x64, expected 8x32: rows of 64 numbers of 4 bits in blocks of 32}}
  %y = graph.matmul_packed %x, %w, %s, %z
      : (tensor<4x64xf32>, tensor<8x64xui8>, tensor<8x2xf32>, tensor<8x2xui8>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @packed_rank(%x: tensor<4x64xf32>, %w: tensor<8x2x16xui8>, %s: tensor<8x2xf32>, %z: tensor<8x2xui8>) {
  // expected-error@+1 {{'graph.matmul_packed': weights is 8x2x16, expected a matrix of bytes}}
  %y = graph.matmul_packed %x, %w, %s, %z
      : (tensor<4x64xf32>, tensor<8x2x16xui8>, tensor<8x2xf32>, tensor<8x2xui8>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @packed_scalar(%x: tensor<f32>, %w: tensor<8x32xui8>, %s: tensor<8x2xf32>, %z: tensor<8x2xui8>) {
  // expected-error@+1 {{'graph.matmul_packed': operand is a scalar, expected at least 1 dimension}}
  %y = graph.matmul_packed %x, %w, %s, %z
      : (tensor<f32>, tensor<8x32xui8>, tensor<8x2xf32>, tensor<8x2xui8>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @packed_scales(%x: tensor<4x64xf32>, %w: tensor<8x32xui8>, %s: tensor<8x3xf32>, %z: tensor<8x2xui8>) {
  // expected-error@+1 {{'graph.matmul_packed': scale is 8x3, expected 8x2: one for each block of a row}}
  %y = graph.matmul_packed %x, %w, %s, %z
      : (tensor<4x64xf32>, tensor<8x32xui8>, tensor<8x3xf32>, tensor<8x2xui8>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @packed_zero_points(%x: tensor<4x64xf32>, %w: tensor<8x32xui8>, %s: tensor<8x2xf32>, %z: tensor<8x2xi8>) {
  // expected-error@+1 {{'graph.matmul_packed': zero_point has element type i8, expected unsigned integer}}
  %y = graph.matmul_packed %x, %w, %s, %z
      : (tensor<4x64xf32>, tensor<8x32xui8>, tensor<8x2xf32>, tensor<8x2xi8>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @packed_rounded(%x: tensor<4x64xf32>, %w: tensor<8x32xui8>, %s: tensor<8x2xf32>, %z: tensor<ui8>) {
  // expected-error@+1 {{'graph.matmul_packed': rounded_bits is 4, expected 0 or 8}}
  %y = graph.matmul_packed %x, %w, %s, %z, rounded_bits = 4
      : (tensor<4x64xf32>, tensor<8x32xui8>, tensor<8x2xf32>, tensor<ui8>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @packed_rounded_rest(%x: tensor<4x50xf32>, %w: tensor<8x32xui8>, %s: tensor<8x2xf32>, %z: tensor<ui8>) {
  // expected-error@+1 {{'graph.matmul_packed': rows of 50 numbers are rounded, expected whole blocks of 32}}
  %y = graph.matmul_packed %x, %w, %s, %z, rounded_bits = 8
      : (tensor<4x50xf32>, tensor<8x32xui8>, tensor<8x2xf32>, tensor<ui8>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @requantized_element(%x: tensor<4x8xi16>, %m: tensor<f32>, %z: tensor<i8>) {
  // expected-error@+1 {{'graph.requantize': operand has element type i16, expected i32 or f32 of multiplier}}
  %y = graph.requantize %x, %m, %z : (tensor<4x8xi16>, tensor<f32>, tensor<i8>) -> tensor<4x8xi8>
  func.return
}

// -----

func.func @requantized_float(%x: tensor<4x8xf16>, %m: tensor<f32>, %z: tensor<i8>) {
  // expected-error@+1 {{'graph.requantize': operand has element type f16, expected i32 or f32 of multiplier}}
  %y = graph.requantize %x, %m, %z : (tensor<4x8xf16>, tensor<f32>, tensor<i8>) -> tensor<4x8xi8>
  func.return
}

// -----

func.func @requantized_type(%x: tensor<4x8xi32>, %m: tensor<f32>, %z: tensor<i64>) {
  // expected-error@+1 {{'graph.requantize': zero_point has element type i64, expected one of i2, i4, ui2, ui4, i8, ui8, i16, ui16, i32, f8E4M3FN, f8E5M2}}
  %y = graph.requantize %x, %m, %z : (tensor<4x8xi32>, tensor<f32>, tensor<i64>) -> tensor<4x8xi64>
  func.return
}

// -----

func.func @requantized_zero_points(%x: tensor<4x8xi32>, %m: tensor<8xf32>, %z: tensor<8xi8>) {
  // expected-error@+1 {{'graph.requantize': zero_point is 8, expected a scalar}}
  %y = graph.requantize %x, %m, %z : (tensor<4x8xi32>, tensor<8xf32>, tensor<8xi8>) -> tensor<4x8xi8>
  func.return
}

// -----

func.func @requantized_axis(%x: tensor<4x8xi32>, %m: tensor<8xf32>, %z: tensor<i8>) {
  // expected-error@+1 {{'graph.requantize': multiplier is 8, expected () or 4: the extent of axis 0 of 4x8}}
  %y = graph.requantize %x, %m, %z, axis = 0 : (tensor<4x8xi32>, tensor<8xf32>, tensor<i8>) -> tensor<4x8xi8>
  func.return
}

// -----

func.func @requantized_matrix(%x: tensor<4x8xi32>, %m: tensor<4x8xf32>, %z: tensor<i8>) {
  // expected-error@+1 {{'graph.requantize': multiplier is 4x8, expected () or 8: the extent of axis 1 of 4x8}}
  %y = graph.requantize %x, %m, %z : (tensor<4x8xi32>, tensor<4x8xf32>, tensor<i8>) -> tensor<4x8xi8>
  func.return
}
