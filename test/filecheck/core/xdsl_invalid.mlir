// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// What ops of xDSL yield and name is checked here, since their own verifiers do not. What the regions of structured
/// control flow yielded did not fit the results, and the lowering made branches to blocks that take other values.
// CHECK-LABEL: func.func @fits(
func.func @fits(%c: i1, %a: i32) -> i32 {
  %r = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
    scf.yield %a : i32
  }
  scf.if %c {
  }
  func.return %r : i32
}

// -----

func.func @without_a_yield(%c: i1, %a: i32) -> i32 {
  // expected-error@+1 {{'scf.if': the else region yields (), expected (i32)}}
  %r = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
  }
  func.return %r : i32
}

// -----

func.func @without_else(%c: i1, %a: i32) -> i32 {
  // expected-error@+1 {{'scf.if': an op with results (i32) needs an else region that yields them}}
  %r = scf.if %c -> (i32) {
    scf.yield %a : i32
  }
  func.return %r : i32
}

// -----

func.func @another_type(%c: i1, %a: i32, %b: i64) -> i32 {
  // expected-error@+1 {{'scf.if': the then region yields (i64), expected (i32)}}
  %r = scf.if %c -> (i32) {
    scf.yield %b : i64
  } else {
    scf.yield %a : i32
  }
  func.return %r : i32
}

// -----

func.func @too_many(%c: i1, %a: i32) {
  // expected-error@+1 {{'scf.if': the then region yields (i32), expected ()}}
  scf.if %c {
    scf.yield %a : i32
  }
  func.return
}

// -----

func.func @result_of_a_loop(%i: index, %a: i32) {
  // expected-error@+1 {{'scf.for': the op has results (i64), expected (i32)}}
  %r = "scf.for"(%i, %i, %i, %a) ({
  ^bb0(%k: index, %s: i32):
    scf.yield %s : i32
  }) : (index, index, index, i32) -> i64
  func.return
}

// -----

func.func @condition(%c: i1, %a: i32) {
  // expected-error@+1 {{'scf.while': the before region yields (i32, i32), expected (i32)}}
  %r = scf.while (%s = %a) : (i32) -> i32 {
    scf.condition(%c) %s, %s : i32, i32
  } do {
  ^bb0(%t: i32):
    scf.yield %t : i32
  }
  func.return
}

// -----

func.func @next_turn(%c: i1, %a: i32) {
  // expected-error@+1 {{'scf.while': the after region yields (i1), expected (i32)}}
  %r = scf.while (%s = %a) : (i32) -> i32 {
    scf.condition(%c) %s : i32
  } do {
  ^bb0(%t: i32):
    scf.yield %c : i1
  }
  func.return
}

// -----

func.func @no_condition(%a: i32) {
  // expected-error@+1 {{'scf.while': the before region ends in 'scf.yield', expected 'scf.condition' at its end}}
  %r = scf.while (%s = %a) : (i32) -> i32 {
    scf.yield %s : i32
  } do {
  ^bb0(%t: i32):
    scf.yield %t : i32
  }
  func.return
}

// -----

func.func @more_arguments(%c: i1, %a: i32) {
  // expected-error@+1 {{'scf.while': the after region takes (i32, i32), expected (i32)}}
  %r = scf.while (%s = %a) : (i32) -> i32 {
    scf.condition(%c) %s : i32
  } do {
  ^bb0(%t: i32, %u: i32):
    scf.yield %t : i32
  }
  func.return
}

// -----

func.func @region_in_place(%a: i32) {
  // expected-error@+1 {{'scf.execute_region': the region yields (), expected (i32)}}
  %r = scf.execute_region -> (i32) {
    scf.yield
  }
  func.return
}

// -----

func.func @no_such_global() {
  // expected-error@+1 {{'memref.get_global': there is no memref.global @table}}
  %t = memref.get_global @table : memref<4xf32>
  func.return
}

// -----

"memref.global"() <{alignment = 64 : i64, constant, initial_value = dense<1.0> : tensor<4xf32>, sym_name = "table", sym_visibility = "private", type = memref<4xf32>}> : () -> ()
func.func @other_type() {
  // expected-error@+1 {{'memref.get_global': the result has type memref<5xf32>, but @table holds memref<4xf32>}}
  %t = memref.get_global @table : memref<5xf32>
  func.return
}

// -----

func.func @predicate(%a: i64) -> i1 {
  // expected-error@+1 {{'llvm.icmp': predicate is 12, expected 0 to 9}}
  %r = "llvm.icmp"(%a, %a) <{predicate = 12 : i64}> : (i64, i64) -> i1
  func.return %r : i1
}

// -----

func.func @predicate_of_floats(%a: f32) -> i1 {
  // expected-error@+1 {{'llvm.fcmp': predicate is 16, expected 0 to 15}}
  %r = "llvm.fcmp"(%a, %a) <{predicate = 16 : i64}> : (f32, f32) -> i1
  func.return %r : i1
}

// -----

func.func @extension(%a: f64) -> f32 {
  // expected-error@+1 {{'arith.extf': the result f32 is narrower than f64: 'arith.truncf' narrows}}
  %r = arith.extf %a : f64 to f32
  func.return %r : f32
}

// -----

func.func @truncation(%a: f32) -> f64 {
  // expected-error@+1 {{'arith.truncf': the result f64 is wider than f32: 'arith.extf' widens}}
  %r = arith.truncf %a : f32 to f64
  func.return %r : f64
}

// -----

func.func @lanes(%a: vector<4xf64>) -> f32 {
  // expected-error@+1 {{'arith.truncf': the result has type f32, expected one of the shape of vector<4xf64>}}
  %r = "arith.truncf"(%a) : (vector<4xf64>) -> f32
  func.return %r : f32
}

// -----

func.func @bits_of_an_index(%a: index) -> i32 {
  // expected-error@+1 {{'arith.bitcast': the width of index is not known here: 'arith.index_cast' converts it}}
  %r = arith.bitcast %a : index to i32
  func.return %r : i32
}

// -----

func.func @lanes_of_a_comparison(%a: vector<4xf32>) -> i1 {
  // expected-error@+1 {{'arith.cmpf': the result has type i1, but the operands are vector<4xf32>}}
  %r = "arith.cmpf"(%a, %a) <{predicate = 1 : i64, fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> i1
  func.return %r : i1
}

// -----

func.func @extracted(%a: vector<4xf32>) -> f32 {
  // expected-error@+1 {{'vector.extract': position 9 is outside of dimension 0 of vector<4xf32>, expected 0 to 3}}
  %r = "vector.extract"(%a) <{static_position = array<i64: 9>}> : (vector<4xf32>) -> f32
  func.return %r : f32
}

// -----

func.func @inserted(%a: vector<4xf32>, %x: f32) -> vector<4xf32> {
  // expected-error@+1 {{'vector.insert': position -1 is outside of dimension 0 of vector<4xf32>, expected 0 to 3}}
  %r = "vector.insert"(%x, %a) <{static_position = array<i64: -1>}> : (f32, vector<4xf32>) -> vector<4xf32>
  func.return %r : vector<4xf32>
}

// -----

func.func @offsets(%m: memref<4xf32>) {
  // expected-error@+1 {{'memref.subview': the op has 2 offsets, expected 1}}
  %r = "memref.subview"(%m) <{static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 4>, static_strides = array<i64: 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (memref<4xf32>) -> memref<4xf32>
  func.return
}

// -----

func.func @strides(%m: memref<4xf32>) {
  // expected-error@+1 {{'memref.reinterpret_cast': the op has 2 strides, expected 1}}
  %r = "memref.reinterpret_cast"(%m) <{static_offsets = array<i64: 0>, static_sizes = array<i64: 4>, static_strides = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (memref<4xf32>) -> memref<4xf32>
  func.return
}

// -----

func.func @compared(%a: i1, %b: index) -> i1 {
  // expected-error@+1 {{'arith.cmpi': operand types differ: i1 and index}}
  %r = "arith.cmpi"(%a, %b) <{predicate = 2 : i64}> : (i1, index) -> i1
  func.return %r : i1
}
