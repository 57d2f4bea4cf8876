// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'graph.permute_dims': axes has 1 entries, expected one per dimension of 2x3}}
  %y = graph.permute_dims %x, axes = [0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'graph.permute_dims': axes entry 0 is given twice in [0, 0]}}
  %y = graph.permute_dims %x, axes = [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'graph.permute_dims': axes entry 2 is out of range for rank 2, expected -2 to 1}}
  %y = graph.permute_dims %x, axes = [0, 2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'graph.reshape': 2x3 has 6 elements but shape [5] has 5}}
  %y = graph.reshape %x, shape = [5] : (tensor<2x3xf32>) -> tensor<5xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'graph.reshape': 6 elements of 2x3 do not divide into shape [4, -1]}}
  %y = graph.reshape %x, shape = [4, -1] : (tensor<2x3xf32>) -> tensor<4x2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'graph.reshape': shape is [-1, -1], expected extents and at most one -1}}
  %y = graph.reshape %x, shape = [-1, -1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<0x3xf32>) {
  // expected-error@+1 {{'graph.reshape': the -1 in shape [-1, 0] is ambiguous: the other extents multiply to 0}}
  %y = graph.reshape %x, shape = [-1, 0] : (tensor<0x3xf32>) -> tensor<2x0xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.expand_dims': axis 0 is given twice in [0, 0]}}
  %y = graph.expand_dims %x, axis = [0, 0] : (tensor<4xf32>) -> tensor<1x1x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4xf32>) {
  // expected-error@+1 {{'graph.squeeze': axis 1 of 1x4 has extent 4, expected 1}}
  %y = graph.squeeze %x, axis = [1] : (tensor<1x4xf32>) -> tensor<1xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?x1xf32>) {
  // expected-error@+1 {{'graph.squeeze': axis must be given because ?x1 has a ? extent}}
  %y = graph.squeeze %x : (tensor<?x1xf32>) -> tensor<?xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error@+1 {{'graph.broadcast_to': 3 does not broadcast to 4}}
  %y = graph.broadcast_to %x, shape = [4] : (tensor<3xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1xf32>) {
  // expected-error@+1 {{'graph.broadcast_to': shape is [-1], expected extents of at least 0}}
  %y = graph.broadcast_to %x, shape = [-1] : (tensor<1xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error@+1 {{'graph.concat': operand 1 is 2x4 but operand 0 is 2x3: they differ in dimension 1}}
  %z = graph.concat %x, %y : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error@+1 {{'graph.concat': operand 1 has rank 1 but operand 0 has rank 2}}
  %z = graph.concat %x, %y : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<4x3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error@+1 {{'graph.concat': operand 0 has element type f32 but operand 1 has i32; convert with graph.astype}}
  %z = graph.concat %x, %y : (tensor<2xf32>, tensor<2xi32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<6xf32>) {
  // expected-error@+1 {{'graph.split': the op has 2 results, expected 3}}
  %a, %b = graph.split %x, sections = 3 : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  func.return
}

// -----

func.func @f(%x: tensor<5xf32>) {
  // expected-error@+1 {{'graph.split': 5 elements do not divide into 2 equal sections}}
  %a, %b = graph.split %x, sections = 2 : (tensor<5xf32>) -> (tensor<2xf32>, tensor<3xf32>)
  func.return
}

// -----

func.func @f(%x: tensor<6xf32>) {
  // expected-error@+1 {{'graph.split': either sections or indices must be given, but neither is given}}
  %a, %b = graph.split %x : (tensor<6xf32>) -> (tensor<2xf32>, tensor<4xf32>)
  func.return
}

// -----

func.func @f(%x: tensor<6xf32>) {
  // expected-error@+1 {{'graph.split': either sections or indices must be given, but both are given}}
  %a, %b = graph.split %x, sections = 2, indices = [3] : (tensor<6xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  func.return
}

// -----

func.func @f(%x: tensor<6xf32>) {
  // expected-error@+1 {{'graph.split': indices is [4, 2], expected cut points in increasing order from 0}}
  %a, %b, %c = graph.split %x, indices = [4, 2] : (tensor<6xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<2xf32>)
  func.return
}

// -----

func.func @f(%x: tensor<6xf32>) {
  // expected-error@+1 {{'graph.split': indices is [7], expected cut points of at most 6}}
  %a, %b = graph.split %x, indices = [7] : (tensor<6xf32>) -> (tensor<7xf32>, tensor<0xf32>)
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.strided_slice': strides has an entry 0, expected a positive or negative step}}
  %y = graph.strided_slice %x, axes = [0], begin = [0], end = [4], strides = [0] : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.strided_slice': begin has 2 entries but axes has 1}}
  %y = graph.strided_slice %x, axes = [0], begin = [0, 1], end = [4] : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.pad': pad_width has 1 entries, expected 2 per dimension of 4}}
  %y = graph.pad %x, pad_width = [1] : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.pad': pad_width is [1, -1], expected each at least 0}}
  %y = graph.pad %x, pad_width = [1, -1] : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xui8>) {
  // expected-error@+1 {{'graph.pad': value is -1, which ui8 cannot hold: expected 0 to 255}}
  %y = graph.pad %x, pad_width = [1, 1], value = -1 : (tensor<4xui8>) -> tensor<6xui8>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<2xf32>) {
  // expected-error@+1 {{'graph.take': indices has element type f32, expected integer}}
  %y = graph.take %x, %i, axis = 0 : (tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{'graph.take': axis 1 is out of range for rank 1, expected -1 to 0}}
  %y = graph.take %x, %i, axis = 1 : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{graph.take needs the property 'axis'}}
  %y = graph.take %x, %i : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return
}
