// The patterns of match.py as text, each for `partition-pattern`.

pattern.rule "one-of-two" doc "an addition or a subtraction" {
  %x = pattern.any
  %y = pattern.any
  %root = pattern.op "graph.add | graph.subtract"(%x, %y)
  pattern.partition %root
}

pattern.rule "layout" doc "a convolution in NHWC" {
  %x = pattern.any
  %w = pattern.any
  %root = pattern.op "graph.conv2d"(%x, %w) with {data_layout = "NHWC"}
  pattern.partition %root
}

pattern.rule "kernel" doc "a convolution by a 1 x 1 kernel" {
  %x = pattern.any
  %w = pattern.any
  %k = pattern.has_shape %w, [?, ?, 1, 1]
  %root = pattern.op "graph.conv2d"(%x, %k)
  pattern.partition %root
}

pattern.rule "kind" doc "a matmul is not elementwise, an addition is" {
  %x = pattern.any
  %y = pattern.any
  %op = pattern.op "graph.matmul | graph.divide | graph.multiply"(%x, %y)
  %root = pattern.has_kind %op, "elementwise"
  pattern.partition %root
}

pattern.rule "perhaps-relu" doc "a convolution, a bias, and a relu where there is one" {
  %x = pattern.any
  %w = pattern.any
  %b = pattern.any
  %conv = pattern.op "graph.conv2d"(%x, %w)
  %biased = pattern.op "graph.bias_add"(%conv, %b)
  %active = pattern.op "graph.relu"(%biased)
  %root = pattern.or %active, %biased
  pattern.partition %root
}

pattern.rule "shape-of-result" doc "a convolution and a relu of one shape" {
  %x = pattern.any
  %w = pattern.any
  %conv = pattern.op "graph.conv2d"(%x, %w)
  %active = pattern.op "graph.relu"(%conv)
  %root = pattern.has_shape %active, [1, 32, 28, 28]
  pattern.partition %root
}

pattern.rule "type-of-elements" doc "integers added" {
  %x = pattern.any
  %y = pattern.any
  %sum = pattern.op "graph.add"(%x, %y)
  %root = pattern.has_dtype %sum, i32
  pattern.partition %root
}

pattern.rule "three-parts" doc "three parts joined" {
  %x = pattern.any
  %y = pattern.any
  %z = pattern.any
  %root = pattern.op "graph.concat"(%x, %y, %z)
  pattern.partition %root
}

pattern.rule "all-parts" doc "any number of parts joined" {
  %parts = pattern.rest
  %root = pattern.op "graph.concat"(%parts)
  pattern.partition %root
}

pattern.rule "first-result" doc "a relu of the first result of a batch_norm" {
  %x = pattern.any
  %gamma = pattern.any
  %beta = pattern.any
  %mean = pattern.any
  %var = pattern.any
  %norm = pattern.op "graph.batch_norm"(%x, %gamma, %beta, %mean, %var)
  %first = pattern.result %norm, 0
  %root = pattern.op "graph.relu"(%first)
  pattern.partition %root
}

pattern.rule "known-weights" doc "weights that are known" {
  %x = pattern.any
  %w = pattern.constant
  %b = pattern.any
  %conv = pattern.op "graph.conv2d"(%x, %w)
  %root = pattern.op "graph.bias_add"(%conv, %b)
  pattern.partition %root
}

pattern.rule "zero" doc "an addition of zero, of any shape and type" {
  %x = pattern.any
  %zero = pattern.splat 0.0
  %root = pattern.op "graph.add"(%x, %zero)
  pattern.partition %root
}

pattern.rule "smaller" doc "x where x < y, else y" {
  %x = pattern.argument 0
  %y = pattern.argument 1
  %less = pattern.op "graph.less"(%x, %y)
  %bit = pattern.op "tensor.extract"(%less)
  %root = pattern.if %bit then %x else %y
  pattern.partition %root
}

pattern.rule "call-of-sum" doc "a call of a function that adds" {
  %p = pattern.any
  %q = pattern.any
  %sum = pattern.op "graph.add"(%p, %q)
  %adds = pattern.function (%p, %q) returns %sum
  %x = pattern.any
  %y = pattern.any
  %root = pattern.call to %adds (%x, %y)
  pattern.partition %root
}

pattern.rule "call-of-any-sum" doc "a call of a function of anything that adds" {
  %p = pattern.any
  %q = pattern.any
  %sum = pattern.op "graph.add"(%p, %q)
  %adds = pattern.function any () returns %sum
  %root = pattern.call any to %adds ()
  pattern.partition %root
}

pattern.rule "call-of-composite" doc "a call of a function with an attribute" {
  %any = pattern.any
  %marked = pattern.function any () returns %any with {composite = "add"}
  %root = pattern.call any to %marked ()
  pattern.partition %root
}
