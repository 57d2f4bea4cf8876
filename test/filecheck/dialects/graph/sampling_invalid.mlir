// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<15xi64>, %w: tensor<15x2xf32>) {
  // expected-error@+1 {{'graph.resample': indices has rank 1, expected 2}}
  %y = graph.resample %x, %i, %w, axis = 1 : (tensor<4x8xf32>, tensor<15xi64>, tensor<15x2xf32>) -> tensor<4x15xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<15x2xi64>, %w: tensor<15x3xf32>) {
  // expected-error@+1 {{'graph.resample': weights is 15x3, expected the shape 15x2 of indices}}
  %y = graph.resample %x, %i, %w, axis = 1 : (tensor<4x8xf32>, tensor<15x2xi64>, tensor<15x3xf32>) -> tensor<4x15xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<15x2xi64>, %w: tensor<15x2xf32>) {
  // expected-error@+1 {{'graph.resample': axis 2 is out of range for rank 2, expected -2 to 1}}
  %y = graph.resample %x, %i, %w, axis = 2 : (tensor<4x8xf32>, tensor<15x2xi64>, tensor<15x2xf32>) -> tensor<4x15xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x0xf32>, %i: tensor<15x2xi64>, %w: tensor<15x2xf32>) {
  // expected-error@+1 {{'graph.resample': axis 1 of 4x0 has no elements, expected at least 1}}
  %y = graph.resample %x, %i, %w, axis = 1 : (tensor<4x0xf32>, tensor<15x2xi64>, tensor<15x2xf32>) -> tensor<4x15xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<15x2xui8>, %w: tensor<15x2xf32>) {
  // expected-error@+1 {{'graph.resample': indices has element type ui8}}
  %y = graph.resample %x, %i, %w, axis = 1 : (tensor<4x8xf32>, tensor<15x2xui8>, tensor<15x2xf32>) -> tensor<4x15xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3x8xf32>, %p: tensor<3x5x1xf32>) {
  // expected-error@+1 {{'graph.sample': operand has rank 2, expected 3 or more}}
  %y = graph.sample %x, %p : (tensor<3x8xf32>, tensor<3x5x1xf32>) -> tensor<3x5xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x8xf32>, %p: tensor<1xf32>) {
  // expected-error@+1 {{'graph.sample': points has rank 1, expected 2 or more}}
  %y = graph.sample %x, %p : (tensor<1x3x8xf32>, tensor<1xf32>) -> tensor<1x3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x8x8xf32>, %p: tensor<1x5x3xf32>) {
  // expected-error@+1 {{'graph.sample': points is 1x5x3, expected its last extent to be 2 for the operand 1x3x8x8}}
  %y = graph.sample %x, %p : (tensor<1x3x8x8xf32>, tensor<1x5x3xf32>) -> tensor<1x3x5xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x8xf32>, %p: tensor<1x5x1xf32>) {
  // expected-error@+1 {{'graph.sample': points is 1x5x1 but the operand is 2x3x8: the batches differ}}
  %y = graph.sample %x, %p : (tensor<2x3x8xf32>, tensor<1x5x1xf32>) -> tensor<2x3x5xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x0xf32>, %p: tensor<1x5x1xf32>) {
  // expected-error@+1 {{'graph.sample': the operand is 1x3x0, expected its spatial extents to be at least 1}}
  %y = graph.sample %x, %p : (tensor<1x3x0xf32>, tensor<1x5x1xf32>) -> tensor<1x3x5xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x8xf32>, %p: tensor<1x5x1xf32>) {
  // expected-error@+1 {{'padding' takes "zeros" or "edge" or "reflect" or "symmetric", found "wrap"}}
  %y = graph.sample %x, %p, padding = "wrap" : (tensor<1x3x8xf32>, tensor<1x5x1xf32>) -> tensor<1x3x5xf32>
  func.return
}

// -----

func.func @regions_of_a_row(%x: tensor<9x9x8xf32>, %i: tensor<5xi64>, %h: tensor<5x3x9xf32>, %w: tensor<5x2x9xf32>) {
  // expected-error@+1 {{'graph.pool_regions': operands have the ranks 3, 1, 3, 3, expected 4, 1, 3, 3}}
  %y = graph.pool_regions %x, %i, %h, %w : (tensor<9x9x8xf32>, tensor<5xi64>, tensor<5x3x9xf32>, tensor<5x2x9xf32>) -> tensor<5x3x2x8xf32>
  func.return
}

// -----

func.func @regions_of_halves(%x: tensor<2x9x9x8xf16>, %i: tensor<5xi64>, %h: tensor<5x3x9xf32>, %w: tensor<5x2x9xf32>) {
  // expected-error@+1 {{operands have the element types f16, f32, f32, expected f32 or f64 for all}}
  %y = graph.pool_regions %x, %i, %h, %w : (tensor<2x9x9x8xf16>, tensor<5xi64>, tensor<5x3x9xf32>, tensor<5x2x9xf32>) -> tensor<5x3x2x8xf16>
  func.return
}

// -----

func.func @rows_of_another_image(%x: tensor<2x9x9x8xf32>, %i: tensor<5xi64>, %h: tensor<5x3x7xf32>, %w: tensor<5x2x9xf32>) {
  // expected-error@+1 {{rows is 5x3x7, but the operand is 2x9x9x8}}
  %y = graph.pool_regions %x, %i, %h, %w : (tensor<2x9x9x8xf32>, tensor<5xi64>, tensor<5x3x7xf32>, tensor<5x2x9xf32>) -> tensor<5x3x2x8xf32>
  func.return
}

// -----

func.func @columns_of_other_regions(%x: tensor<2x9x9x8xf32>, %i: tensor<5xi64>, %h: tensor<5x3x9xf32>, %w: tensor<4x2x9xf32>) {
  // expected-error@+1 {{columns is 4x2x9, but images is 5}}
  %y = graph.pool_regions %x, %i, %h, %w : (tensor<2x9x9x8xf32>, tensor<5xi64>, tensor<5x3x9xf32>, tensor<4x2x9xf32>) -> tensor<5x3x2x8xf32>
  func.return
}
