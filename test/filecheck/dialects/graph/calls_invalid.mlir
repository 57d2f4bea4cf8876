// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

tensor_loop.func @negate(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
}
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.call_kernel': there is no function @negat, did you mean 'negate'?}}
  %y = graph.call_kernel @negat(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @g(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.call_kernel': @g is a func.func, expected a tensor_loop.func}}
  %y = graph.call_kernel @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

tensor_loop.func @negate(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
}
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.call_kernel': the call has 2 operands but @negate has 1 inputs}}
  %y = graph.call_kernel @negate(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

tensor_loop.func @negate(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
}
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.call_kernel': the call has 2 results but @negate has 1 outputs}}
  %y, %z = graph.call_kernel @negate(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  func.return
}

// -----

tensor_loop.func @negate(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
}
func.func @f(%x: tensor<5xf32>) {
  // expected-error@+1 {{'graph.call_kernel': operand 0 has type tensor<5xf32> but @negate takes a buffer of type memref<4xf32> there, expected memref<5xf32>}}
  %y = graph.call_kernel @negate(%x) : (tensor<5xf32>) -> tensor<4xf32>
  func.return
}

// -----

tensor_loop.func @negate(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
}
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.call_kernel': result 0 has type tensor<4xi32> but @negate takes a buffer of type memref<4xf32> there}}
  %y = graph.call_kernel @negate(%x) : (tensor<4xf32>) -> tensor<4xi32>
  func.return
}

// -----

tensor_loop.func @negate(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
}
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{graph.call_kernel needs its result types after '->'}}
  %y = graph.call_kernel @negate(%x) : (tensor<4xf32>)
  func.return
}

// -----

/// AUDIT C6.
tensor_loop.func @not(%A: memref<4xi1>) outs(%B: memref<4xi8>) {
}
func.func @f(%x: tensor<4xi1>) {
  // expected-error@+1 {{operand 0 has type tensor<4xi1> but @not takes a buffer of type memref<4xi1> there, expected memref<4xi8>, since i1 is stored as i8}}
  %y = graph.call_kernel @not(%x) : (tensor<4xi1>) -> tensor<4xi1>
  func.return
}
