// RUN: stepwell-opt %s -p 'combine-parallel-dense' | filecheck %s

/// Matrices of several widths, and their biases.
// CHECK-LABEL: func.func @three_branches(
func.func @three_branches(%x: tensor<2x4xf32>, %w0: tensor<4x3xf32>, %w1: tensor<4x5xf32>, %w2: tensor<4x1xf32>, %b0: tensor<3xf32>, %b1: tensor<5xf32>, %b2: tensor<1xf32>) -> (tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x1xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.concat %w0, %w1, %w2, axis = 1 : (tensor<4x3xf32>, tensor<4x5xf32>, tensor<4x1xf32>) -> tensor<4x9xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.matmul %x, %[[V0]] : (tensor<2x4xf32>, tensor<4x9xf32>) -> tensor<2x9xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.concat %b0, %b1, %b2 : (tensor<3xf32>, tensor<5xf32>, tensor<1xf32>) -> tensor<9xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.add %[[V1]], %[[V2]] : (tensor<2x9xf32>, tensor<9xf32>) -> tensor<2x9xf32>
  // CHECK-NEXT: %[[A1:.*]] = graph.strided_slice %[[V3]], axes = [1], begin = [0], end = [3] : (tensor<2x9xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[B1_:.*]] = graph.strided_slice %[[V3]], axes = [1], begin = [3], end = [8] : (tensor<2x9xf32>) -> tensor<2x5xf32>
  // CHECK-NEXT: %[[C1:.*]] = graph.strided_slice %[[V3]], axes = [1], begin = [8], end = [9] : (tensor<2x9xf32>) -> tensor<2x1xf32>
  // CHECK-NEXT: func.return %[[A1]], %[[B1_]], %[[C1]] : tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x1xf32>
  %a = graph.matmul %x, %w0 : (tensor<2x4xf32>, tensor<4x3xf32>)
  %b = graph.matmul %x, %w1 : (tensor<2x4xf32>, tensor<4x5xf32>)
  %c = graph.matmul %x, %w2 : (tensor<2x4xf32>, tensor<4x1xf32>)
  %a1 = graph.add %a, %b0 : (tensor<2x3xf32>, tensor<3xf32>)
  %b1_ = graph.add %b, %b1 : (tensor<2x5xf32>, tensor<5xf32>)
  %c1 = graph.add %c, %b2 : (tensor<2x1xf32>, tensor<1xf32>)
  func.return %a1, %b1_, %c1 : tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x1xf32>
}

/// Query, key and value of a batch of any size.
// CHECK-LABEL: func.func @of_rank_3(
func.func @of_rank_3(%x: tensor<?x2x4xf32>, %q: tensor<4x4xf32>, %k: tensor<4x4xf32>, %v: tensor<4x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.concat %q, %k, %v, axis = 1 : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x12xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.matmul %x, %[[V0]] : (tensor<?x2x4xf32>, tensor<4x12xf32>) -> tensor<?x2x12xf32>
  // CHECK-NEXT: %[[A:.*]] = graph.strided_slice %[[V1]], axes = [2], begin = [0], end = [4] : (tensor<?x2x12xf32>) -> tensor<?x2x4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.strided_slice %[[V1]], axes = [2], begin = [4], end = [8] : (tensor<?x2x12xf32>) -> tensor<?x2x4xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.strided_slice %[[V1]], axes = [2], begin = [8], end = [12] : (tensor<?x2x12xf32>) -> tensor<?x2x4xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]] : tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>
  %a = graph.matmul %x, %q : (tensor<?x2x4xf32>, tensor<4x4xf32>)
  %b = graph.matmul %x, %k : (tensor<?x2x4xf32>, tensor<4x4xf32>)
  %c = graph.matmul %x, %v : (tensor<?x2x4xf32>, tensor<4x4xf32>)
  func.return %a, %b, %c : tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>
}

/// A common right side is something else, as is another type of the result.
// CHECK-LABEL: func.func @no_common_left_side(
func.func @no_common_left_side(%x: tensor<4x4xf16>, %w0: tensor<4x4xf16>, %w1: tensor<4x4xf16>) -> (tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf32>, tensor<4x4xf16>) {
  // CHECK-NEXT: %[[A:.*]] = graph.matmul %w0, %x : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  // CHECK-NEXT: %[[B:.*]] = graph.matmul %w1, %x : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  // CHECK-NEXT: %[[C:.*]] = graph.matmul %x, %w0, out_dtype = f32 : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[D:.*]] = graph.matmul %x, %w0 : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  // CHECK-NEXT: %[[E:.*]] = graph.matmul %x, %w1 : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  // CHECK-NEXT: %[[F:.*]] = graph.add %[[D]], %[[E]] : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  // CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]], %[[F]] : tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf32>, tensor<4x4xf16>
  %a = graph.matmul %w0, %x : (tensor<4x4xf16>, tensor<4x4xf16>)
  %b = graph.matmul %w1, %x : (tensor<4x4xf16>, tensor<4x4xf16>)
  %c = graph.matmul %x, %w0, out_dtype = f32 : (tensor<4x4xf16>, tensor<4x4xf16>)
  %d = graph.matmul %x, %w0 : (tensor<4x4xf16>, tensor<4x4xf16>)
  %e = graph.matmul %x, %w1 : (tensor<4x4xf16>, tensor<4x4xf16>)
  %f = graph.add %d, %e : (tensor<4x4xf16>, tensor<4x4xf16>)
  func.return %a, %b, %c, %f : tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf32>, tensor<4x4xf16>
}

/// What the matrices are made of moves before the first product.
// CHECK-LABEL: func.func @transposed_matrices(
func.func @transposed_matrices(%x: tensor<2x4xf32>, %w0: tensor<3x4xf32>, %w1: tensor<3x4xf32>, %w2: tensor<3x4xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: %[[T0:.*]] = graph.permute_dims %w0 : (tensor<3x4xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: %[[N1:.*]] = graph.negative %w1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: %[[T1:.*]] = graph.permute_dims %[[N1]] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: %[[T2:.*]] = graph.permute_dims %w2 : (tensor<3x4xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: %[[V0:.*]] = graph.concat %[[T0]], %[[T1]], %[[T2]], axis = 1 : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x9xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.matmul %x, %[[V0]] : (tensor<2x4xf32>, tensor<4x9xf32>) -> tensor<2x9xf32>
  // CHECK-NEXT: %[[A:.*]] = graph.strided_slice %[[V1]], axes = [1], begin = [0], end = [3] : (tensor<2x9xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.strided_slice %[[V1]], axes = [1], begin = [3], end = [6] : (tensor<2x9xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.strided_slice %[[V1]], axes = [1], begin = [6], end = [9] : (tensor<2x9xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]] : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  %t0 = graph.permute_dims %w0 : (tensor<3x4xf32>)
  %a = graph.matmul %x, %t0 : (tensor<2x4xf32>, tensor<4x3xf32>)
  %n1 = graph.negative %w1 : (tensor<3x4xf32>)
  %t1 = graph.permute_dims %n1 : (tensor<3x4xf32>)
  %b = graph.matmul %x, %t1 : (tensor<2x4xf32>, tensor<4x3xf32>)
  %t2 = graph.permute_dims %w2 : (tensor<3x4xf32>)
  %c = graph.matmul %x, %t2 : (tensor<2x4xf32>, tensor<4x3xf32>)
  func.return %a, %b, %c : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

/// A matrix made of what another branch gives.
// CHECK-LABEL: func.func @no_dependent_matrix(
func.func @no_dependent_matrix(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[P:.*]] = graph.permute_dims %[[A]] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.matmul %x, %[[P]] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[Q:.*]] = graph.relu %[[B]] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.matmul %x, %[[Q]] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: func.return %[[B]], %[[C]] : tensor<4x4xf32>, tensor<4x4xf32>
  %a = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>)
  %p = graph.permute_dims %a : (tensor<4x4xf32>)
  %b = graph.matmul %x, %p : (tensor<4x4xf32>, tensor<4x4xf32>)
  %q = graph.relu %b : (tensor<4x4xf32>)
  %c = graph.matmul %x, %q : (tensor<4x4xf32>, tensor<4x4xf32>)
  func.return %b, %c : tensor<4x4xf32>, tensor<4x4xf32>
}
