// The patterns of match.py as text, each for `partition-pattern`.

pattern.rule "one-of-two" doc "an addition or a subtraction" : [add, subtract](%x, %y) => partition
pattern.rule "layout" doc "a convolution in NHWC" : conv2d(%x, %w, data_layout = "NHWC") => partition
pattern.rule "kernel" doc "a convolution by a 1 x 1 kernel" : conv2d(%x, %w has shape [?, ?, 1, 1]) => partition

pattern.rule "kind" doc "a matmul is not elementwise, an addition is" :
  [matmul, divide, multiply](%x, %y) has kind "elementwise" => partition

pattern.rule "perhaps-relu" doc "a convolution, a bias, and a relu where there is one" :
  relu?(bias_add(conv2d(%x, %w), %b)) => partition

pattern.rule "shape-of-result" doc "a convolution and a relu of one shape" :
  relu(conv2d(%x, %w)) has shape [1, 32, 28, 28] => partition

pattern.rule "type-of-elements" doc "integers added" : %x + %y has dtype i32 => partition
pattern.rule "three-parts" doc "three parts joined" : concat(%x, %y, %z) => partition
pattern.rule "all-parts" doc "any number of parts joined" : concat(%parts...) => partition
pattern.rule "first-result" doc "a relu of the first result of a batch_norm" :
  relu(batch_norm(%x, %gamma, %beta, %mean, %var)#0) => partition

pattern.rule "known-weights" doc "weights that are known" : bias_add(conv2d(%x, constant), %b) => partition
pattern.rule "zero" doc "an addition of zero, of any shape and type" : %x + 0.0 => partition

// Branches, functions and calls have no equation.

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
