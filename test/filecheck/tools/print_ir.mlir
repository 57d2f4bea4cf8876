// RUN: stepwell-opt %s -p cse,canonicalize --print-ir-after=canonicalize -o %t 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: stepwell-opt %s -p cse,canonicalize --print-ir-before=canonicalize -o %t 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: stepwell-opt %s -p cse,canonicalize --print-ir-after-all -o %t 2>&1 | filecheck %s --check-prefix=ALL
// RUN: stepwell-opt %s -p cse,canonicalize,cse --print-ir-after-change -o %t 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: stepwell-opt %s -p cse,canonicalize --print-between-passes | filecheck %s --check-prefix=BETWEEN
// RUN: stepwell-opt %s -p cse,canonicalize --time-passes --statistics -o %t 2>&1 | filecheck %s --check-prefix=REPORT

// AFTER-NOT: // IR before
// AFTER: // IR after canonicalize (pass 2 of 2)
// AFTER-NOT: arith.constant
// BEFORE: // IR before canonicalize (pass 2 of 2)
// BEFORE: arith.constant
// BEFORE-NOT: // IR after
// ALL: // IR after cse (pass 1 of 2)
// ALL: arith.constant
// ALL: // IR after canonicalize (pass 2 of 2)
/// cse finds nothing to do, neither before canonicalize nor after it.
// CHANGE-NOT: // IR after cse
// CHANGE: // IR after canonicalize (pass 2 of 3)
// CHANGE-NOT: // IR after cse
// BETWEEN: IR after cse:
// BETWEEN: arith.constant
// BETWEEN-NOT: arith.constant
// REPORT: cse: 4 ops -> 4 ops
// REPORT: canonicalize: 4 ops -> 2 ops
// REPORT: pass ms
// REPORT: canonicalize
// REPORT: total
func.func @main(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %sum = arith.addi %x, %zero : i32
  func.return %sum : i32
}
