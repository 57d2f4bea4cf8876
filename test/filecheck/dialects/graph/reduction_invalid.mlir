// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'graph.sum': axis 2 is out of range for rank 2, expected -2 to 1}}
  %y = graph.sum %x, axis = [2] : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'graph.sum': axis -2 is given twice in [0, -2]}}
  %y = graph.sum %x, axis = [0, -2] : (tensor<4x8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{'graph.sum': axis 0 is out of range for rank 0, a tensor of rank 0 has no axes}}
  %y = graph.sum %x, axis = [0] : (tensor<f32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'graph.sum': the result has type tensor<8xf32>, expected tensor<1x8xf32>}}
  %y = graph.sum %x, axis = [0], keepdims = true : (tensor<4x8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{'graph.mean': operand has element type i32, expected float}}
  %y = graph.mean %x : (tensor<4xi32>) -> tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.any': operand has element type f32, expected i1}}
  %y = graph.any %x : (tensor<4xf32>) -> tensor<i1>
  func.return
}

// -----

func.func @f(%x: tensor<4x0xf32>) {
  // expected-error@+1 {{'graph.max': graph.max of no elements is not defined, but axis 1 of 4x0 is empty}}
  %y = graph.max %x, axis = [1] : (tensor<4x0xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<0xf32>) {
  // expected-error@+1 {{'graph.argmin': graph.argmin of no elements is not defined, but axis 0 of 0 is empty}}
  %y = graph.argmin %x : (tensor<0xf32>) -> tensor<i64>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.argmax': the result has type tensor<i32>, expected tensor<i64>}}
  %y = graph.argmax %x, axis = 0 : (tensor<4xf32>) -> tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.softmax': axis 1 is out of range for rank 1, expected -1 to 0}}
  %y = graph.softmax %x, axis = 1 : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{'graph.softmax': axis -1 is out of range for rank 0, a tensor of rank 0 has no axes}}
  %y = graph.softmax %x : (tensor<f32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{'graph.log_softmax': operand has element type i32, expected float}}
  %y = graph.log_softmax %x : (tensor<4xi32>) -> tensor<4xi32>
  func.return
}
