// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @f(%x: tensor<?xf32>, %s: tensor<?xi64>) {
  // expected-error@+1 {{'graph.dynamic_reshape': shape is tensor<?xi64>, expected a vector of known length}}
  %y = graph.dynamic_reshape %x, %s : (tensor<?xf32>, tensor<?xi64>) -> tensor<?xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?xf32>, %s: tensor<1xui64>) {
  // expected-error@+1 {{'graph.dynamic_reshape': shape has element type ui64, expected signed integer}}
  %y = graph.dynamic_reshape %x, %s : (tensor<?xf32>, tensor<1xui64>) -> tensor<?xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{'graph.dynamic_reshape': the result has type tensor<?xf32>, expected tensor<?x?xf32>}}
  %y = graph.dynamic_reshape %x, %s : (tensor<?xf32>, tensor<2xi64>) -> tensor<?xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3x?xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{'graph.dynamic_broadcast_to': the result has type tensor<4x?xf32>, expected tensor<3x?xf32>}}
  %y = graph.dynamic_broadcast_to %x, %s : (tensor<3x?xf32>, tensor<2xi64>) -> tensor<4x?xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{'graph.dynamic_slice': begin has 2 entries, expected 1}}
  %y = graph.dynamic_slice %x, %s, %s, %s, axes = [0] : (tensor<?xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?xf32>, %s: tensor<1xi64>) {
  // expected-error@+1 {{'graph.dynamic_slice': axes entry 1 is out of range}}
  %y = graph.dynamic_slice %x, %s, %s, %s, axes = [1] : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?xf32>, %s: tensor<1xi64>) {
  // expected-error@+1 {{'graph.dynamic_pad': pad_width has 1 entries, expected 2}}
  %y = graph.dynamic_pad %x, %s : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?xi8>, %s: tensor<2xi64>) {
  // expected-error@+1 {{'graph.dynamic_pad': value}}
  %y = graph.dynamic_pad %x, %s, value = 300 : (tensor<?xi8>, tensor<2xi64>) -> tensor<?xi8>
  func.return
}

// -----

func.func @f(%x: tensor<1xi64>, %s: tensor<i64>) {
  // expected-error@+1 {{'graph.arange': start has rank 1, expected 0}}
  %y = graph.arange %x, %s, %s : (tensor<1xi64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  func.return
}
