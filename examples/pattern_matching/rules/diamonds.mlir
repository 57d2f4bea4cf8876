pattern.rule "diamond" doc "one convolution, two activations of it, their sum" {
  %x = pattern.argument
  %w = pattern.argument
  %conv = pattern.op "graph.conv2d"(%x, %w)
  %left = pattern.op "graph.relu"(%conv)
  %right = pattern.op "graph.leaky_relu"(%conv)
  %sum = pattern.op "graph.add"(%left, %right)
  pattern.partition %sum with {composite = "diamond"}
}

pattern.rule "elementwise-tail" doc "a convolution, whatever is elementwise, and the sum that all of it leads to" {
  %x = pattern.argument
  %w = pattern.argument
  %conv = pattern.op "graph.conv2d"(%x, %w)
  %any = pattern.any
  %between = pattern.has_kind %any, "elementwise"
  %a = pattern.any
  %b = pattern.any
  %sum = pattern.op "graph.add"(%a, %b)
  %all = pattern.dominates %conv by %sum over %between
  pattern.partition %all with {composite = "conv_elementwise"}
}
