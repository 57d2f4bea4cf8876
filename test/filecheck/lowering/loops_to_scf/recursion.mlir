// Functions on buffers do not call themselves (AUDIT G3).
// RUN: stepwell-opt %s -p lower-loops-to-scf --split-input-file --verify-diagnostics | filecheck %s

tensor_loop.func @main(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  // expected-error@+1 {{function @main calls itself; recursion on buffers is not supported}}
  tensor_loop.call @main(%A) outs(%B) : (memref<4xf32>) outs(memref<4xf32>)
  tensor_loop.call @main(%A) outs(%B) : (memref<4xf32>) outs(memref<4xf32>)
}

// -----

func.func @first(%A: memref<4xf32>, %B: memref<4xf32>) {
  func.call @second(%A, %B) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}
func.func private @second(%A: memref<4xf32>, %B: memref<4xf32>) {
  func.call @third(%A, %B) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}
func.func private @third(%A: memref<4xf32>, %B: memref<4xf32>) {
  // expected-error@+1 {{function @second calls itself through @third; recursion on buffers is not supported}}
  func.call @second(%A, %B) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}

// -----

// On scalars it may end.
// CHECK-LABEL: func.func private @halves(%n: i32) -> i32 {
func.func private @halves(%n: i32) -> i32 {
  %one = arith.constant 1 : i32
  %more = arith.cmpi sgt, %n, %one : i32
  %r = scf.if %more -> (i32) {
    %h = arith.shrsi %n, %one : i32
    %0 = func.call @halves(%h) : (i32) -> i32
    scf.yield %0 : i32
  } else {
    scf.yield %n : i32
  }
  func.return %r : i32
}
