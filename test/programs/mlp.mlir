// A classifier of 28 x 28 images, 784-128-10, with its weights in a side-car (made by test/support/programs.py).
builtin.module attributes {stepwell.weights = "mlp.safetensors"} {
  func.func @main(%image: tensor<2x784xf32>) -> (tensor<2x10xf32>, tensor<2xi64>, tensor<2x128xf32>) {
    %w0 = graph.weight "w0" : tensor<784x128xf32>
    %b0 = graph.weight "b0" : tensor<128xf32>
    %w1 = graph.weight "w1" : tensor<10x128xf32>
    %b1 = graph.constant dense<[0.5, -0.25, 0.125, 0.0, 1.0, -1.0, 0.75, 0.0625, -0.5, 0.25]> : tensor<10xf32>
    %0 = graph.matmul %image, %w0 : (tensor<2x784xf32>, tensor<784x128xf32>) -> tensor<2x128xf32>
    %1 = graph.add %0, %b0 : (tensor<2x128xf32>, tensor<128xf32>) -> tensor<2x128xf32>
    %hidden = graph.relu %1 : (tensor<2x128xf32>) -> tensor<2x128xf32>
    %w1t = graph.permute_dims %w1, axes = [1, 0] : (tensor<10x128xf32>) -> tensor<128x10xf32>
    %2 = graph.matmul %hidden, %w1t : (tensor<2x128xf32>, tensor<128x10xf32>) -> tensor<2x10xf32>
    %3 = graph.add %2, %b1 : (tensor<2x10xf32>, tensor<10xf32>) -> tensor<2x10xf32>
    %scores = graph.softmax %3, axis = -1 : (tensor<2x10xf32>) -> tensor<2x10xf32>
    %class = graph.argmax %3, axis = 1 : (tensor<2x10xf32>) -> tensor<2xi64>
    func.return %scores, %class, %hidden : tensor<2x10xf32>, tensor<2xi64>, tensor<2x128xf32>
  }
}
