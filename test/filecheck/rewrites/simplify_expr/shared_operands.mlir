// RUN: stepwell-opt %s -p simplify-expr | filecheck %s

/// What is needed anyway stays as it is, and so does what is computed from it.

// CHECK-LABEL: func.func @no_sum_of_shared_sum(
// CHECK-NEXT: %[[A:.*]] = graph.sum %x, axis = [0]
// CHECK-NEXT: %[[R:.*]] = graph.sum %[[A]] :
// CHECK-NEXT: %[[B:.*]] = graph.sum %y, axis = [0]
// CHECK-NEXT: %[[S:.*]] = graph.sum %[[B]] :
// CHECK-NEXT: func.return %[[A]], %[[R]], %[[B]], %[[S]]
func.func @no_sum_of_shared_sum(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) -> (tensor<3xf32>, tensor<f32>, tensor<3xi32>, tensor<i32>) {
  %a = graph.sum %x, axis = [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  %r = graph.sum %a : (tensor<3xf32>) -> tensor<f32>
  %b = graph.sum %y, axis = [0] : (tensor<2x3xi32>) -> tensor<3xi32>
  %s = graph.sum %b : (tensor<3xi32>) -> tensor<i32>
  func.return %a, %r, %b, %s : tensor<3xf32>, tensor<f32>, tensor<3xi32>, tensor<i32>
}

// CHECK-LABEL: func.func @no_all_of_shared_nots(
// CHECK-NEXT: %[[A:.*]] = graph.logical_not %x
// CHECK-NEXT: %[[R:.*]] = graph.all %[[A]], axis = [1]
// CHECK-NEXT: func.return %[[R]], %[[A]]
func.func @no_all_of_shared_nots(%x: tensor<2x3xi1>) -> (tensor<2xi1>, tensor<2x3xi1>) {
  %a = graph.logical_not %x : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %r = graph.all %a, axis = [1] : (tensor<2x3xi1>) -> tensor<2xi1>
  func.return %r, %a : tensor<2xi1>, tensor<2x3xi1>
}

// CHECK-LABEL: func.func @no_mean_of_shared_sum(
// CHECK: %[[S:.*]] = graph.sum %x, axis = [1]
// CHECK-NOT: graph.mean
// CHECK: func.return %{{.*}}, %[[S]]
func.func @no_mean_of_shared_sum(%x: tensor<2x4xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %n = graph.full 4.0 : tensor<f32>
  %s = graph.sum %x, axis = [1] : (tensor<2x4xf32>) -> tensor<2xf32>
  %r = graph.divide %s, %n : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.return %r, %s : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @no_concat_of_shared_second(
// CHECK-NEXT: %[[A:.*]] = graph.concat %y, %z
// CHECK-NEXT: %[[R:.*]] = graph.concat %x, %[[A]]
// CHECK-NEXT: func.return %[[R]], %[[A]]
func.func @no_concat_of_shared_second(%x: tensor<2xf32>, %y: tensor<3xf32>, %z: tensor<4xf32>) -> (tensor<9xf32>, tensor<7xf32>) {
  %a = graph.concat %y, %z, axis = 0 : (tensor<3xf32>, tensor<4xf32>) -> tensor<7xf32>
  %r = graph.concat %x, %a, axis = 0 : (tensor<2xf32>, tensor<7xf32>) -> tensor<9xf32>
  func.return %r, %a : tensor<9xf32>, tensor<7xf32>
}

// CHECK-LABEL: func.func @no_reshape_around_function_of_shared(
// CHECK-NEXT: %[[A:.*]] = graph.reshape %x, shape = [6]
// CHECK-NEXT: %[[B:.*]] = graph.exp %[[A]]
// CHECK-NEXT: %[[R:.*]] = graph.reshape %[[B]], shape = [3, 2]
// CHECK-NEXT: func.return %[[R]], %[[A]]
func.func @no_reshape_around_function_of_shared(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<6xf32>) {
  %a = graph.reshape %x, shape = [6] : (tensor<2x3xf32>) -> tensor<6xf32>
  %b = graph.exp %a : (tensor<6xf32>) -> tensor<6xf32>
  %r = graph.reshape %b, shape = [3, 2] : (tensor<6xf32>) -> tensor<3x2xf32>
  func.return %r, %a : tensor<3x2xf32>, tensor<6xf32>
}

// CHECK-LABEL: func.func @no_transposed_shared_product_left(
// CHECK-NEXT: %[[A:.*]] = graph.permute_dims %x
// CHECK-NEXT: %[[P:.*]] = graph.matmul %[[A]], %y
// CHECK-NEXT: %[[R:.*]] = graph.permute_dims %[[P]]
// CHECK-NEXT: func.return %[[R]], %[[P]]
func.func @no_transposed_shared_product_left(%x: tensor<3x2xf32>, %y: tensor<3x4xf32>) -> (tensor<4x2xf32>, tensor<2x4xf32>) {
  %a = graph.permute_dims %x : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %p = graph.matmul %a, %y : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %r = graph.permute_dims %p : (tensor<2x4xf32>) -> tensor<4x2xf32>
  func.return %r, %p : tensor<4x2xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func.func @no_transposed_product_of_shared_left(
// CHECK-NEXT: %[[A:.*]] = graph.permute_dims %x
// CHECK-NEXT: %[[P:.*]] = graph.matmul %[[A]], %y
// CHECK-NEXT: %[[R:.*]] = graph.permute_dims %[[P]]
// CHECK-NEXT: func.return %[[R]], %[[A]]
func.func @no_transposed_product_of_shared_left(%x: tensor<3x2xf32>, %y: tensor<3x4xf32>) -> (tensor<4x2xf32>, tensor<2x3xf32>) {
  %a = graph.permute_dims %x : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %p = graph.matmul %a, %y : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %r = graph.permute_dims %p : (tensor<2x4xf32>) -> tensor<4x2xf32>
  func.return %r, %a : tensor<4x2xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @no_transposed_product_of_shared_right(
// CHECK-NEXT: %[[B:.*]] = graph.permute_dims %y
// CHECK-NEXT: %[[P:.*]] = graph.matmul %x, %[[B]]
// CHECK-NEXT: %[[R:.*]] = graph.permute_dims %[[P]]
// CHECK-NEXT: func.return %[[R]], %[[B]]
func.func @no_transposed_product_of_shared_right(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> (tensor<4x2xf32>, tensor<3x4xf32>) {
  %b = graph.permute_dims %y : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %p = graph.matmul %x, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %r = graph.permute_dims %p : (tensor<2x4xf32>) -> tensor<4x2xf32>
  func.return %r, %b : tensor<4x2xf32>, tensor<3x4xf32>
}
