// RUN: stepwell-opt %s -p profile-kernels --split-input-file --verify-diagnostics | filecheck %s

// expected-error@+1 {{there is no func.func @main with a signature, whose kernels could be measured}}
builtin.module {
  func.func @main(%y: memref<4xf32> {stepwell.role = "output"}) {
    func.return
  }
}

// -----

// expected-error@+1 {{the name @profile_now is taken}}
func.func private @profile_now() -> i64
func.func @main(%y: memref<4xf32> {stepwell.role = "output"}) attributes {stepwell.signature = () -> tensor<4xf32>} {
  func.return
}

// -----

// CHECK-LABEL: @no_other_entry_is_measured(
// CHECK-NOT:     profile
// CHECK:         func.return
func.func @no_other_entry_is_measured(%y: memref<4xf32> {stepwell.role = "output"}) attributes {stepwell.signature = () -> tensor<4xf32>} {
  func.return
}
func.func @main(%y: memref<4xf32> {stepwell.role = "output"}) attributes {stepwell.signature = () -> tensor<4xf32>} {
  func.return
}

// -----

// expected-error@+1 {{@main is on tensors, expected one on buffers}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {stepwell.signature = (tensor<4xf32>) -> tensor<4xf32>} {
  func.return %x : tensor<4xf32>
}
