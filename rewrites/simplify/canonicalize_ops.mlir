// Ops that are short for others, written as those, so that every rule about `add` is one about `bias_add`.

pattern.rule "bias-add-to-add" doc "bias_add is an add of the bias with dimensions after it" {
  %x = pattern.any
  %bias = pattern.any
  %root = pattern.op "graph.bias_add"(%x, %bias)
  pattern.rewrite %root {
    %v = pattern.build "bias-add-arithmetic"(%root)
    pattern.yield %v
  }
}
