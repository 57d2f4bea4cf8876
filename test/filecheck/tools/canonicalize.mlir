// RUN: stepwell-opt %s -p canonicalize | filecheck %s

/// Adding zero is the identity.
// CHECK-LABEL: @add_of_zero
func.func @add_of_zero(%x: i32) -> i32 {
  // CHECK-NEXT: return %x
  %zero = arith.constant 0 : i32
  %sum = arith.addi %x, %zero : i32
  func.return %sum : i32
}
