// A block of a convolutional net: convolution, batch normalisation, relu, pooling, a grouped NHWC convolution, a residual.
func.func @main(%x: tensor<1x3x10x9xf32>, %w: tensor<8x3x3x3xf32>, %stats: tensor<4x8xf32>, %wg: tensor<3x3x2x8xf32>) -> (tensor<1x8x5x4xf32>, tensor<1x5x4x8xf32>, tensor<1x8xf32>) {
  %parts:4 = graph.split %stats, sections = 4, axis = 0 : (tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>)
  %gamma = graph.squeeze %parts#0, axis = [0] : (tensor<1x8xf32>) -> tensor<8xf32>
  %beta = graph.squeeze %parts#1, axis = [0] : (tensor<1x8xf32>) -> tensor<8xf32>
  %mean = graph.squeeze %parts#2, axis = [0] : (tensor<1x8xf32>) -> tensor<8xf32>
  %spread = graph.squeeze %parts#3, axis = [0] : (tensor<1x8xf32>) -> tensor<8xf32>
  %var = graph.square %spread : (tensor<8xf32>) -> tensor<8xf32>
  %conv = graph.conv2d %x, %w, padding = [1, 1, 1, 1] : (tensor<1x3x10x9xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x10x9xf32>
  %norm:3 = graph.batch_norm %conv, %gamma, %beta, %mean, %var, epsilon = 0.01 : (tensor<1x8x10x9xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<1x8x10x9xf32>, tensor<8xf32>, tensor<8xf32>)
  %active = graph.relu %norm#0 : (tensor<1x8x10x9xf32>) -> tensor<1x8x10x9xf32>
  %pooled = graph.max_pool2d %active, pool_size = [2, 2], strides = [2, 2] : (tensor<1x8x10x9xf32>) -> tensor<1x8x5x4xf32>
  %nhwc = graph.permute_dims %pooled, axes = [0, 2, 3, 1] : (tensor<1x8x5x4xf32>) -> tensor<1x5x4x8xf32>
  %grouped = graph.conv2d %nhwc, %wg, padding = [2, 1, 0, 1], groups = 4, data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x5x4x8xf32>, tensor<3x3x2x8xf32>) -> tensor<1x5x4x8xf32>
  %sum = graph.add %grouped, %nhwc : (tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>) -> tensor<1x5x4x8xf32>
  %out = graph.leaky_relu %sum, alpha = 0.1 : (tensor<1x5x4x8xf32>) -> tensor<1x5x4x8xf32>
  %average = graph.avg_pool2d %pooled, pool_size = [5, 4] : (tensor<1x8x5x4xf32>) -> tensor<1x8x1x1xf32>
  %features = graph.reshape %average, shape = [1, -1] : (tensor<1x8x1x1xf32>) -> tensor<1x8xf32>
  func.return %pooled, %out, %features : tensor<1x8x5x4xf32>, tensor<1x5x4x8xf32>, tensor<1x8xf32>
}
