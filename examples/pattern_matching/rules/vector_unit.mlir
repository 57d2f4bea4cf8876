// What a machine for vectors takes: whatever is elementwise before a relu.

pattern.rule "biased-activation" doc "a bias and a relu" {
  %x = pattern.any
  %b = pattern.any
  %biased = pattern.op "graph.bias_add"(%x, %b)
  %active = pattern.op "graph.relu"(%biased)
  pattern.partition %active with {composite = "biased_activation"}
}

pattern.rule "activation" doc "a relu" {
  %x = pattern.any
  %active = pattern.op "graph.relu"(%x)
  pattern.partition %active with {composite = "activation"}
}
