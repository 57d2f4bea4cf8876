// RUN: not stepwell-opt --test-rules=%s --cases 40 | filecheck %s

/// -0.0 + 0.0 is 0.0.
// CHECK: WRONG add-of-zero (exact): different; applied
// CHECK-NEXT: result 0{{.*}} was 0.0, became -0.0
// CHECK-NEXT: before:
// CHECK-NEXT: func.func @main(
// CHECK: graph.add
// CHECK: after:
// CHECK-NEXT: func.func @main(
// CHECK: input 0: float
// CHECK: output 0 before: float
// CHECK: output 0 after: float
pattern.rule "add-of-zero" {
  %x = pattern.any
  %k = pattern.splat 0.0
  %root = pattern.op "graph.add"(%x, %k)
  pattern.replace %root with %x
}

// CHECK: ?     not-of-float (exact): not exercised; applied 0 of [[#]], 0 runs
// CHECK-NEXT: no instance found in [[#]] tries
pattern.rule "not-of-float" {
  %x = pattern.any
  %root = pattern.op "graph.logical_not"(%x)
  pattern.require "float"(%x)
  pattern.replace %root with %x
}

// CHECK-NEXT: 2 rules: 0 right, 1 wrong, 1 not exercised
