// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @take_along_axis_by_floats(%x: tensor<4x8xf32>, %i: tensor<4x3xf32>) {
  // expected-error@+1 {{'graph.take_along_axis': indices has element type f32, expected integer}}
  %y = graph.take_along_axis %x, %i, axis = 1 : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  func.return
}

// -----

func.func @take_along_axis_of_another_rank(%x: tensor<4x8xf32>, %i: tensor<4xi64>) {
  // expected-error@+1 {{'graph.take_along_axis': indices is 4, expected the rank 2 of the operand}}
  %y = graph.take_along_axis %x, %i, axis = 1 : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<4xf32>
  func.return
}

// -----

func.func @take_along_axis_beyond_the_operand(%x: tensor<4x8xf32>, %i: tensor<5x3xi64>) {
  // expected-error@+1 {{'graph.take_along_axis': indices is 5x3, expected at most 4 in dimension 0 as the operand 4x8}}
  %y = graph.take_along_axis %x, %i, axis = 1 : (tensor<4x8xf32>, tensor<5x3xi64>) -> tensor<5x3xf32>
  func.return
}

// -----

func.func @take_along_an_axis_that_is_none(%x: tensor<4x8xf32>, %i: tensor<4x3xi64>) {
  // expected-error@+1 {{'graph.take_along_axis': axis 2 is out of range for rank 2, expected -2 to 1}}
  %y = graph.take_along_axis %x, %i, axis = 2 : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
  func.return
}

// -----

func.func @gather_nd_of_rank_0(%x: tensor<4x8xf32>, %i: tensor<i64>) {
  // expected-error@+1 {{'graph.gather_nd': indices has rank 0, expected at least 1}}
  %y = graph.gather_nd %x, %i : (tensor<4x8xf32>, tensor<i64>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @gather_nd_of_wide_tuples(%x: tensor<4x8xf32>, %i: tensor<5x3xi64>) {
  // expected-error@+1 {{'graph.gather_nd': indices is 5x3: tuples of 3, expected at most 2 for 4x8}}
  %y = graph.gather_nd %x, %i : (tensor<4x8xf32>, tensor<5x3xi64>) -> tensor<5xf32>
  func.return
}

// -----

func.func @gather_nd_of_unknown_tuples(%x: tensor<4x8xf32>, %i: tensor<5x?xi64>) {
  // expected-error@+1 {{'graph.gather_nd': indices is 5x?, expected its last extent to be known}}
  %y = graph.gather_nd %x, %i : (tensor<4x8xf32>, tensor<5x?xi64>) -> tensor<5xf32>
  func.return
}

// -----

func.func @gather_nd_of_another_batch(%x: tensor<4x8xf32>, %i: tensor<5x1xi64>) {
  // expected-error@+1 {{'graph.gather_nd': indices is 5x1 but the operand is 4x8: they differ in dimension 0}}
  %y = graph.gather_nd %x, %i, batch_dims = 1 : (tensor<4x8xf32>, tensor<5x1xi64>) -> tensor<5xf32>
  func.return
}

// -----

func.func @gather_nd_of_too_many_batches(%x: tensor<4x8xf32>, %i: tensor<4x1xi64>) {
  // expected-error@+1 {{'graph.gather_nd': batch_dims is 2, expected 0 to 1 for indices 4x1}}
  %y = graph.gather_nd %x, %i, batch_dims = 2 : (tensor<4x8xf32>, tensor<4x1xi64>) -> tensor<4xf32>
  func.return
}

// -----

func.func @scatter_elements_of_other_updates(%x: tensor<4x8xf32>, %i: tensor<4x3xi64>, %u: tensor<4x2xf32>) {
  // expected-error@+1 {{'graph.scatter_elements': updates is 4x2, expected the shape 4x3 of indices}}
  %y = graph.scatter_elements %x, %i, %u, axis = 1 : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x2xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @scatter_elements_of_another_type(%x: tensor<4x8xf32>, %i: tensor<4x3xi64>, %u: tensor<4x3xf16>) {
  // expected-error@+1 {{'graph.scatter_elements': operand has element type f32 but updates has f16; convert with graph.astype}}
  %y = graph.scatter_elements %x, %i, %u, axis = 1 : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf16>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @scatter_elements_by_another_function(%x: tensor<4x8xf32>, %i: tensor<4x3xi64>, %u: tensor<4x3xf32>) {
  // expected-error@+1 {{"none" or "add" or "multiply" or "maximum" or "minimum", found "max"}}
  %y = graph.scatter_elements %x, %i, %u, axis = 1, reduction = "max" : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @scatter_nd_of_truths(%x: tensor<4xi1>, %i: tensor<3x1xi64>, %u: tensor<3xi1>) {
  // expected-error@+1 {{reduction is "add", expected "none" because the element type is i1}}
  %y = graph.scatter_nd %x, %i, %u, reduction = "add" : (tensor<4xi1>, tensor<3x1xi64>, tensor<3xi1>) -> tensor<4xi1>
  func.return
}

// -----

func.func @scatter_nd_of_other_updates(%x: tensor<4x8xf32>, %i: tensor<3x1xi64>, %u: tensor<3x7xf32>) {
  // expected-error@+1 {{'graph.scatter_nd': updates is 3x7, expected 3x8}}
  %y = graph.scatter_nd %x, %i, %u : (tensor<4x8xf32>, tensor<3x1xi64>, tensor<3x7xf32>) -> tensor<4x8xf32>
  func.return
}
