// RUN: stepwell-opt %s -p flatten-dynamic-buffers --split-input-file --verify-diagnostics | filecheck %s

// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @other(%A: memref<?xf32>) {
  // expected-error@+1 {{'memref.cast' takes or makes a buffer with sizes that are not known}}
  %b = "memref.cast"(%A) : (memref<?xf32>) -> memref<4xf32>
  func.return
}

// -----

func.func @dimension(%A: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{the dimension is not a constant}}
  %n = memref.dim %A, %i : memref<?x?xf32>
  func.return
}
