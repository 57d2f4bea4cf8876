// RUN: not stepwell-opt %s --split-input-file --verify-diagnostics 2>&1 | filecheck %s

/// What was announced must come, at the line it was announced for, and nothing else.
// CHECK: missing.mlir:5:1: error: expected error at line 6 was not produced: never produced
// expected-error@+1 {{never produced}}
func.func @nothing_wrong() {
  func.return
}

// -----

// CHECK: unexpected error: op 'arith.adi' is unknown
// CHECK: expected error at line 17 was not produced: op 'arith.adi' is unknown
func.func @wrong_line(%x: i32) {
  "arith.adi"(%x, %x) : (i32, i32) -> i32
  // expected-error@+1 {{op 'arith.adi' is unknown}}
  func.return
}
