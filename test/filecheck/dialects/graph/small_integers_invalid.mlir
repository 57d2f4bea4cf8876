// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @no_sum(%x: tensor<4xi4>) {
  // expected-error@+1 {{'graph.add': lhs has element type i4, expected float or integer to compute with; convert with graph.astype}}
  %y = graph.add %x, %x : (tensor<4xi4>, tensor<4xi4>) -> tensor<4xi4>
  func.return
}

// -----

func.func @no_bits(%x: tensor<4xui4>) {
  // expected-error@+1 {{'graph.bitwise_and': lhs has element type ui4, expected integer or i1 to compute with; convert with graph.astype}}
  %y = graph.bitwise_and %x, %x : (tensor<4xui4>, tensor<4xui4>) -> tensor<4xui4>
  func.return
}

// -----

func.func @no_product(%x: tensor<4x4xi2>) {
  // expected-error@+1 {{'graph.matmul': lhs has element type i2, expected float or integer to compute with; convert with graph.astype}}
  %y = graph.matmul %x, %x : (tensor<4x4xi2>, tensor<4x4xi2>) -> tensor<4x4xi2>
  func.return
}

// -----

func.func @no_sum_of_updates(%x: tensor<4xi4>, %i: tensor<2xi64>, %u: tensor<2xi4>) {
  // expected-error@+1 {{reduction is "add", expected "none" because the element type is i4}}
  %y = graph.scatter_elements %x, %i, %u, axis = 0, reduction = "add" : (tensor<4xi4>, tensor<2xi64>, tensor<2xi4>) -> tensor<4xi4>
  func.return
}

// -----

func.func @no_zero_point_of_another_type(%x: tensor<4xi4>, %s: tensor<f32>, %z: tensor<i8>) {
  // expected-error@+1 {{'graph.dequantize': operand has element type i4 but zero_point has i8; convert with graph.astype}}
  %y = graph.dequantize %x, %s, %z : (tensor<4xi4>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  func.return
}

// -----

func.func @no_integer_scale(%x: tensor<4xi4>, %s: tensor<i8>, %z: tensor<i4>) {
  // expected-error@+1 {{'graph.dequantize': scale has element type i8, expected float}}
  %y = graph.dequantize %x, %s, %z : (tensor<4xi4>, tensor<i8>, tensor<i4>) -> tensor<4xf32>
  func.return
}

// -----

func.func @no_blocks_that_do_not_divide(%x: tensor<7x4xi4>, %s: tensor<3x4xf32>, %z: tensor<3x4xi4>) {
  // expected-error@+1 {{'graph.dequantize': scale is 3x4, expected 2x4: blocks of 4 along axis 0 of 7x4}}
  %y = graph.dequantize %x, %s, %z, axis = 0, block_size = 4 : (tensor<7x4xi4>, tensor<3x4xf32>, tensor<3x4xi4>) -> tensor<7x4xf32>
  func.return
}

// -----

func.func @no_large_number() {
  // expected-error@+1 {{the value is 8, which i4 cannot hold: expected -8 to 7}}
  %0 = graph.full 8 : tensor<3xi4>
  func.return
}

// -----

func.func @no_upper_bits() {
  // expected-error@+1 {{an element of type ui4 is stored as 0x1F, expected 0x00 to 0x0F}}
  %0 = graph.constant dense<"0x001F02"> : tensor<3xui4>
  func.return
}

// -----

/// In the generic form there is a sign.
func.func @no_sign_left_out() {
  // expected-error@+1 {{an element of type i4 is stored as 0x0F, expected 0x00 to 0x07 or 0xF8 to 0xFF}}
  %0 = "graph.constant"() <{value = dense<"0x000F02"> : tensor<3xi4>}> : () -> tensor<3xi4>
  func.return
}

// -----

func.func @no_two_in_a_byte() {
  // expected-error@+1 {{Shape mismatch in dense literal. Expected 3 elements from the type, but got 2 elements.}}
  %0 = graph.constant dense<"0x0F02"> : tensor<3xi4>
  func.return
}

// -----

/// Other widths are none of ours.
func.func @no_other_width(%x: tensor<4xi6>) {
  // expected-error@+1 {{'graph.reshape': operand: element type i6 is not supported, expected one of}}
  %y = graph.reshape %x, shape = [2, 2] : (tensor<4xi6>) -> tensor<2x2xi6>
  func.return
}
