// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// What the regions of structured control flow yield fits the results. xDSL checks less, and the lowering made branches
/// that pass on other values than their blocks take.
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
