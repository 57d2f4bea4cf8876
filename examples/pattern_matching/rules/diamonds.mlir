pattern.rule "diamond" doc "one convolution, two activations of it, their sum" :
  relu(conv2d(argument, argument) as %conv) + leaky_relu(%conv) => partition {composite = "diamond"}

pattern.rule "elementwise-tail" doc "a convolution, whatever is elementwise, and the sum that all of it leads to" :
  pattern.dominates(conv2d(argument, argument) as %conv, %a + %b, _ has kind "elementwise")
    => partition {composite = "conv_elementwise"}
