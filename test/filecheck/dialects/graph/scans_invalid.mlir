// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @f(%x: tensor<4xi1>) {
  // expected-error@+1 {{'graph.cumulative_sum': operand has element type i1, expected float or integer}}
  %y = graph.cumulative_sum %x, axis = 0 : (tensor<4xi1>) -> tensor<4xi1>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{graph.cumulative_prod needs the property 'axis'}}
  %y = graph.cumulative_prod %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'graph.cumulative_prod': axis 2 is out of range}}
  %y = graph.cumulative_prod %x, axis = 2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.cumulative_sum': the result has type tensor<5xf32>, expected tensor<4xf32>}}
  %y = graph.cumulative_sum %x, axis = 0 : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}
