// A batch of unknown size.
func.func @main(%x: tensor<?x8xf32>, %w: tensor<8x5xf32>, %i: tensor<?xi64>) -> (tensor<?x5xf32>, tensor<8xf32>, tensor<?x8xf32>) {
  %0 = graph.matmul %x, %w : (tensor<?x8xf32>, tensor<8x5xf32>) -> tensor<?x5xf32>
  %one = graph.full 1.0 : tensor<5xf32>
  %1 = graph.add %0, %one : (tensor<?x5xf32>, tensor<5xf32>) -> tensor<?x5xf32>
  %2 = graph.sigmoid %1 : (tensor<?x5xf32>) -> tensor<?x5xf32>
  %3 = graph.mean %x, axis = [0] : (tensor<?x8xf32>) -> tensor<8xf32>
  %4 = graph.take %x, %i, axis = 0 : (tensor<?x8xf32>, tensor<?xi64>) -> tensor<?x8xf32>
  %5 = graph.multiply %4, %3 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  func.return %2, %3, %5 : tensor<?x5xf32>, tensor<8xf32>, tensor<?x8xf32>
}
