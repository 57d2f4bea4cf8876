// Weights by reference in a side-car, in several element types, some of them transformed before use.
builtin.module attributes {stepwell.weights = "weights.safetensors"} {
  func.func @main(%ids: tensor<5xi32>, %x: tensor<5x16xf32>) -> (tensor<5x16xf32>, tensor<5x48xf32>, tensor<5xi8>) {
    %table = graph.weight "embedding" : tensor<20x16xf16>
    %kernel = graph.weight "kernel" : tensor<48x16xf32>
    %bias = graph.weight "bias" : tensor<48xbf16>
    %lookup = graph.weight "codes" : tensor<20xi8>
    %rows = graph.take %table, %ids, axis = 0 : (tensor<20x16xf16>, tensor<5xi32>) -> tensor<5x16xf16>
    %rows32 = graph.astype %rows, dtype = f32 : (tensor<5x16xf16>) -> tensor<5x16xf32>
    %sum = graph.add %rows32, %x : (tensor<5x16xf32>, tensor<5x16xf32>) -> tensor<5x16xf32>
    %half = graph.full 0.5 : tensor<f32>
    %scaled = graph.multiply %kernel, %half : (tensor<48x16xf32>, tensor<f32>) -> tensor<48x16xf32>
    %transposed = graph.permute_dims %scaled, axes = [1, 0] : (tensor<48x16xf32>) -> tensor<16x48xf32>
    %product = graph.matmul %sum, %transposed : (tensor<5x16xf32>, tensor<16x48xf32>) -> tensor<5x48xf32>
    %bias32 = graph.astype %bias, dtype = f32 : (tensor<48xbf16>) -> tensor<48xf32>
    %biased = graph.add %product, %bias32 : (tensor<5x48xf32>, tensor<48xf32>) -> tensor<5x48xf32>
    %out = graph.exp %biased : (tensor<5x48xf32>) -> tensor<5x48xf32>
    %codes = graph.take %lookup, %ids, axis = 0 : (tensor<20xi8>, tensor<5xi32>) -> tensor<5xi8>
    func.return %sum, %out, %codes : tensor<5x16xf32>, tensor<5x48xf32>, tensor<5xi8>
  }
}
