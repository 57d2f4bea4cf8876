// Self-attention with two heads over six tokens, a mask, layer normalisation and a gelu layer.
func.func @main(%x: tensor<6x8xf32>, %wqkv: tensor<8x24xf32>, %wo: tensor<8x8xf32>, %mask: tensor<6x6xi1>, %norm: tensor<2x8xf32>) -> (tensor<6x8xf32>, tensor<2x6x6xf32>) {
  %qkv = graph.matmul %x, %wqkv : (tensor<6x8xf32>, tensor<8x24xf32>) -> tensor<6x24xf32>
  %q:3 = graph.split %qkv, sections = 3, axis = -1 : (tensor<6x24xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>)
  %q0 = graph.reshape %q#0, shape = [6, 2, 4] : (tensor<6x8xf32>) -> tensor<6x2x4xf32>
  %k0 = graph.reshape %q#1, shape = [6, 2, 4] : (tensor<6x8xf32>) -> tensor<6x2x4xf32>
  %v0 = graph.reshape %q#2, shape = [6, 2, 4] : (tensor<6x8xf32>) -> tensor<6x2x4xf32>
  %q1 = graph.permute_dims %q0, axes = [1, 0, 2] : (tensor<6x2x4xf32>) -> tensor<2x6x4xf32>
  %k1 = graph.permute_dims %k0, axes = [1, 2, 0] : (tensor<6x2x4xf32>) -> tensor<2x4x6xf32>
  %v1 = graph.permute_dims %v0, axes = [1, 0, 2] : (tensor<6x2x4xf32>) -> tensor<2x6x4xf32>
  %scale = graph.full 0.5 : tensor<f32>
  %scaled = graph.multiply %q1, %scale : (tensor<2x6x4xf32>, tensor<f32>) -> tensor<2x6x4xf32>
  %scores = graph.matmul %scaled, %k1 : (tensor<2x6x4xf32>, tensor<2x4x6xf32>) -> tensor<2x6x6xf32>
  %low = graph.full -1.0e+09 : tensor<f32>
  %masked = graph.where %mask, %scores, %low : (tensor<6x6xi1>, tensor<2x6x6xf32>, tensor<f32>) -> tensor<2x6x6xf32>
  %weights = graph.softmax %masked, axis = -1 : (tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %mixed = graph.matmul %weights, %v1 : (tensor<2x6x6xf32>, tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  %back = graph.permute_dims %mixed, axes = [1, 0, 2] : (tensor<2x6x4xf32>) -> tensor<6x2x4xf32>
  %joined = graph.reshape %back, shape = [6, 8] : (tensor<6x2x4xf32>) -> tensor<6x8xf32>
  %projected = graph.matmul %joined, %wo : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %residual = graph.add %projected, %x : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %first = graph.strided_slice %norm, axes = [0], begin = [0], end = [1] : (tensor<2x8xf32>) -> tensor<1x8xf32>
  %second = graph.strided_slice %norm, axes = [0], begin = [-1], end = [2] : (tensor<2x8xf32>) -> tensor<1x8xf32>
  %gamma = graph.squeeze %first : (tensor<1x8xf32>) -> tensor<8xf32>
  %beta = graph.squeeze %second : (tensor<1x8xf32>) -> tensor<8xf32>
  %normal = graph.layer_norm %residual, %gamma, %beta : (tensor<6x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<6x8xf32>
  %out = graph.gelu %normal, approximate = "tanh" : (tensor<6x8xf32>) -> tensor<6x8xf32>
  func.return %out, %weights : tensor<6x8xf32>, tensor<2x6x6xf32>
}
