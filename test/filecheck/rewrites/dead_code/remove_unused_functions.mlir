// RUN: stepwell-opt %s -p remove-unused-functions | filecheck %s

/// What public functions reach stays: by calls, by mention in any attribute, by the key of a weight.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<4xf32>) attributes {table = [{entry = @listed}], key = "@prepare_0#0"} {
  // CHECK-NEXT: func.call @called() : () -> ()
  // CHECK-NEXT: func.return
  func.call @called() : () -> ()
  func.return
}
// CHECK-LABEL: func.func private @called(
func.func private @called() {
  // CHECK-NEXT: func.call @deeper() : () -> ()
  // CHECK-NEXT: func.return
  func.call @deeper() : () -> ()
  func.return
}
// CHECK-LABEL: func.func private @deeper(
func.func private @deeper() {
  // CHECK-NEXT: func.return
  func.return
}
// CHECK-LABEL: func.func private @listed(
func.func private @listed() {
  // CHECK-NEXT: func.return
  func.return
}
// CHECK-LABEL: func.func private @prepare_0(
func.func private @prepare_0() {
  // CHECK-NEXT: func.return
  func.return
}

/// Unreachable functions go, also when they call each other, and declarations nobody needs.
// CHECK-NOT: func.func private @odd(
func.func private @odd() {
  func.call @even() : () -> ()
  func.return
}
// CHECK-NOT: func.func private @even(
func.func private @even() {
  func.call @odd() : () -> ()
  func.return
}
// CHECK-NOT: func.func private @declared(
func.func private @declared()

/// A public function is an entry.
// CHECK-LABEL: func.func @other(
func.func @other() {
  // CHECK-NEXT: func.return
  func.return
}
