// Two regions of a small program are meant for an external code generator called "npu". The first has two results, of
// which the program uses only the sum.

func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %sum, %difference = func.call @g0(%x, %y)
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  %rest = func.call @g1(%sum, %z) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %rest : tensor<8x8xf32>
}

func.func private @g0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    attributes {graph.primitive, graph.compiler = "npu"} {
  %0 = graph.add %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = graph.subtract %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

func.func private @g1(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32>
    attributes {graph.primitive, graph.compiler = "npu"} {
  %0 = graph.subtract %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %0 : tensor<8x8xf32>
}
