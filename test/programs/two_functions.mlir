// Private functions called from a public one, one of them twice; a branch and a loop on tensors around calls.
func.func private @dense(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.tanh %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %1 : tensor<4x4xf32>
}

func.func private @split_sign(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = graph.relu %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.subtract %x, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %repeat: tensor<i64>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = tensor.extract %repeat[] : tensor<i64>
  %steps = arith.index_cast %count : i64 to index
  %deep = scf.for %i = %zero to %steps step %one iter_args(%state = %x) -> (tensor<4x4xf32>) {
    %next = func.call @dense(%state, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %next : tensor<4x4xf32>
  }
  %once = func.call @dense(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %signs:2 = func.call @split_sign(%once) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %limit = arith.constant 2 : i64
  %few = arith.cmpi slt, %count, %limit : i64
  %chosen = scf.if %few -> (tensor<4x4xf32>) {
    scf.yield %signs#0 : tensor<4x4xf32>
  } else {
    %sum = graph.add %signs#1, %deep : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %sum : tensor<4x4xf32>
  }
  %rows = graph.sum %chosen, axis = [1] : (tensor<4x4xf32>) -> tensor<4xf32>
  func.return %deep, %chosen, %rows : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
}
