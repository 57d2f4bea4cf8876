// RUN: stepwell-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s
// RUN: not stepwell-opt %s --split-input-file 2>&1 | filecheck %s --check-prefix=STOPS

/// Each chunk is parsed by itself; lines are those of the whole file.
// CHECK-LABEL: @good
// STOPS-LABEL: @good
func.func @good() {
  func.return
}

// -----
// CHECK: // -----

// CHECK: split_input.mlir:18:4: error: op 'arith.adi' is unknown
// STOPS: split_input.mlir:18:4: error: op 'arith.adi' is unknown
func.func @misspelt(%x: i32) {
  // CHECK: hint: did you mean 'arith.andi'?
  "arith.adi"(%x, %x) : (i32, i32) -> i32
  func.return
}

// -----
// CHECK: // -----

/// The error of one chunk does not end the run.
// CHECK-LABEL: @after_the_error
// STOPS-NOT: @after_the_error
func.func @after_the_error() {
  func.return
}
