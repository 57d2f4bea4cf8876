// What a machine for vectors takes: whatever is elementwise before a relu.

pattern.rule "biased-activation" doc "a bias and a relu" :
  relu(bias_add(%x, %b)) => partition {composite = "biased_activation"}

pattern.rule "activation" doc "a relu" : relu(%x) => partition {composite = "activation"}
