// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<9x2xf32>) {
  // expected-error@+1 {{'graph.matmul': lhs has K = 8 columns but rhs has K = 9 rows}}
  %c = graph.matmul %a, %b : (tensor<4x8xf32>, tensor<9x2xf32>) -> tensor<4x2xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>, %b: tensor<9xf32>) {
  // expected-error@+1 {{'graph.matmul': lhs has K = 8 elements but rhs has K = 9 elements}}
  %c = graph.matmul %a, %b : (tensor<8xf32>, tensor<9xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<f32>, %b: tensor<8x2xf32>) {
  // expected-error@+1 {{'graph.matmul': lhs has rank 0, expected at least 1}}
  %c = graph.matmul %a, %b : (tensor<f32>, tensor<8x2xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x8xf32>, %b: tensor<3x8x2xf32>) {
  // expected-error@+1 {{'graph.matmul': leading dimensions 2 of lhs and 3 of rhs do not broadcast}}
  %c = graph.matmul %a, %b : (tensor<2x4x8xf32>, tensor<3x8x2xf32>) -> tensor<2x4x2xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error@+1 {{'graph.matmul': the result has type tensor<2x4xf32>, expected tensor<4x2xf32>}}
  %c = graph.matmul %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xi8>, %b: tensor<8x2xi8>) {
  // expected-error@+1 {{'graph.matmul': out_dtype is f32, expected a signed integer type because the operands are i8}}
  %c = graph.matmul %a, %b, out_dtype = f32 : (tensor<4x8xi8>, tensor<8x2xi8>) -> tensor<4x2xf32>
  func.return
}

// -----

/// Bytes go with bytes of other signs, not with longer integers.
func.func @f(%a: tensor<4x8xui8>, %b: tensor<8x2xi16>) {
  // expected-error@+1 {{'graph.matmul': lhs has element type ui8 but rhs has i16; convert with graph.astype}}
  %c = graph.matmul %a, %b : (tensor<4x8xui8>, tensor<8x2xi16>) -> tensor<4x2xi16>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xui8>, %b: tensor<8x2xi8>) {
  // expected-error@+1 {{'graph.matmul': out_dtype is ui32, expected a signed integer type because the operands are ui8 and i8}}
  %c = graph.matmul %a, %b, out_dtype = ui32 : (tensor<4x8xui8>, tensor<8x2xi8>) -> tensor<4x2xui32>
  func.return
}

// -----

func.func @f(%a: tensor<1x3x8x8xf16>, %b: tensor<4x3x3x3xf32>) {
  // expected-error@+1 {{'graph.conv2d': data has element type f16 but filter has f32; convert with graph.astype}}
  %c = graph.conv2d %a, %b : (tensor<1x3x8x8xf16>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<1x3x8x8xf32>, %b: tensor<4x2x3x3xf32>) {
  // expected-error@+1 {{'graph.conv2d': data has 3 channels but filter takes 2}}
  %c = graph.conv2d %a, %b : (tensor<1x3x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<1x4x8x8xf32>, %b: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{'graph.conv2d': filter has 3 output channels, which do not divide into 2 groups}}
  %c = graph.conv2d %a, %b, groups = 2 : (tensor<1x4x8x8xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x6x6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<1x4x8x8xf32>, %b: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{'graph.conv2d': groups is 0, expected at least 1}}
  %c = graph.conv2d %a, %b, groups = 0 : (tensor<1x4x8x8xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x6x6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<1x3x2x8xf32>, %b: tensor<4x3x3x3xf32>) {
  // expected-error@+1 {{'graph.conv2d': a kernel of height 3 does not fit into height 2 padded by 0 and 0}}
  %c = graph.conv2d %a, %b : (tensor<1x3x2x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x1x6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<1x3x6x8xf32>, %b: tensor<4x3x3x3xf32>) {
  // expected-error@+1 {{'graph.conv2d': a kernel of height 3 (dilated to 7) does not fit into height 6 padded by 0 and 0}}
  %c = graph.conv2d %a, %b, dilation = [3, 1] : (tensor<1x3x6x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x1x6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<1x3x8x8xf32>, %b: tensor<4x3x0x3xf32>) {
  // expected-error@+1 {{'graph.conv2d': the kernel has height 0, expected at least 1}}
  %c = graph.conv2d %a, %b : (tensor<1x3x8x8xf32>, tensor<4x3x0x3xf32>) -> tensor<1x4x9x6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<3x8x8xf32>, %b: tensor<4x3x3x3xf32>) {
  // expected-error@+1 {{'graph.conv2d': data has rank 3, expected 4 (NCHW)}}
  %c = graph.conv2d %a, %b : (tensor<3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<1x3x8x8xf32>, %b: tensor<3x3x4xf32>) {
  // expected-error@+1 {{'graph.conv2d': filter has rank 3, expected 4 (HWIO)}}
  %c = graph.conv2d %a, %b, kernel_layout = "HWIO" : (tensor<1x3x8x8xf32>, tensor<3x3x4xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<1x3x8x8xf32>, %b: tensor<4x3x3x3xf32>) {
  // expected-error@+1 {{'graph.conv2d': strides is [0, 1], expected each at least 1}}
  %c = graph.conv2d %a, %b, strides = [0, 1] : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<1x3x8x8xf32>, %b: tensor<4x3x3x3xf32>) {
  // expected-error@+1 {{'graph.conv2d': padding is [0, 0, -1, 0], expected each at least 0}}
  %c = graph.conv2d %a, %b, padding = [0, 0, -1, 0] : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<1x3x8x8xf32>, %b: tensor<4x3x3x3xf32>) {
  // expected-error@+1 {{'padding' takes a list of 4 integers, found 2}}
  %c = graph.conv2d %a, %b, padding = [1, 1] : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<1x3x8x8xf32>, %b: tensor<4x3x3x3xf32>) {
  // expected-error@+1 {{'graph.conv2d': 'strides' is array<i64: 1>, expected a list of 2 integers}}
  %c = "graph.conv2d"(%a, %b) <{strides = array<i64: 1>}> : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}

// -----

func.func @f(%a: tensor<1x3x8x8xf32>, %b: tensor<4x3x3x3xf32>) {
  // expected-error@+1 {{'graph.conv2d': 'strides' is array<i32: 1, 1>, expected a list of 2 integers of type i64}}
  %c = "graph.conv2d"(%a, %b) <{strides = array<i32: 1, 1>}> : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  func.return
}
