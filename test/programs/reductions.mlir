// Reductions of every kind over one, several and all axes, with and without keepdims.
func.func @main(%x: tensor<3x5x7xf32>, %b: tensor<3x5xi1>, %n: tensor<4x6xi16>) -> (tensor<3x7xf32>, tensor<1x5x1xf32>, tensor<f32>, tensor<3x5x1xf32>, tensor<5xi64>, tensor<i64>, tensor<3xi1>, tensor<i1>, tensor<6xi16>, tensor<4x1xi16>, tensor<3x5x7xf32>, tensor<3x1x7xf32>) {
  %sum = graph.sum %x, axis = [1] : (tensor<3x5x7xf32>) -> tensor<3x7xf32>
  %mean = graph.mean %x, axis = [0, -1], keepdims = true : (tensor<3x5x7xf32>) -> tensor<1x5x1xf32>
  %total = graph.sum %x : (tensor<3x5x7xf32>) -> tensor<f32>
  %max = graph.max %x, axis = [-1], keepdims = true : (tensor<3x5x7xf32>) -> tensor<3x5x1xf32>
  %row = graph.min %x, axis = [0, 2] : (tensor<3x5x7xf32>) -> tensor<5xf32>
  %matrix = graph.max %x, axis = [2] : (tensor<3x5x7xf32>) -> tensor<3x5xf32>
  %shifted = graph.subtract %matrix, %row : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  %best = graph.argmax %shifted, axis = 0 : (tensor<3x5xf32>) -> tensor<5xi64>
  %worst = graph.argmin %x : (tensor<3x5x7xf32>) -> tensor<i64>
  %any = graph.any %b, axis = [1] : (tensor<3x5xi1>) -> tensor<3xi1>
  %all = graph.all %b : (tensor<3x5xi1>) -> tensor<i1>
  %wrapped = graph.prod %n, axis = [0] : (tensor<4x6xi16>) -> tensor<6xi16>
  %low = graph.min %n, axis = [-1], keepdims = true : (tensor<4x6xi16>) -> tensor<4x1xi16>
  %exp = graph.subtract %x, %max : (tensor<3x5x7xf32>, tensor<3x5x1xf32>) -> tensor<3x5x7xf32>
  %soft = graph.log_softmax %exp, axis = 1 : (tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  %centered = graph.subtract %x, %mean : (tensor<3x5x7xf32>, tensor<1x5x1xf32>) -> tensor<3x5x7xf32>
  %squares = graph.square %centered : (tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  %variance = graph.sum %squares, axis = [1], keepdims = true : (tensor<3x5x7xf32>) -> tensor<3x1x7xf32>
  func.return %sum, %mean, %total, %max, %best, %worst, %any, %all, %wrapped, %low, %soft, %variance : tensor<3x7xf32>, tensor<1x5x1xf32>, tensor<f32>, tensor<3x5x1xf32>, tensor<5xi64>, tensor<i64>, tensor<3xi1>, tensor<i1>, tensor<6xi16>, tensor<4x1xi16>, tensor<3x5x7xf32>, tensor<3x1x7xf32>
}
