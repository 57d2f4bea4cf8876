// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @top_k_of_more_than_there_are(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'graph.top_k': k is 9, expected 0 to 8 for axis 1 of 4x8}}
  %v, %i = graph.top_k %x, k = 9 : (tensor<4x8xf32>) -> (tensor<4x9xf32>, tensor<4x9xi64>)
  func.return
}

// -----

func.func @top_k_of_less_than_none(%x: tensor<?xf32>) {
  // expected-error@+1 {{'graph.top_k': k is -1, expected at least 0 for axis 0 of ?}}
  %v, %i = graph.top_k %x, k = -1 : (tensor<?xf32>) -> (tensor<1xf32>, tensor<1xi64>)
  func.return
}

// -----

func.func @top_k_of_truths(%x: tensor<4xi1>) {
  // expected-error@+1 {{'graph.top_k': operand has element type i1, expected}}
  %v, %i = graph.top_k %x, k = 1 : (tensor<4xi1>) -> (tensor<1xi1>, tensor<1xi64>)
  func.return
}

// -----

func.func @top_k_of_one_result(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.top_k': result 1 has type tensor<1xi32>, expected tensor<1xi64>}}
  %v, %i = graph.top_k %x, k = 1 : (tensor<4xf32>) -> (tensor<1xf32>, tensor<1xi32>)
  func.return
}
