// RUN: stepwell-opt %s -p 'combine-parallel-dense{to-batch}' | filecheck %s

/// Matrices of one shape become a batch.
// CHECK-LABEL: func.func @three_branches(
func.func @three_branches(%x: tensor<2x4xf32>, %w0: tensor<4x3xf32>, %w1: tensor<4x3xf32>, %w2: tensor<4x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.expand_dims %w0, axis = [0] : (tensor<4x3xf32>) -> tensor<1x4x3xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.expand_dims %w1, axis = [0] : (tensor<4x3xf32>) -> tensor<1x4x3xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.expand_dims %w2, axis = [0] : (tensor<4x3xf32>) -> tensor<1x4x3xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.concat %[[V0]], %[[V1]], %[[V2]] : (tensor<1x4x3xf32>, tensor<1x4x3xf32>, tensor<1x4x3xf32>) -> tensor<3x4x3xf32>
  // CHECK-NEXT: %[[V4:.*]] = graph.matmul %x, %[[V3]] : (tensor<2x4xf32>, tensor<3x4x3xf32>) -> tensor<3x2x3xf32>
  // CHECK-NEXT: %[[V5:.*]], %[[V6:.*]], %[[V7:.*]] = graph.split %[[V4]], sections = 3 : (tensor<3x2x3xf32>) -> (tensor<1x2x3xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>)
  // CHECK-NEXT: %[[A:.*]] = graph.squeeze %[[V5]], axis = [0] : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.squeeze %[[V6]], axis = [0] : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.squeeze %[[V7]], axis = [0] : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]] : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  %a = graph.matmul %x, %w0 : (tensor<2x4xf32>, tensor<4x3xf32>)
  %b = graph.matmul %x, %w1 : (tensor<2x4xf32>, tensor<4x3xf32>)
  %c = graph.matmul %x, %w2 : (tensor<2x4xf32>, tensor<4x3xf32>)
  func.return %a, %b, %c : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

/// Matrices of several shapes do not.
// CHECK-LABEL: func.func @no_unequal_shapes(
func.func @no_unequal_shapes(%x: tensor<2x4xf32>, %w0: tensor<4x3xf32>, %w1: tensor<4x5xf32>, %w2: tensor<4x1xf32>) -> (tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x1xf32>) {
  // CHECK-NEXT: %[[A:.*]] = graph.matmul %x, %w0 : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.matmul %x, %w1 : (tensor<2x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.matmul %x, %w2 : (tensor<2x4xf32>, tensor<4x1xf32>) -> tensor<2x1xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]] : tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x1xf32>
  %a = graph.matmul %x, %w0 : (tensor<2x4xf32>, tensor<4x3xf32>)
  %b = graph.matmul %x, %w1 : (tensor<2x4xf32>, tensor<4x5xf32>)
  %c = graph.matmul %x, %w2 : (tensor<2x4xf32>, tensor<4x1xf32>)
  func.return %a, %b, %c : tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x1xf32>
}

/// What follows in every branch is applied to the batch. Operands of one shape are stacked too, one that all branches
/// share stays as it is.
// CHECK-LABEL: func.func @tails(
func.func @tails(%x: tensor<2x4xf32>, %w0: tensor<4x3xf32>, %w1: tensor<4x3xf32>, %w2: tensor<4x3xf32>, %b0: tensor<3xf32>, %b1: tensor<3xf32>, %b2: tensor<3xf32>, %k: tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK: %[[P:.*]] = graph.matmul %x, %{{.*}} : (tensor<2x4xf32>, tensor<3x4x3xf32>) -> tensor<3x2x3xf32>
  // CHECK-NEXT: %[[B0:.*]] = graph.expand_dims %b0, axis = [0, 1] : (tensor<3xf32>) -> tensor<1x1x3xf32>
  // CHECK-NEXT: %[[B1:.*]] = graph.expand_dims %b1, axis = [0, 1] : (tensor<3xf32>) -> tensor<1x1x3xf32>
  // CHECK-NEXT: %[[B2:.*]] = graph.expand_dims %b2, axis = [0, 1] : (tensor<3xf32>) -> tensor<1x1x3xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.concat %[[B0]], %[[B1]], %[[B2]] : (tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<3x1x3xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.add %[[P]], %[[B]] : (tensor<3x2x3xf32>, tensor<3x1x3xf32>) -> tensor<3x2x3xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.relu %[[S]] : (tensor<3x2x3xf32>) -> tensor<3x2x3xf32>
  // CHECK-NEXT: %[[M:.*]] = graph.multiply %[[R]], %k : (tensor<3x2x3xf32>, tensor<f32>) -> tensor<3x2x3xf32>
  // CHECK-NEXT: %{{.*}}, %{{.*}}, %{{.*}} = graph.split %[[M]], sections = 3
  // CHECK-COUNT-3: graph.squeeze
  // CHECK-NEXT: func.return
  %p0 = graph.matmul %x, %w0 : (tensor<2x4xf32>, tensor<4x3xf32>)
  %s0 = graph.add %p0, %b0 : (tensor<2x3xf32>, tensor<3xf32>)
  %r0 = graph.relu %s0 : (tensor<2x3xf32>)
  %m0 = graph.multiply %r0, %k : (tensor<2x3xf32>, tensor<f32>)
  %p1 = graph.matmul %x, %w1 : (tensor<2x4xf32>, tensor<4x3xf32>)
  %s1 = graph.add %b1, %p1 : (tensor<3xf32>, tensor<2x3xf32>)
  %r1 = graph.relu %s1 : (tensor<2x3xf32>)
  %m1 = graph.multiply %r1, %k : (tensor<2x3xf32>, tensor<f32>)
  %p2 = graph.matmul %x, %w2 : (tensor<2x4xf32>, tensor<4x3xf32>)
  %s2 = graph.add %p2, %b2 : (tensor<2x3xf32>, tensor<3xf32>)
  %r2 = graph.relu %s2 : (tensor<2x3xf32>)
  %m2 = graph.multiply %k, %r2 : (tensor<f32>, tensor<2x3xf32>)
  func.return %m0, %m1, %m2 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}
