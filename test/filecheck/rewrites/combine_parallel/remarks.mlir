// RUN: stepwell-opt %s -p 'combine-parallel-dense{min-branches=2}' --remarks 2>&1 | filecheck %s --check-prefix=DENSE
// RUN: stepwell-opt %s -p 'combine-parallel-dense{min-branches=2 to-batch}' --remarks 2>&1 | filecheck %s --check-prefix=STACKED
// RUN: stepwell-opt %s -p 'combine-parallel-batch-matmul{min-branches=2}' --remarks 2>&1 | filecheck %s --check-prefix=BATCH

/// What stays as it is says why (AUDIT E2).

// DENSE: 'graph.matmul': 2 contractions of one value are not combined: operands of rank 2 and 1, expected a left one of at least 2 and a right one of 2
// STACKED: 'graph.matmul': 2 contractions of one value are not combined: operands of rank 2 and 1, expected a left one of at least 2 and a right one of 2
// BATCH: 'graph.matmul': 2 contractions of one value are not combined: operands of rank 2 and 1, expected batches of matrices, of rank 3
func.func @vectors(%x: tensor<2x4xf32>, %v: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = graph.matmul %x, %v : (tensor<2x4xf32>, tensor<4xf32>)
  %b = graph.matmul %x, %w : (tensor<2x4xf32>, tensor<4xf32>)
  func.return %a, %b : tensor<2xf32>, tensor<2xf32>
}

/// `combine-parallel-batch-matmul` takes these.
// DENSE: 'graph.matmul': 2 contractions of one value are not combined: operands of rank 3 and 3, expected a left one of at least 2 and a right one of 2
// STACKED: 'graph.matmul': 2 contractions of one value are not combined: with to-batch the left operand has rank 2
func.func @batches(%x: tensor<2x3x4xf32>, %v: tensor<2x4x5xf32>, %w: tensor<2x4x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>) {
  %a = graph.matmul %x, %v : (tensor<2x3x4xf32>, tensor<2x4x5xf32>)
  %b = graph.matmul %x, %w : (tensor<2x3x4xf32>, tensor<2x4x5xf32>)
  func.return %a, %b : tensor<2x3x5xf32>, tensor<2x3x5xf32>
}

// DENSE: 'graph.matmul': 2 contractions of one value are not combined: the sizes of the matrices are not known
// BATCH: 'graph.matmul': 2 contractions of one value are not combined: operands of rank 2 and 2, expected batches of matrices, of rank 3
func.func @unknown(%x: tensor<2x4xf32>, %v: tensor<4x?xf32>, %w: tensor<4x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>) {
  %a = graph.matmul %x, %v : (tensor<2x4xf32>, tensor<4x?xf32>)
  %b = graph.matmul %x, %w : (tensor<2x4xf32>, tensor<4x?xf32>)
  func.return %a, %b : tensor<2x?xf32>, tensor<2x?xf32>
}

/// Elements that are next to each other in a branch are not in the whole.
// DENSE: 'graph.reshape': stays in each of 2 branches whose contractions are combined
// STACKED: 'graph.reshape': stays in each of 2 branches whose contractions are combined
func.func @reshaped(%x: tensor<2x4xf32>, %v: tensor<4x6xf32>, %w: tensor<4x6xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %a = graph.matmul %x, %v : (tensor<2x4xf32>, tensor<4x6xf32>)
  %b = graph.matmul %x, %w : (tensor<2x4xf32>, tensor<4x6xf32>)
  %c = graph.reshape %a, shape = [3, 4] : (tensor<2x6xf32>)
  %d = graph.reshape %b, shape = [3, 4] : (tensor<2x6xf32>)
  func.return %c, %d : tensor<3x4xf32>, tensor<3x4xf32>
}
