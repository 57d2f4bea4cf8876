// RUN: stepwell-opt %s -p guard-divisions --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: func.func @valid(
func.func @valid() {
  func.return
}

// -----

func.func @unsigned(%a: ui8, %b: ui8) -> ui8 {
  // expected-error@+1 {{'arith.divui': type ui8 has a sign; below tensor_loop integers are signless}}
  %r = arith.divui %a, %b : ui8
  func.return %r : ui8
}
