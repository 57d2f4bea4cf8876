// RUN: stepwell-opt %s | filecheck %s
// RUN: stepwell-opt %s -t equations | filecheck %s --check-prefix=EQUATION

/// A rule as an equation is read into its normal form, and written as an equation by -t equations.

// CHECK-LABEL: pattern.rule "number" doc "%x - -0.0 => %x" {
// CHECK-NEXT: %x = pattern.any
// CHECK-NEXT: %0 = pattern.splat -0.0
// CHECK-NEXT: %root = pattern.op "graph.subtract"(%x, %0)
// CHECK-NEXT: pattern.replace %root with %x
// EQUATION: pattern.rule "number" : %x - -0.0 => %x
pattern.rule "number" : %x - -0.0 => %x

// CHECK-LABEL: pattern.rule "precedence" numerics "fast"
// CHECK: %[[P:.*]] = pattern.op "graph.multiply"(%y, %z)
// CHECK-NEXT: %[[S:.*]] = pattern.op "graph.add"(%x, %[[P]])
// CHECK-NEXT: %w = pattern.any
// CHECK-NEXT: %[[N:.*]] = pattern.op "graph.negative"(%w)
// CHECK-NEXT: %root = pattern.op "graph.subtract"(%[[S]], %[[N]])
// CHECK-NEXT: pattern.rewrite %root {
// CHECK-NEXT: %[[A:.*]] = pattern.create "graph.add"(%y, %z)
// CHECK-NEXT: %[[B:.*]] = pattern.create "graph.divide"(%x, %[[A]])
// CHECK-NEXT: pattern.yield %[[B]]
// EQUATION: pattern.rule "precedence" fast : %x + %y * %z - -%w => %x / (%y + %z)
pattern.rule "precedence" fast : %x + %y * %z - -%w => %x / (%y + %z)

// CHECK-LABEL: pattern.rule "names" numerics "rounding" doc "with a remark" {
// CHECK: %p = pattern.op "graph.multiply"(%x, %y)
// CHECK: pattern.require "single-use"(%p) remark "{name} is used"
// EQUATION: pattern.rule "names" rounding doc "with a remark" : (%x * %y as %p) + %z => ewise_fma(%x, %y, %z) where single-use(%p) remark "{name} is used"
pattern.rule "names" rounding doc "with a remark" : (%x * %y as %p) + %z => ewise_fma(%x, %y, %z)
  where single-use(%p) remark "{name} is used"  // a comment

// CHECK-LABEL: pattern.rule "attributes"
// CHECK: %root = pattern.op "graph.softmax"(%0) with {my.tag = [1 : i64, 2 : i64]}
// CHECK-NEXT: %a = pattern.attribute %root, "axis"
// CHECK: pattern.create "graph.softmax"(%x) with {my.tag = "t"} set ["axis"](%a)
// EQUATION: pattern.rule "attributes" doc "d" : softmax(-%x, my.tag = [1, 2], axis = %a) => softmax(%x, my.tag = "t", axis = %a)
pattern.rule "attributes" doc "d" : softmax(-%x, my.tag = [1, 2], axis = %a) => softmax(%x, my.tag = "t", axis = %a)

// CHECK-LABEL: pattern.rule "functions"
// CHECK: %inner = pattern.op "graph.sin | graph.cos"(%x)
// CHECK-NEXT: %root = pattern.op "graph.sin | graph.cos"(%inner)
// CHECK-NEXT: pattern.require "same-op"(%inner, %root)
// CHECK: pattern.build "with-operands"(%inner, %x)
// EQUATION: pattern.rule "functions" doc "%f(%f(%x) as %inner) => %f(%x)" for %f in [sin, cos] : %f(%f(%x)) => %f(%x)
pattern.rule "functions" for %f in [sin, cos] : %f(%f(%x) as %inner) => %f(%x)

// CHECK-LABEL: pattern.rule "several-names"
// CHECK: pattern.op "graph.floor | graph.ceil"(%x)
// EQUATION: pattern.rule "several-names" : [floor, ceil](%x) => %x where integer(%x)
pattern.rule "several-names" : [floor, ceil](%x) => %x where integer(%x)

// CHECK-LABEL: pattern.rule "logic"
// CHECK: %[[R:.*]] = pattern.op "graph.relu"(%x)
// CHECK-NEXT: %[[O:.*]] = pattern.or %[[R]], %x
// CHECK-NEXT: %[[C:.*]] = pattern.constant
// CHECK-NEXT: %[[N:.*]] = pattern.not %[[C]]
// CHECK-NEXT: %[[A:.*]] = pattern.and %[[O]], %[[N]]
// EQUATION: pattern.rule "logic" doc "d" : exp((relu(%x) or %x) and not constant) => %x
pattern.rule "logic" doc "d" : exp(relu?(%x) and not constant) => %x

// CHECK-LABEL: pattern.rule "tests"
// CHECK: pattern.has_dtype %{{.*}}, f32
// CHECK-NEXT: pattern.has_shape %{{.*}}, [?, 3]
// CHECK-NEXT: pattern.holds %{{.*}}, "single-use"
// CHECK: pattern.has_attr %{{.*}} with {axis = 1 : i64}
// CHECK: pattern.has_kind %{{.*}}, "elementwise | broadcast"
// CHECK: pattern.holds %{{.*}}, "same-shape"(%x)
// EQUATION: pattern.rule "tests" doc "d" : (softmax(_ has dtype f32 has shape [?, 3] holds single-use) has {axis = 1}) + (%x has kind "elementwise | broadcast") * (_ holds same-shape(%x)) => %x
pattern.rule "tests" doc "d" : (softmax(_ has dtype f32 has shape [?, 3] holds single-use) has {axis = 1})
  + (%x has kind "elementwise | broadcast") * (_ holds same-shape(%x)) => %x

// CHECK-LABEL: pattern.rule "several-results"
// CHECK: %[[S:.*]] = pattern.op "graph.split"(%x)
// CHECK-NEXT: pattern.result %[[S]], 1
// EQUATION: pattern.rule "several-results" : relu(split(%x) #1) => @reshape-to-result(%x)
pattern.rule "several-results" : relu(split(%x) #1) => @reshape-to-result(%x)

// CHECK-LABEL: pattern.rule "rest"
// CHECK: %others = pattern.rest
// EQUATION: pattern.rule "rest" doc "d" : concat(relu(%x), %others...) => partition {composite = "c"} where integer(%x)
pattern.rule "rest" doc "d" : concat(relu(%x), %others...) => partition {composite = "c"} where integer(%x)

// CHECK-LABEL: pattern.rule "several-roots"
// CHECK: pattern.rewrite %{{.*}}, %{{.*}} {
// CHECK-NEXT: %[[A:.*]] = pattern.create "graph.exp"(%x)
// CHECK-NEXT: %[[B:.*]] = pattern.create "graph.log"(%x)
// CHECK-NEXT: pattern.yield %[[A]], %[[B]]
// EQUATION: pattern.rule "several-roots" : exp(-%x), log(-%x) => exp(%x), log(%x)
pattern.rule "several-roots" : exp(-%x), log(-%x) => exp(%x), log(%x)

// CHECK-LABEL: pattern.rule "numbers"
// CHECK: %[[K:.*]] = pattern.build "scalar"() with {value = 2 : i64}
// CHECK: pattern.create "graph.multiply"(%x, %[[K]])
// EQUATION: pattern.rule "numbers" fast : %x + %x => (%x * 2 as %s) * %s
pattern.rule "numbers" fast : %x + %x => (%x * 2 as %s) * %s

// CHECK-LABEL: pattern.rule "a-number"
// CHECK: pattern.build "full"() with {value = 0.000000e+00 : f64}
// EQUATION: pattern.rule "a-number" fast : %x - %x => 0.0 where float(%x)
pattern.rule "a-number" fast : %x - %x => 0.0 where float(%x)

// CHECK-LABEL: pattern.rule "conditions-first"
// CHECK: %root = pattern.any_op
// CHECK-NEXT: %first = pattern.any_op
// CHECK-NEXT: pattern.require "equivalent"(%first, %root)
// EQUATION: pattern.rule "conditions-first" doc "d" : any_op where equivalent(any_op %first, %root) => %first
pattern.rule "conditions-first" doc "d" : any_op where equivalent(any_op %first, %root) => %first

// CHECK-LABEL: pattern.rule "values"
// CHECK: pattern.literal dense<0.000000e+00> : tensor<4xf32>
// CHECK: pattern.argument "x"
// CHECK: pattern.argument 0
// EQUATION: pattern.rule "values" doc "d" : where(literal dense<0.000000e+00> : tensor<4xf32>, argument "x", argument 0) => %root
pattern.rule "values" doc "d" : where((literal dense<0.0> : tensor<4xf32>), argument "x", argument 0) => %root

// CHECK-LABEL: pattern.rule "words-of-patterns"
// CHECK: pattern.assoc
// EQUATION: pattern.rule "words-of-patterns" fast : pattern.assoc(%x * %y / %z) => %x
pattern.rule "words-of-patterns" fast : pattern.assoc(%x * %y / %z) => %x

// CHECK-LABEL: pattern.define "twice" {
// CHECK-NEXT: ^bb0(%x: !pattern.value):
// CHECK: pattern.gives
pattern.define "twice"(%x) : %x * 2 or %x + %x

// CHECK-LABEL: pattern.rule "defined"
// CHECK: %[[M:.*]] = pattern.op "graph.multiply"(%y, %{{.*}})
// CHECK-NEXT: %[[A:.*]] = pattern.op "graph.add"(%y, %y)
// CHECK-NEXT: %[[O:.*]] = pattern.or %[[M]], %[[A]]
// CHECK: pattern.op "graph.divide"(%[[O]], %{{.*}})
pattern.rule "defined" fast : @twice(%y) / 2 => %y

// CHECK-LABEL: pattern.group_rule "groups" doc "g" {
// CHECK-NEXT: %a = pattern.group "elementwise | broadcast"
// CHECK-NEXT: %b = pattern.group "out-fusable"
// CHECK-NEXT: %c = pattern.group "injective"
// CHECK-NEXT: pattern.require_groups "post-dominated"(%a, %b, %c) remark "r"
// CHECK-NEXT: pattern.merge_groups %a into %b
// EQUATION: pattern.group_rule "groups" doc "g" : [elementwise, broadcast] %a into out-fusable %b through injective %c where post-dominated(%a, %b, %c) remark "r"
pattern.group_rule "groups" doc "g" : [elementwise, broadcast] %a into out-fusable %b through injective %c
  where post-dominated(%a, %b, %c) remark "r"
