// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @no_sum(%x: tensor<4xf8E4M3FN>) {
  // expected-error@+1 {{'graph.add': lhs has element type f8E4M3FN, expected float or integer to compute with; convert with graph.astype}}
  %y = graph.add %x, %x : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  func.return
}

// -----

func.func @no_function(%x: tensor<4xf8E5M2>) {
  // expected-error@+1 {{'graph.exp': operand has element type f8E5M2, expected float to compute with; convert with graph.astype}}
  %y = graph.exp %x : (tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
  func.return
}

// -----

func.func @no_product(%x: tensor<4x4xf8E5M2>) {
  // expected-error@+1 {{'graph.matmul': lhs has element type f8E5M2, expected float or integer to compute with; convert with graph.astype}}
  %y = graph.matmul %x, %x : (tensor<4x4xf8E5M2>, tensor<4x4xf8E5M2>) -> tensor<4x4xf8E5M2>
  func.return
}

// -----

func.func @no_reduction(%x: tensor<4xf8E4M3FN>) {
  // expected-error@+1 {{'graph.max': operand has element type f8E4M3FN, expected float or integer to compute with; convert with graph.astype}}
  %y = graph.max %x : (tensor<4xf8E4M3FN>) -> tensor<f8E4M3FN>
  func.return
}

// -----

func.func @no_two_formats(%c: tensor<4xi1>, %x: tensor<4xf8E4M3FN>, %y: tensor<4xf8E5M2>) {
  // expected-error@+1 {{'graph.where': x has element type f8E4M3FN but y has f8E5M2; convert with graph.astype}}
  %z = graph.where %c, %x, %y : (tensor<4xi1>, tensor<4xf8E4M3FN>, tensor<4xf8E5M2>) -> tensor<4xf8E4M3FN>
  func.return
}

// -----

func.func @no_two_bytes() {
  // expected-error@+1 {{the bits of an f8E5M2 are 2 hexadecimal digits, found 4}}
  %0 = graph.full 0x7C00 : tensor<3xf8E5M2>
  func.return
}

// -----

/// Other formats of MLIR are none of ours.
func.func @no_other_format(%x: tensor<4xf8E4M3FNUZ>) {
  // expected-error@+1 {{'graph.reshape': operand: element type f8E4M3FNUZ is not supported, expected one of f16, bf16, f32, f64, f8E4M3FN, f8E5M2, i1, i2, i4, i8, i16, i32, i64, ui2, ui4, ui8, ui16, ui32, ui64}}
  %y = graph.reshape %x, shape = [2, 2] : (tensor<4xf8E4M3FNUZ>) -> tensor<2x2xf8E4M3FNUZ>
  func.return
}
