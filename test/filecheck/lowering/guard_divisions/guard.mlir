// RUN: stepwell-opt %s -p guard-divisions | filecheck %s
// RUN: stepwell-opt %s -p guard-divisions,guard-divisions | filecheck %s --check-prefix=TWICE

// CHECK-LABEL: @signed
// TWICE-LABEL: @signed
// TWICE-COUNT-1: cf.assert
func.func @signed(%a: i32, %b: i32) -> i32 {
  // CHECK: %[[NONZERO:.*]] = arith.cmpi ne, %b, %{{.*}} : i32
  // CHECK-NEXT: cf.assert %[[NONZERO]], "arith.divsi: integer division by zero"
  // CHECK: %[[MINUS:.*]] = arith.cmpi eq, %b, %{{.*}} : i32
  // CHECK: %[[SAFE:.*]] = arith.select %[[MINUS]], %{{.*}}, %b : i32
  // CHECK: %[[NEGATED:.*]] = arith.subi %{{.*}}, %a : i32
  // CHECK-NEXT: %[[QUOTIENT:.*]] = arith.divsi %a, %[[SAFE]] : i32
  // CHECK-NEXT: %[[RESULT:.*]] = arith.select %[[MINUS]], %[[NEGATED]], %[[QUOTIENT]] : i32
  // CHECK-NEXT: return %[[RESULT]]
  %q = arith.divsi %a, %b : i32
  func.return %q : i32
}

/// A remainder by -1 is that by 1.
// CHECK-LABEL: @remainder
func.func @remainder(%a: i32, %b: i32) -> i32 {
  // CHECK: cf.assert %{{.*}}, "arith.remsi: integer division by zero"
  // CHECK: %[[SAFE:.*]] = arith.select
  // CHECK-NEXT: %[[R:.*]] = arith.remsi %a, %[[SAFE]] : i32
  // CHECK-NEXT: return %[[R]]
  %r = arith.remsi %a, %b : i32
  func.return %r : i32
}

/// Unsigned division has one bad divisor only.
// CHECK-LABEL: @unsigned
func.func @unsigned(%a: i32, %b: i32) -> i32 {
  // CHECK: cf.assert %{{.*}}, "arith.divui: integer division by zero"
  // CHECK-NEXT: arith.divui %a, %b : i32
  // CHECK-NEXT: return
  %q = arith.divui %a, %b : i32
  func.return %q : i32
}

/// Constants other than 0 and -1 are safe.
// CHECK-LABEL: @no_constant
func.func @no_constant(%a: index) -> index {
  // CHECK-NOT: cf.assert
  // CHECK: arith.floordivsi
  // CHECK-NEXT: return
  %c = arith.constant 16 : index
  %q = arith.floordivsi %a, %c : index
  func.return %q : index
}

/// Divisors that have been replaced already, as the graph ops do, are safe.
// CHECK-LABEL: @no_replaced
func.func @no_replaced(%a: i32, %b: i32) -> i32 {
  // CHECK-NOT: cf.assert
  // CHECK: arith.divsi
  // CHECK-NEXT: return
  %zero = arith.constant 0 : i32
  %minus = arith.constant -1 : i32
  %one = arith.constant 1 : i32
  %c0 = arith.cmpi eq, %b, %zero : i32
  %c1 = arith.cmpi eq, %b, %minus : i32
  %c = arith.ori %c0, %c1 : i1
  %d = arith.select %c, %one, %b : i32
  %q = arith.divsi %a, %d : i32
  func.return %q : i32
}
