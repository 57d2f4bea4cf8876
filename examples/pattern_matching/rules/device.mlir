// What a machine for convolutions takes, the largest first.

pattern.rule "conv-bias-relu" doc "a convolution of one image, a bias, perhaps a relu" {
  %x = pattern.any
  %w = pattern.any
  %b = pattern.any
  %conv = pattern.op "graph.conv2d"(%x, %w) with {data_layout = "NCHW"}
  %biased = pattern.op "graph.bias_add"(%conv, %b)
  %active = pattern.op "graph.relu"(%biased)
  %layer = pattern.or %active, %biased
  %one = pattern.has_shape %layer, [1, ?, ?, ?]
  pattern.partition %one with {composite = "one_layer"}
}
