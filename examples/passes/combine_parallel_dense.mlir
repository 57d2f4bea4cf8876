// RUN: stepwell-opt %s -p 'combine-parallel-dense{to-batch}' | filecheck %s

/// Query, key and value of one input: one batch of three products.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<4x8xf32>, %q: tensor<8x8xf32>, %k: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.expand_dims %q, axis = [0] : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.expand_dims %k, axis = [0] : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.expand_dims %v, axis = [0] : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.concat %[[V0]], %[[V1]], %[[V2]] : (tensor<1x8x8xf32>, tensor<1x8x8xf32>, tensor<1x8x8xf32>) -> tensor<3x8x8xf32>
  // CHECK-NEXT: %[[V4:.*]] = graph.matmul %x, %[[V3]] : (tensor<4x8xf32>, tensor<3x8x8xf32>) -> tensor<3x4x8xf32>
  // CHECK-NEXT: %[[V5:.*]], %[[V6:.*]], %[[V7:.*]] = graph.split %[[V4]], sections = 3 : (tensor<3x4x8xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>)
  // CHECK-NEXT: %[[A:.*]] = graph.squeeze %[[V5]], axis = [0] : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.squeeze %[[V6]], axis = [0] : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.squeeze %[[V7]], axis = [0] : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: func.return %[[A]], %[[B]], %[[C]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  %a = graph.matmul %x, %q : (tensor<4x8xf32>, tensor<8x8xf32>)
  %b = graph.matmul %x, %k : (tensor<4x8xf32>, tensor<8x8xf32>)
  %c = graph.matmul %x, %v : (tensor<4x8xf32>, tensor<8x8xf32>)
  func.return %a, %b, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
