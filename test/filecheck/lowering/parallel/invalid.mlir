// RUN: stepwell-opt %s -p lower-to-llvm-dialect --split-input-file --verify-diagnostics | filecheck %s

func.func private @part(%lower: index, %upper: index) attributes {stepwell.task} {
  func.return
}
func.func @empty_chunk() {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{stepwell.chunk is 0 : i64, expected a positive number, on a call without results}}
  func.call @part(%c0, %c0) {stepwell.chunk = 0 : i64} : (index, index) -> ()
  func.return
}

// -----

func.func private @part(%lower: index, %upper: index) -> index attributes {stepwell.task} {
  func.return %lower : index
}
func.func @no_results() {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{stepwell.chunk is 4 : i64, expected a positive number, on a call without results}}
  %0 = func.call @part(%c0, %c0) {stepwell.chunk = 4 : i64} : (index, index) -> index
  func.return
}

// -----

// A part that cannot fail needs no look at the status.
// CHECK-LABEL: llvm.func @good
// CHECK: llvm.call @_stepwell_parallel
// CHECK-NEXT: llvm.return
func.func private @part(%lower: index, %upper: index) attributes {stepwell.task} {
  func.return
}
func.func @good() {
  %c0 = arith.constant 0 : index
  func.call @part(%c0, %c0) {stepwell.chunk = 4 : i64} : (index, index) -> ()
  func.return
}
