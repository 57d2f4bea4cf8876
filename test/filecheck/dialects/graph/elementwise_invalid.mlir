// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{'graph.exp': operand has element type i32, expected float}}
  %y = graph.exp %x : (tensor<4xi32>) -> tensor<4xi32>
  func.return
}

// -----

func.func @f(%x: tensor<4xi1>) {
  // expected-error@+1 {{'graph.negative': operand has element type i1, expected float or integer}}
  %y = graph.negative %x : (tensor<4xi1>) -> tensor<4xi1>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.logical_not': operand has element type f32, expected i1}}
  %y = graph.logical_not %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.bitwise_not': operand has element type f32, expected integer or i1}}
  %y = graph.bitwise_not %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.relu': the result has type tensor<5xf32>, expected tensor<4xf32>}}
  %y = graph.relu %x : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.relu': the result has type tensor<4xf16>, expected tensor<4xf32>}}
  %y = graph.relu %x : (tensor<4xf32>) -> tensor<4xf16>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.isnan': the result has type tensor<4xf32>, expected tensor<4xi1>}}
  %y = graph.isnan %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xsi8>) {
  // expected-error@+1 {{'graph.relu': operand: element type si8 is not used in graph ops, write i8 (signless integers are signed)}}
  %y = graph.relu %x : (tensor<4xsi8>) -> tensor<4xsi8>
  func.return
}

// -----

func.func @f(%x: tensor<4xf80>) {
  // expected-error@+1 {{'graph.relu': operand: element type f80 is not supported, expected one of f16, bf16, f32, f64, f8E4M3FN, f8E5M2, i1, i2, i4, i8, i16, i32, i64, ui2, ui4, ui8, ui16, ui32, ui64}}
  %y = graph.relu %x : (tensor<4xf80>) -> tensor<4xf80>
  func.return
}

// -----

func.func @f(%x: tensor<4xi3>) {
  // expected-error@+1 {{'graph.relu': operand: element type i3 is not supported, expected one of f16, bf16, f32, f64, f8E4M3FN, f8E5M2, i1, i2, i4, i8, i16, i32, i64, ui2, ui4, ui8, ui16, ui32, ui64}}
  %y = graph.relu %x : (tensor<4xi3>) -> tensor<4xi3>
  func.return
}

// -----

func.func @f(%x: tensor<*xf32>) {
  // expected-error@+1 {{'graph.relu': operand has type tensor<*xf32>, expected a ranked tensor}}
  %y = graph.relu %x : (tensor<*xf32>) -> tensor<*xf32>
  func.return
}

// -----

func.func @f(%x: memref<4xf32>) {
  // expected-error@+1 {{'graph.relu': operand has type memref<4xf32>, expected a ranked tensor}}
  %y = graph.relu %x : (memref<4xf32>) -> memref<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32, 3 : i64>) {
  // expected-error@+1 {{'graph.relu': operand has type tensor<4xf32, 3 : i64>, expected a tensor without an encoding}}
  %y = graph.relu %x : (tensor<4xf32, 3 : i64>) -> tensor<4xf32, 3 : i64>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{Operation has 2 results, but was given 1 to bind.}}
  %y = graph.relu %x : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  func.return
}

// -----

func.func @f(%x: tensor<4xi8>) {
  // expected-error@+1 {{'graph.clip': min is 0.5, expected an integer because the element type is i8}}
  %y = graph.clip %x, min = 0.5 : (tensor<4xi8>) -> tensor<4xi8>
  func.return
}

// -----

func.func @f(%x: tensor<4xi8>) {
  // expected-error@+1 {{'graph.clip': max is 300, which i8 cannot hold: expected -128 to 127}}
  %y = graph.clip %x, max = 300 : (tensor<4xi8>) -> tensor<4xi8>
  func.return
}

// -----

func.func @f(%x: tensor<4xi8>) {
  // expected-error@+1 {{graph.astype needs the property 'dtype'}}
  %y = graph.astype %x : (tensor<4xi8>) -> tensor<4xi8>
  func.return
}

// -----

func.func @f(%x: tensor<4xi8>) {
  // expected-error@+1 {{'graph.astype': the result has type tensor<4xf16>, expected tensor<4xf32>}}
  %y = graph.astype %x, dtype = f32 : (tensor<4xi8>) -> tensor<4xf16>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.gelu': 'approximate' is "tan", expected "none" or "tanh"}}
  %y = "graph.gelu"(%x) <{approximate = "tan"}> : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.leaky_relu': 'alpha' is 1 : i64, expected a number of type f64}}
  %y = "graph.leaky_relu"(%x) <{alpha = 1 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.relu': property 'alpha' is not defined by the operation 'graph.relu'. Use the dictionary attribute to add arbitrary information to the operation.}}
  %y = "graph.relu"(%x) <{alpha = 1 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{'graph.asin': operand has element type i32, expected float}}
  %y = graph.asin %x : (tensor<4xi32>) -> tensor<4xi32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.bitcast': 'dtype' is i64 of 64 bits, but the operand has elements of 32 bits}}
  %y = graph.bitcast %x, dtype = i64 : (tensor<4xf32>) -> tensor<4xi64>
  func.return
}

// -----

func.func @f(%x: tensor<4xi8>) {
  // expected-error@+1 {{'graph.bitcast': 'dtype' is i1, expected float or integer}}
  %y = graph.bitcast %x, dtype = i1 : (tensor<4xi8>) -> tensor<4xi1>
  func.return
}
