// RUN: stepwell-opt %s -p 'remove-unused-functions{entry=odd,deeper}' | filecheck %s

/// Only the named entries and what they reach stay.
// CHECK-NOT: func.func @main(
func.func @main(%x: tensor<4xf32>) attributes {table = [{entry = @listed}], key = "@prepare_0#0"} {
  func.call @called() : () -> ()
  func.return
}
// CHECK-NOT: func.func private @called(
func.func private @called() {
  func.call @deeper() : () -> ()
  func.return
}
// CHECK-LABEL: func.func private @deeper(
func.func private @deeper() {
  // CHECK-NEXT: func.return
  func.return
}
// CHECK-NOT: func.func private @listed(
func.func private @listed() {
  func.return
}
// CHECK-NOT: func.func private @prepare_0(
func.func private @prepare_0() {
  func.return
}

/// Private functions may be entries.
// CHECK-LABEL: func.func private @odd(
func.func private @odd() {
  // CHECK-NEXT: func.call @even() : () -> ()
  // CHECK-NEXT: func.return
  func.call @even() : () -> ()
  func.return
}
// CHECK-LABEL: func.func private @even(
func.func private @even() {
  // CHECK-NEXT: func.call @odd() : () -> ()
  // CHECK-NEXT: func.return
  func.call @odd() : () -> ()
  func.return
}
// CHECK-NOT: func.func private @declared(
func.func private @declared()

/// Public functions are no entries then.
// CHECK-NOT: func.func @other(
func.func @other() {
  func.return
}
