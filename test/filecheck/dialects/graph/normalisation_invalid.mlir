// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @f(%x: tensor<1x3x4xf32>, %g: tensor<3xf32>, %b: tensor<4xf32>, %mean: tensor<3xf32>, %var: tensor<3xf32>) {
  // expected-error@+1 {{'graph.batch_norm': beta is 4, expected 3: the extents of axis 1 of 1x3x4}}
  %y, %m, %v = graph.batch_norm %x, %g, %b, %mean, %var : (tensor<1x3x4xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<1x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  func.return
}

// -----

func.func @f(%x: tensor<1x3x4xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>, %mean: tensor<3xf32>, %var: tensor<3xf32>) {
  // expected-error@+1 {{'graph.batch_norm': axis 3 is out of range for rank 3, expected -3 to 2}}
  %y, %m, %v = graph.batch_norm %x, %g, %b, %mean, %var, axis = 3 : (tensor<1x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<1x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %g: tensor<4xf32>, %b: tensor<8xf32>) {
  // expected-error@+1 {{'graph.layer_norm': gamma is 4, expected 8: the extents of axes [-1] of 4x8}}
  %y = graph.layer_norm %x, %g, %b : (tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %g: tensor<8x4xf32>, %b: tensor<8x4xf32>) {
  // expected-error@+1 {{'graph.layer_norm': axes is [1, 0], expected at least one axis, in increasing order}}
  %y = graph.layer_norm %x, %g, %b, axes = [1, 0] : (tensor<4x8xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %g: tensor<f32>, %b: tensor<f32>) {
  // expected-error@+1 {{'graph.layer_norm': axes is [], expected at least one axis, in increasing order}}
  %y = graph.layer_norm %x, %g, %b, axes = [] : (tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<8xf32>, %g: tensor<8xf64>, %b: tensor<8xf64>) {
  // expected-error@+1 {{'graph.layer_norm': operand has element type f32 but gamma has f64; convert with graph.astype}}
  %y = graph.layer_norm %x, %g, %b : (tensor<8xf32>, tensor<8xf64>, tensor<8xf64>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{'graph.bias_add': bias is 4, expected 3: the extents of axis 1 of 1x3x4}}
  %y = graph.bias_add %x, %b : (tensor<1x3x4xf32>, tensor<4xf32>) -> tensor<1x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'graph.bias_add': axis 1 is out of range for rank 1, expected -1 to 0}}
  %y = graph.bias_add %x, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3x3x4xf32>, %g: tensor<3xf32>) {
  // expected-error@+1 {{'graph.instance_norm': axis 0 of 3x3x4 is the batch, expected the channels}}
  %y = graph.instance_norm %x, %g, %g, axis = 0 : (tensor<3x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %g: tensor<3xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{'graph.instance_norm': beta is 4, expected 3: the extents of axis 1 of 2x3x4}}
  %y = graph.instance_norm %x, %g, %b : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x5x4xf32>, %g: tensor<5xf32>) {
  // expected-error@+1 {{'graph.group_norm': 5 channels do not divide into 2 groups}}
  %y = graph.group_norm %x, %g, %g, num_groups = 2 : (tensor<2x5x4xf32>, tensor<5xf32>, tensor<5xf32>) -> tensor<2x5x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x5x4xf32>, %g: tensor<5xf32>) {
  // expected-error@+1 {{'graph.group_norm': num_groups is 0, expected at least 1}}
  %y = graph.group_norm %x, %g, %g, num_groups = 0 : (tensor<2x5x4xf32>, tensor<5xf32>, tensor<5xf32>) -> tensor<2x5x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'graph.l2_normalize': axes is [], expected at least one axis}}
  %y = graph.l2_normalize %x, axes = [] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xi32>) {
  // expected-error@+1 {{'graph.l2_normalize': operand has element type i32, expected float}}
  %y = graph.l2_normalize %x : (tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{'graph.rms_norm': gamma is 4, expected 8: the extents of axes [-1] of 4x8}}
  %y = graph.rms_norm %x, %g : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'graph.dropout': rate is 1, expected at least 0 and less than 1}}
  %y, %mask = graph.dropout %x, rate = 1.0 : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi1>)
  func.return
}
