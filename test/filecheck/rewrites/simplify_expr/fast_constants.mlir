// RUN: stepwell-opt %s -p 'simplify-expr{numerics="fast"}' | filecheck %s

/// Literals are multiplied with each other.
// CHECK-LABEL: func.func @multiply_by_constants(
func.func @multiply_by_constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[L:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[V1:.*]] = graph.multiply %[[V0]], %[[L]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[V1]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<4xf32>
  %l = graph.full 0.5 : tensor<f32>
  %a = graph.multiply %x, %k : (tensor<4xf32>, tensor<4xf32>)
  %r = graph.multiply %l, %a : (tensor<f32>, tensor<4xf32>)
  func.return %r : tensor<4xf32>
}

/// And added to each other.
// CHECK-LABEL: func.func @add_of_constants(
func.func @add_of_constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[L:.*]] = graph.full 0.5 : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = graph.full 3.0 : tensor<f32>
  // CHECK-NEXT: %[[V1:.*]] = graph.add %[[V0]], %[[L]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: %[[R:.*]] = graph.add %x, %[[V1]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full 3.0 : tensor<4xf32>
  %l = graph.full 0.5 : tensor<f32>
  %a = graph.add %x, %k : (tensor<4xf32>, tensor<4xf32>)
  %r = graph.add %l, %a : (tensor<f32>, tensor<4xf32>)
  func.return %r : tensor<4xf32>
}

/// One function instead of a square root and a division.
// CHECK-LABEL: func.func @divide_by_sqrt(
func.func @divide_by_sqrt(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.rsqrt %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.multiply %x, %[[V0]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %s = graph.sqrt %y : (tensor<4xf32>)
  %r = graph.divide %x, %s : (tensor<4xf32>, tensor<4xf32>)
  func.return %r : tensor<4xf32>
}

/// The square root is needed anyway.
// CHECK-LABEL: func.func @no_shared_sqrt(
func.func @no_shared_sqrt(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[S:.*]] = graph.sqrt %y : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.divide %x, %[[S]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]], %[[S]] : tensor<4xf32>, tensor<4xf32>
  %s = graph.sqrt %y : (tensor<4xf32>)
  %r = graph.divide %x, %s : (tensor<4xf32>, tensor<4xf32>)
  func.return %r, %s : tensor<4xf32>, tensor<4xf32>
}
