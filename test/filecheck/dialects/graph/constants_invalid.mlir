// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{Shape mismatch in dense literal. Expected [3] shape from the type, but got [2] shape.}}
  %0 = graph.constant dense<[1.0, 2.0]> : tensor<3xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{Dense literal attribute should have a static shape.}}
  %0 = graph.constant dense<1.0> : tensor<?xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{Shape mismatch in dense literal. Expected 2 elements from the type, but got 0 elements.}}
  %0 = graph.constant dense<"0x0000803F"> : tensor<2xf64>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{the constant: element type index is not supported, expected one of f16, bf16, f32, f64, f8E4M3FN, f8E5M2, i1, i2, i4, i8, i16, i32, i64, ui2, ui4, ui8, ui16, ui32, ui64}}
  %0 = graph.constant dense<1> : tensor<2xindex>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{the constant has type vector<2xi32>, expected a ranked tensor}}
  %0 = graph.constant dense<1> : vector<2xi32>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{an i1 element is stored as 0x02, expected 0x00 or 0xFF}}
  %0 = graph.constant dense<"0x0002"> : tensor<2xi1>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{'graph.constant': the constant holds 2 elements, expected 3 for tensor<3xi32>}}
  %0 = "graph.constant"() <{value = dense<[1, 2]> : tensor<2xi32>}> : () -> tensor<3xi32>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{'graph.constant': 'value' is 1 : i32, expected dense<…>}}
  %0 = "graph.constant"() <{value = 1 : i32}> : () -> tensor<3xi32>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{'graph.constant': the result has type tensor<2xui32>, expected tensor<2xi32>}}
  %0 = "graph.constant"() <{value = dense<1> : tensor<2xi32>}> : () -> tensor<2xui32>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{the value is 256, which ui8 cannot hold: expected 0 to 255}}
  %0 = graph.full 256 : tensor<2xui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{the value is 0.5, expected an integer because the element type is i32}}
  %0 = graph.full 0.5 : tensor<2xi32>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{an element of type i1 is true or false}}
  %0 = graph.full 2 : tensor<2xi1>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{an element of type i32 is a number}}
  %0 = graph.full true : tensor<2xi32>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{the result has type tensor<?xf32>, expected a static shape}}
  %0 = graph.full 0.0 : tensor<?xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{the bits of an f32 are 8 hexadecimal digits, found 2}}
  %0 = graph.full 0x7F : tensor<2xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{'graph.full': 'value' is 1.000000e+00 : f32, expected a number of type f64}}
  %0 = "graph.full"() <{value = 1.0 : f32}> : () -> tensor<2xf64>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{'graph.full': property 'value' expected in operation 'graph.full'}}
  %0 = "graph.full"() : () -> tensor<2xf64>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{'graph.weight': the key is empty}}
  %0 = graph.weight "" : tensor<2xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{the result has type tensor<?xf32>, expected a static shape}}
  %0 = graph.weight "w" : tensor<?xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{the result: element type si8 is not used in graph ops, write i8 (signless integers are signed)}}
  %0 = graph.weight "w" : tensor<2xsi8>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{'graph.weight': 'key' is 3 : i64, expected a string}}
  %0 = "graph.weight"() <{key = 3 : i64}> : () -> tensor<2xf64>
  func.return
}

// -----

/// A number in digits is never an infinity or a NaN.

func.func @f() {
  // expected-error@+1 {{1.0e39 is too large for f32}}
  %0 = graph.full 1.0e39 : tensor<4xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{-1.0e39 is too large for bf16}}
  %0 = graph.full -1.0e39 : tensor<4xbf16>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{70000.0 is too large for f16}}
  %0 = graph.full 70000.0 : tensor<4xf16>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{500.0 is too large for f8E4M3FN}}
  %0 = graph.full 500.0 : tensor<4xf8E4M3FN>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{1.0e400 is too large for f64}}
  %0 = graph.full 1.0e400 : tensor<4xf64>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{1.0e39 is too large for bf16}}
  %0 = graph.constant dense<1.0e39> : tensor<4xbf16>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{500.0 is too large for f8E4M3FN}}
  %0 = graph.constant dense<[1.0, 500.0]> : tensor<2xf8E4M3FN>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{100000.0 is too large for f8E5M2}}
  %0 = graph.constant dense<100000.0> : tensor<4xf8E5M2>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{1.0e39 is too large for bf16}}
  %0 = arith.constant 1.0e39 : bf16
  func.return
}
