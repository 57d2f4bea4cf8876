// What a machine for convolutions takes, the largest first.

pattern.rule "conv-bias-relu" doc "a convolution of one image, a bias, perhaps a relu" :
  relu?(bias_add(conv2d(%x, %w, data_layout = "NCHW"), %b)) has shape [1, ?, ?, ?] => partition {composite = "one_layer"}
