// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @f(%x: tensor<3x4xf32>, %y: tensor<4x3xf32>) {
  // expected-error@+1 {{'graph.add': shapes 3x4 and 4x3 do not broadcast: dimension 1 is 4 and 3}}
  %z = graph.add %x, %y : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3xf32>, %y: tensor<3xf16>) {
  // expected-error@+1 {{'graph.add': lhs has element type f32 but rhs has f16; convert with graph.astype}}
  %z = graph.add %x, %y : (tensor<3xf32>, tensor<3xf16>) -> tensor<3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3xi32>, %y: tensor<3xui32>) {
  // expected-error@+1 {{'graph.add': lhs has element type i32 but rhs has ui32; convert with graph.astype}}
  %z = graph.add %x, %y : (tensor<3xi32>, tensor<3xui32>) -> tensor<3xi32>
  func.return
}

// -----

func.func @f(%x: tensor<3x1xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{'graph.add': the result has type tensor<4x3xf32>, expected tensor<3x4xf32>}}
  %z = graph.add %x, %y : (tensor<3x1xf32>, tensor<4xf32>) -> tensor<4x3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{'graph.equal': the result has type tensor<3xf32>, expected tensor<3xi1>}}
  %z = graph.equal %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3xi8>, %y: tensor<3xi8>) {
  // expected-error@+1 {{'graph.logical_and': lhs has element type i8, expected i1}}
  %z = graph.logical_and %x, %y : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>
  func.return
}

// -----

func.func @f(%x: tensor<3xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{'graph.left_shift': lhs has element type f32, expected integer}}
  %z = graph.left_shift %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{'graph.bitwise_or': lhs has element type f32, expected integer or i1}}
  %z = graph.bitwise_or %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3xi8>, %y: tensor<3xf32>, %z: tensor<3xf32>) {
  // expected-error@+1 {{'graph.where': condition has element type i8, expected i1}}
  %w = graph.where %x, %y, %z : (tensor<3xi8>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3xi1>, %y: tensor<3xf32>, %z: tensor<3xf64>) {
  // expected-error@+1 {{'graph.where': x has element type f32 but y has f64; convert with graph.astype}}
  %w = graph.where %x, %y, %z : (tensor<3xi1>, tensor<3xf32>, tensor<3xf64>) -> tensor<3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3xf32>, %y: tensor<2xf32>, %z: tensor<1xf32>) {
  // expected-error@+1 {{'graph.ewise_fma': shapes 3 and 2 do not broadcast: dimension 0 is 3 and 2}}
  %w = graph.ewise_fma %x, %y, %z : (tensor<3xf32>, tensor<2xf32>, tensor<1xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error@+1 {{'graph.add': Expected 2 operands, but got 1}}
  %z = "graph.add"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  func.return
}
