// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @f(%x: tensor<8x8x3xf32>) {
  // expected-error@+1 {{'graph.max_pool2d': operand has rank 3, expected 4 (NCHW)}}
  %y = graph.max_pool2d %x, pool_size = [2, 2] : (tensor<8x8x3xf32>) -> tensor<7x7x3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+1 {{'graph.max_pool2d': pool_size is [0, 2], expected each at least 1}}
  %y = graph.max_pool2d %x, pool_size = [0, 2] : (tensor<1x3x8x8xf32>) -> tensor<1x3x9x7xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+1 {{'graph.max_pool2d': padding of 2 is not less than the window, whose width is 2}}
  %y = graph.max_pool2d %x, pool_size = [2, 2], padding = [0, 2, 0, 0] : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x9xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+1 {{'graph.max_pool2d': a kernel of height 9 does not fit into height 8 padded by 0 and 0}}
  %y = graph.max_pool2d %x, pool_size = [9, 2] : (tensor<1x3x8x8xf32>) -> tensor<1x3x1x7xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+1 {{graph.max_pool2d needs the property 'pool_size'}}
  %y = graph.max_pool2d %x : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x8x8xi8>) {
  // expected-error@+1 {{'graph.avg_pool2d': operand has element type i8, expected float}}
  %y = graph.avg_pool2d %x, pool_size = [2, 2] : (tensor<1x3x8x8xi8>) -> tensor<1x3x7x7xi8>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+1 {{'layout' takes "NCHW" or "NHWC", found "NCWH"}}
  %y = graph.avg_pool2d %x, pool_size = [2, 2], layout = "NCWH" : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
  func.return
}
