// RUN: %roundtrip
// RUN: %generic

/// Every op of the dialect; properties with their defaults are not printed.
// CHECK-LABEL: pattern.rule "everything" numerics "fast" doc "a doc line" {
// GENERIC: "pattern.rule"() <{rule_name = "everything", numerics = "fast", doc = "a doc line"}> ({
pattern.rule "everything" numerics "fast" doc "a doc line" {
  // CHECK-NEXT: %[[X:.*]] = pattern.any
  // CHECK-NEXT: %[[C:.*]] = pattern.constant
  // CHECK-NEXT: %[[S:.*]] = pattern.splat -0.0
  // CHECK-NEXT: %[[REST:.*]] = pattern.rest
  // CHECK-NEXT: %[[EITHER:.*]] = pattern.or %[[X]], %[[C]]
  // CHECK-NEXT: %[[OP:.*]] = pattern.op "graph.split | graph.concat"(%[[X]], %[[REST]]) with {axis = 0 : i64}
  // CHECK-NEXT: %[[R:.*]] = pattern.result %[[OP]], 1
  // CHECK-NEXT: %[[ANY:.*]] = pattern.any_op
  // CHECK-NEXT: %[[ROOT:.*]] = pattern.op "graph.add"(%[[R]], %[[S]])
  // CHECK-NEXT: pattern.require "shape"(%[[X]]) with {is = array<i64: -1, 4>} remark "not here"
  // CHECK-NEXT: pattern.rewrite %[[ROOT]] {
  // CHECK-NEXT:   %[[N:.*]] = pattern.create "graph.add"(%[[X]], %[[X]]) with {tag}
  // CHECK-NEXT:   %[[M:.*]] = pattern.build "with-operands"(%[[ROOT]], %[[X]])
  // CHECK-NEXT:   pattern.yield %[[N]], %[[M]]
  // CHECK-NEXT: }
  %x = pattern.any
  %c = pattern.constant
  %s = pattern.splat -0.0
  %rest = pattern.rest
  %either = pattern.or %x, %c
  %op = pattern.op "graph.split | graph.concat"(%x, %rest) with {axis = 0 : i64}
  %r = pattern.result %op, 1
  %any = pattern.any_op
  %root = pattern.op "graph.add"(%r, %s)
  pattern.require "shape"(%x) with {is = array<i64: -1, 4>} remark "not here"
  pattern.rewrite %root {
    %n = pattern.create "graph.add"(%x, %x) with {tag}
    %m = pattern.build "with-operands"(%root, %x)
    pattern.yield %n, %m
  }
}

// CHECK-LABEL: pattern.rule "short" {
// CHECK: pattern.replace %{{.*}} with %{{.*}}
// GENERIC: "pattern.replace"
pattern.rule "short" {
  %x = pattern.any
  %root = pattern.op "graph.relu"(%x)
  pattern.replace %root with %x
}
