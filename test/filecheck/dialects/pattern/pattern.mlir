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

/// Tests of values, dominators, functions, calls, branches.
// CHECK-LABEL: pattern.rule "tests-and-structures" {
// CHECK-NEXT: %[[X:.*]] = pattern.any
// CHECK-NEXT: %[[A:.*]] = pattern.argument
// CHECK-NEXT: %[[A0:.*]] = pattern.argument 0
// CHECK-NEXT: %[[AN:.*]] = pattern.argument "x"
// CHECK-NEXT: %[[L:.*]] = pattern.literal dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT: %[[D:.*]] = pattern.has_dtype %[[X]], f32
// CHECK-NEXT: %[[T:.*]] = pattern.has_type %[[D]], tensor<4xf32>
// CHECK-NEXT: %[[S:.*]] = pattern.has_shape %[[T]], [?, 10]
// CHECK-NEXT: %[[S0:.*]] = pattern.has_shape %[[T]], []
// CHECK-NEXT: %[[OP:.*]] = pattern.op "graph.softmax"(%[[S]])
// CHECK-NEXT: %[[AXIS:.*]] = pattern.attribute %[[OP]], "axis"
// CHECK-NEXT: %[[K:.*]] = pattern.has_kind %[[OP]], "elementwise | out-fusable"
// CHECK-NEXT: %[[B:.*]] = pattern.holds %[[K]], "single-use"
// CHECK-NEXT: %[[B2:.*]] = pattern.holds %[[B]], "dtype" with {is = f32}
// CHECK-NEXT: %[[AT:.*]] = pattern.has_attr %[[B2]] with {axis = -1 : i64}
// CHECK-NEXT: %[[N:.*]] = pattern.not %[[L]]
// CHECK-NEXT: %[[AND:.*]] = pattern.and %[[AT]], %[[N]]
// CHECK-NEXT: %[[DOM:.*]] = pattern.dominates %[[OP]] by %[[AND]] over %[[X]]
// CHECK-NEXT: %[[F:.*]] = pattern.function(%[[X]], %[[A]]) returns %[[DOM]] with {tag}
// CHECK-NEXT: %[[G:.*]] = pattern.function any() returns %[[DOM]]
// CHECK-NEXT: %[[C:.*]] = pattern.call named "f"(%[[X]])
// CHECK-NEXT: %[[C1:.*]] = pattern.call any named "f"()
// CHECK-NEXT: %[[C2:.*]] = pattern.call to %[[F]](%[[X]], %[[X]])
// CHECK-NEXT: %[[C3:.*]] = pattern.call(%[[C2]])
// CHECK-NEXT: %[[I:.*]] = pattern.if %[[X]] then %[[C]] else %[[C1]]
// CHECK-NEXT: %[[ROOT:.*]] = pattern.op "graph.add"(%[[I]], %[[OP]])
// CHECK-NEXT: pattern.rewrite %[[ROOT]] {
// CHECK-NEXT: %[[M:.*]] = pattern.create "graph.softmax"(%[[X]]) with {tag} set ["axis"](%[[AXIS]])
// CHECK-NEXT: pattern.yield %[[M]]
// CHECK-NEXT: }
// CHECK-NEXT: }
pattern.rule "tests-and-structures" {
  %x = pattern.any
  %a = pattern.argument
  %a0 = pattern.argument 0
  %an = pattern.argument "x"
  %l = pattern.literal dense<0.0> : tensor<4xf32>
  %d = pattern.has_dtype %x, f32
  %t = pattern.has_type %d, tensor<4xf32>
  %s = pattern.has_shape %t, [?, 10]
  %s0 = pattern.has_shape %t, []
  %op = pattern.op "graph.softmax"(%s)
  %axis = pattern.attribute %op, "axis"
  %k = pattern.has_kind %op, "elementwise | out-fusable"
  %b = pattern.holds %k, "single-use"
  %b2 = pattern.holds %b, "dtype" with {is = f32}
  %at = pattern.has_attr %b2 with {axis = -1}
  %n = pattern.not %l
  %and = pattern.and %at, %n
  %dom = pattern.dominates %op by %and over %x
  %f = pattern.function(%x, %a) returns %dom with {tag}
  %g = pattern.function any () returns %dom
  %c = pattern.call named "f"(%x)
  %c1 = pattern.call any named "f"()
  %c2 = pattern.call to %f(%x, %x)
  %c3 = pattern.call (%c2)
  %i = pattern.if %x then %c else %c1
  %root = pattern.op "graph.add"(%i, %op)
  pattern.rewrite %root {
    %m = pattern.create "graph.softmax"(%x) with {tag} set ["axis"](%axis)
    pattern.yield %m
  }
}

/// Several things at once: tests between values, several results, ops that share values, re-associated forms, expressions.
// CHECK-LABEL: pattern.rule "several" numerics "rounding" {
// CHECK-NEXT: %[[X:.*]] = pattern.any
// CHECK-NEXT: %[[Y:.*]] = pattern.any
// CHECK-NEXT: %[[H:.*]] = pattern.holds %[[X]], "same-shape"(%[[Y]])
// CHECK-NEXT: %[[H2:.*]] = pattern.holds %[[H]], "only-used-by"(%[[X]], %[[Y]]) with {tag}
// CHECK-NEXT: %[[M:.*]] = pattern.op "graph.multiply"(%[[H2]], %[[Y]])
// CHECK-NEXT: %[[D:.*]] = pattern.op "graph.divide"(%[[M]], %[[Y]])
// CHECK-NEXT: %[[A:.*]] = pattern.assoc %[[D]]
// CHECK-NEXT: %[[I:.*]] = pattern.if %[[X]] then %[[A]], %[[Y]] else %[[Y]], %[[X]]
// CHECK-NEXT: %[[I1:.*]] = pattern.result %[[I]], 1
// CHECK-NEXT: %[[F:.*]] = pattern.function(%[[X]]) returns %[[X]], %[[Y]]
// CHECK-NEXT: %[[C:.*]] = pattern.call any to %[[F]]()
// CHECK-NEXT: %[[E:.*]] = pattern.expression (%[[I1]], %[[C]]) {
// CHECK-NEXT: ^bb0(%[[U:.*]]: tensor<4xf32>, %[[V:.*]]: tensor<4xf32>):
// CHECK-NEXT: %[[S:.*]] = graph.add %[[U]], %[[V]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: pattern.returns %[[S]] : tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[Q:.*]] = pattern.op "graph.exp"(%[[E]])
// CHECK-NEXT: %[[K:.*]] = pattern.op "graph.log"(%[[E]])
// CHECK-NEXT: %[[T:.*]] = pattern.together %[[Q]], %[[K]]
// CHECK-NEXT: pattern.rewrite %[[Q]], %[[K]] {
// CHECK-NEXT: pattern.yield %[[X]], %[[Y]]
// CHECK-NEXT: }
// CHECK-NEXT: }
pattern.rule "several" numerics "rounding" {
  %x = pattern.any
  %y = pattern.any
  %h = pattern.holds %x, "same-shape"(%y)
  %h2 = pattern.holds %h, "only-used-by"(%x, %y) with {tag}
  %m = pattern.op "graph.multiply"(%h2, %y)
  %d = pattern.op "graph.divide"(%m, %y)
  %a = pattern.assoc %d
  %i = pattern.if %x then %a, %y else %y, %x
  %i1 = pattern.result %i, 1
  %f = pattern.function(%x) returns %x, %y
  %c = pattern.call any to %f()
  %e = pattern.expression (%i1, %c) {
  ^bb0(%u: tensor<4xf32>, %v: tensor<4xf32>):
    %s = graph.add %u, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    pattern.returns %s : tensor<4xf32>
  }
  %q = pattern.op "graph.exp"(%e)
  %k = pattern.op "graph.log"(%e)
  %t = pattern.together %q, %k
  pattern.rewrite %q, %k {
    pattern.yield %x, %y
  }
}

// CHECK-LABEL: pattern.rule "group-of-two" {
// CHECK: pattern.partition %{{.*}}, %{{.*}} with {tag}
pattern.rule "group-of-two" {
  %x = pattern.any
  %q = pattern.op "graph.exp"(%x)
  %k = pattern.op "graph.log"(%x)
  pattern.partition %q, %k with {tag}
}
