// RUN: stepwell-opt %s -p expand-math --split-input-file --verify-diagnostics | filecheck %s

/// Every diagnostic is announced, so the run succeeds and prints what is valid.
// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @no_vectors(%x: vector<8xf8E5M2>) -> vector<8xf32> {
  // expected-error@+1 {{'arith.extf': nothing is computed on vectors of f8E5M2, only on scalars}}
  %y = arith.extf %x : vector<8xf8E5M2> to vector<8xf32>
  func.return %y : vector<8xf32>
}
