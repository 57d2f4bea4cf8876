// RUN: stepwell-opt %s -p flatten-dynamic-buffers --split-input-file --verify-diagnostics | filecheck %s

// CHECK: @valid
func.func @valid() {
  func.return
}

// -----

func.func @other(%A: memref<?xf32>) {
  // expected-error@+1 {{'memref.copy' takes or makes a buffer with sizes that are not known}}
  "memref.copy"(%A, %A) : (memref<?xf32>, memref<?xf32>) -> ()
  func.return
}

// -----

func.func @dimension(%A: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{the dimension is not a constant}}
  %n = memref.dim %A, %i : memref<?x?xf32>
  func.return
}

// -----

func.func @offset(%A: memref<4xf32, strided<[1], offset: 2>>) {
  // expected-error@+1 {{the source of the cast is a buffer of type memref<4xf32, strided<[1], offset: 2>>, expected one without an offset}}
  %b = "memref.cast"(%A) : (memref<4xf32, strided<[1], offset: 2>>) -> memref<?xf32, strided<[?], offset: ?>>
  func.return
}

// -----

func.func @stride(%A: memref<4xf32, strided<[2]>>) {
  %b = "memref.cast"(%A) : (memref<4xf32, strided<[2]>>) -> memref<?xf32, strided<[?]>>
  // expected-error@+1 {{stride 0 is 2 before the cast and 1 after it}}
  %c = "memref.cast"(%b) : (memref<?xf32, strided<[?]>>) -> memref<4xf32>
  func.return
}
