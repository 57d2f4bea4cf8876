// RUN: stepwell-opt %s -p 'simplify-expr{numerics="strict"}' | filecheck %s

// Equal types with a `?` may be different shapes.

// CHECK-LABEL: func.func @no_where_false(
func.func @no_where_false(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: %[[C:.*]] = graph.full false : tensor<i1>
  // CHECK-NEXT: %[[R:.*]] = graph.where %[[C]], %x, %y : (tensor<i1>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<?xf32>
  %c = graph.full false : tensor<i1>
  %r = graph.where %c, %x, %y : (tensor<i1>, tensor<?xf32>, tensor<?xf32>)
  func.return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @no_where_same(
func.func @no_where_same(%c: tensor<?xi1>, %x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.where %c, %x, %x : (tensor<?xi1>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<?xf32>
  %r = graph.where %c, %x, %x : (tensor<?xi1>, tensor<?xf32>, tensor<?xf32>)
  func.return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @no_pad(
func.func @no_pad(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.pad %x, pad_width = [1, 0] : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<?xf32>
  %r = graph.pad %x, pad_width = [1, 0] : (tensor<?xf32>)
  func.return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @no_slice(
func.func @no_slice(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.strided_slice %x, axes = [0], begin = [1], end = [9] : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<?xf32>
  %r = graph.strided_slice %x, axes = [0], begin = [1], end = [9] : (tensor<?xf32>)
  func.return %r : tensor<?xf32>
}

/// The other way round, these are the same op whatever the size.
// CHECK-LABEL: func.func @where_of_booleans_of_any_size(
func.func @where_of_booleans_of_any_size(%c: tensor<?xi1>) -> tensor<?xi1> {
  // CHECK-NEXT: func.return %c : tensor<?xi1>
  %t = graph.full true : tensor<i1>
  %f = graph.full false : tensor<i1>
  %r = graph.where %c, %t, %f : (tensor<?xi1>, tensor<i1>, tensor<i1>)
  func.return %r : tensor<?xi1>
}

// CHECK-LABEL: func.func @conversions_of_clip_of_any_size(
func.func @conversions_of_clip_of_any_size(%x: tensor<?xi32>) -> tensor<?xi32> {
  // CHECK-NEXT: %[[C:.*]] = graph.clip %x, min = 0, max = 255 : (tensor<?xi32>) -> tensor<?xi32>
  // CHECK-NEXT: func.return %[[C]] : tensor<?xi32>
  %c = graph.clip %x, min = 0, max = 255 : (tensor<?xi32>)
  %n = graph.astype %c, dtype = ui8 : (tensor<?xi32>)
  %r = graph.astype %n, dtype = i32 : (tensor<?xui8>)
  func.return %r : tensor<?xi32>
}

// CHECK-LABEL: func.func @subtract_from_negative_zero_of_any_size(
func.func @subtract_from_negative_zero_of_any_size(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.negative %x : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<?xf32>
  %k = graph.full -0.0 : tensor<f32>
  %r = graph.subtract %k, %x : (tensor<f32>, tensor<?xf32>)
  func.return %r : tensor<?xf32>
}

/// Here the zeros make the shape.
// CHECK-LABEL: func.func @no_subtract_from_zeros(
func.func @no_subtract_from_zeros(%x: tensor<f32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[K:.*]] = graph.full -0.0 : tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = graph.subtract %[[K]], %x : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %k = graph.full -0.0 : tensor<4xf32>
  %r = graph.subtract %k, %x : (tensor<4xf32>, tensor<f32>)
  func.return %r : tensor<4xf32>
}
