// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @use_before_definition(%x: i32) {
  // expected-error@+1 {{operand 0 (%y) is used before its definition at line 14}}
  %z = arith.addi %y, %x : i32
  %y = arith.addi %x, %x : i32
  func.return
}

// -----

func.func @same_line() {
  "unknown.op"() : () -> () // expected-error {{there is no dialect 'unknown'}}
  func.return
}

// -----

func.func @above(%x: i32) -> i64 {
  func.return %x : i32
  // expected-error-re@above {{'func.return': {{.*}} expected [i64], got [i32]}}
}

// -----

// expected-error@below {{operand 0 (%x) is a result of the op itself}}
%x = arith.addi %x, %x : i32
