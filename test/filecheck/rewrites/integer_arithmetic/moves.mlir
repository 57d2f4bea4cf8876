// RUN: stepwell-opt %s -p 'integer-arithmetic' | filecheck %s
// RUN: stepwell-opt %s -p 'integer-arithmetic' --remarks 2>&1 | filecheck %s --check-prefix=REMARK

/// The axis of the scales moves along.
// CHECK-LABEL: func.func @integer_moves(
func.func @integer_moves(%w: tensor<4x8xi8>, %s: tensor<4xf32>, %z: tensor<4xi8>) -> tensor<8x4xf32> {
  // CHECK-NEXT: %[[M:.*]] = graph.permute_dims %w : (tensor<4x8xi8>) -> tensor<8x4xi8>
  // CHECK-NEXT: graph.dequantize %[[M]], %s, %z : (tensor<8x4xi8>
  %d = graph.dequantize %w, %s, %z, axis = 0 : (tensor<4x8xi8>, tensor<4xf32>, tensor<4xi8>)
  %y = graph.permute_dims %d : (tensor<4x8xf32>)
  func.return %y : tensor<8x4xf32>
}

/// So it does where other axes come, go, are cut or joined.
// CHECK-LABEL: func.func @integer_moves_of_an_axis(
func.func @integer_moves_of_an_axis(%w: tensor<4x1x6xi8>, %s: tensor<6xf32>, %t: tensor<4xf32>) -> (tensor<4x1x1x6xf32>, tensor<4x6xf32>, tensor<2x1x6xf32>, tensor<3x4x1x6xf32>, tensor<2x2x6xf32>, tensor<4x2x3xf32>) {
  // CHECK: %[[A:.*]] = graph.expand_dims %w, axis = [1] : (tensor<4x1x6xi8>)
  // CHECK: graph.dequantize %[[A]], %s, %z, axis = 3 : (tensor<4x1x1x6xi8>
  // CHECK: %[[B:.*]] = graph.squeeze %w
  // CHECK: graph.dequantize %[[B]], %s, %z : (tensor<4x6xi8>
  // CHECK: %[[C:.*]] = graph.strided_slice %w
  // CHECK: graph.dequantize %[[C]], %s, %z, axis = 2 : (tensor<2x1x6xi8>
  // CHECK: %[[D:.*]] = graph.broadcast_to %w
  // CHECK: graph.dequantize %[[D]], %s, %z, axis = 3 : (tensor<3x4x1x6xi8>
  // CHECK: %[[E:.*]] = graph.reshape %w, shape = [2, 2, 6]
  // CHECK: graph.dequantize %[[E]], %s, %z, axis = 2 : (tensor<2x2x6xi8>
  // CHECK: %[[F:.*]] = graph.reshape %w, shape = [4, 2, 3]
  // CHECK: graph.dequantize %[[F]], %t, %{{.*}}, axis = 0 : (tensor<4x2x3xi8>
  %z = graph.full 3 : tensor<6xi8>
  %u = graph.full 3 : tensor<4xi8>
  %d = graph.dequantize %w, %s, %z, axis = -1 : (tensor<4x1x6xi8>, tensor<6xf32>, tensor<6xi8>)
  %e = graph.dequantize %w, %t, %u, axis = 0 : (tensor<4x1x6xi8>, tensor<4xf32>, tensor<4xi8>)
  %0 = graph.expand_dims %d, axis = [1] : (tensor<4x1x6xf32>)
  %1 = graph.squeeze %d, axis = [1] : (tensor<4x1x6xf32>)
  %2 = graph.strided_slice %d, axes = [0], begin = [0], end = [2], strides = [1] : (tensor<4x1x6xf32>)
  %3 = graph.broadcast_to %d, shape = [3, 4, 1, 6] : (tensor<4x1x6xf32>)
  %4 = graph.reshape %d, shape = [2, 2, 6] : (tensor<4x1x6xf32>)
  %5 = graph.reshape %e, shape = [4, 2, 3] : (tensor<4x1x6xf32>)
  func.return %0, %1, %2, %3, %4, %5 : tensor<4x1x1x6xf32>, tensor<4x6xf32>, tensor<2x1x6xf32>, tensor<3x4x1x6xf32>, tensor<2x2x6xf32>, tensor<4x2x3xf32>
}

/// Scales come again and again where the axis is joined with those before it. A zero point that is known stays a number.
// CHECK-LABEL: func.func @integer_moves_repeat_scales(
func.func @integer_moves_repeat_scales(%w: tensor<2x3x32xi8>, %s: tensor<3xf32>, %z: tensor<3xi8>) -> (tensor<6x32xf32>, tensor<6x32xf32>) {
  // CHECK: %[[A:.*]] = graph.reshape %w, shape = [6, 32] : (tensor<2x3x32xi8>) -> tensor<6x32xi8>
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast_to %s, shape = [2, 3] : (tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.reshape %[[B]], shape = [6] : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.broadcast_to %z, shape = [2, 3] : (tensor<3xi8>) -> tensor<2x3xi8>
  // CHECK-NEXT: %[[Z:.*]] = graph.reshape %[[C]], shape = [6] : (tensor<2x3xi8>) -> tensor<6xi8>
  // CHECK-NEXT: graph.dequantize %[[A]], %[[S]], %[[Z]], axis = 0 : (tensor<6x32xi8>
  // CHECK: graph.dequantize %{{.*}}, %{{.*}}, %{{.*}}, axis = 0 : (tensor<6x32xi8>
  %k = graph.full 3 : tensor<3xi8>
  %d = graph.dequantize %w, %s, %z : (tensor<2x3x32xi8>, tensor<3xf32>, tensor<3xi8>)
  %e = graph.dequantize %w, %s, %k : (tensor<2x3x32xi8>, tensor<3xf32>, tensor<3xi8>)
  %0 = graph.reshape %d, shape = [6, 32] : (tensor<2x3x32xf32>)
  %1 = graph.reshape %e, shape = [6, 32] : (tensor<2x3x32xf32>)
  func.return %0, %1 : tensor<6x32xf32>, tensor<6x32xf32>
}

/// They do not where each would serve few elements, or where its elements do not lie together.
// CHECK-LABEL: func.func @no_integer_moves_repeat_scales(
func.func @no_integer_moves_repeat_scales(%w: tensor<2x3x8xi8>, %v: tensor<3x2x32xi8>, %s: tensor<3xf32>, %z: tensor<3xi8>) -> (tensor<6x8xf32>, tensor<6x32xf32>) {
  // CHECK: graph.reshape %{{.*}} -> tensor<6x8xf32>
  // CHECK: graph.reshape %{{.*}} -> tensor<6x32xf32>
  %d = graph.dequantize %w, %s, %z : (tensor<2x3x8xi8>, tensor<3xf32>, tensor<3xi8>)
  %e = graph.dequantize %v, %s, %z, axis = 0 : (tensor<3x2x32xi8>, tensor<3xf32>, tensor<3xi8>)
  %0 = graph.reshape %d, shape = [6, 8] : (tensor<2x3x8xf32>)
  %1 = graph.reshape %e, shape = [6, 32] : (tensor<3x2x32xf32>)
  func.return %0, %1 : tensor<6x8xf32>, tensor<6x32xf32>
}

/// The axis is cut, spread or split itself, or of several axes.
// CHECK-LABEL: func.func @no_integer_moves_of_an_axis(
func.func @no_integer_moves_of_an_axis(%w: tensor<4x6xi8>, %v: tensor<4x1xi8>, %s: tensor<6xf32>, %t: tensor<1xf32>) -> (tensor<4x3xf32>, tensor<4x6xf32>, tensor<4x2x3xf32>, tensor<6x4xf32>) {
  // CHECK: graph.strided_slice %{{.*}} -> tensor<4x3xf32>
  // CHECK: graph.broadcast_to %{{.*}} -> tensor<4x6xf32>
  // CHECK: graph.reshape %{{.*}} -> tensor<4x2x3xf32>
  // CHECK: graph.reshape %{{.*}} -> tensor<6x4xf32>
  %z = graph.full 3 : tensor<6xi8>
  %y = graph.full 3 : tensor<1xi8>
  %d = graph.dequantize %w, %s, %z : (tensor<4x6xi8>, tensor<6xf32>, tensor<6xi8>)
  %e = graph.dequantize %v, %t, %y : (tensor<4x1xi8>, tensor<1xf32>, tensor<1xi8>)
  %0 = graph.strided_slice %d, axes = [-1], begin = [0], end = [3], strides = [1] : (tensor<4x6xf32>)
  %1 = graph.broadcast_to %e, shape = [4, 6] : (tensor<4x1xf32>)
  %2 = graph.reshape %d, shape = [4, 2, 3] : (tensor<4x6xf32>)
  %3 = graph.reshape %d, shape = [6, 4] : (tensor<4x6xf32>)
  func.return %0, %1, %2, %3 : tensor<4x3xf32>, tensor<4x6xf32>, tensor<4x2x3xf32>, tensor<6x4xf32>
}

/// Integers of 32 bits are no smaller than floats.
// CHECK-LABEL: func.func @no_integer_moves_of_sums(
func.func @no_integer_moves_of_sums(%b: tensor<4xi32>, %s: tensor<4xf32>) -> tensor<4x1x1xf32> {
  // CHECK: graph.reshape %{{.*}} -> tensor<4x1x1xf32>
  %z = graph.full 0 : tensor<4xi32>
  %d = graph.dequantize %b, %s, %z, axis = 0 : (tensor<4xi32>, tensor<4xf32>, tensor<4xi32>)
  %y = graph.reshape %d, shape = [4, 1, 1] : (tensor<4xf32>)
  func.return %y : tensor<4x1x1xf32>
}

/// Rows become blocks of longer rows.
// CHECK-LABEL: func.func @rows_that_become_blocks(
func.func @rows_that_become_blocks(%w: tensor<4x8xi8>, %s: tensor<4xf32>, %z: tensor<4xi8>) -> tensor<2x16xf32> {
  // CHECK-NEXT: %[[M:.*]] = graph.reshape %w, shape = [2, 16]
  // CHECK-NEXT: %[[S:.*]] = graph.reshape %s, shape = [2, 2] : (tensor<4xf32>) -> tensor<2x2xf32>
  // CHECK-NEXT: %[[Z:.*]] = graph.reshape %z, shape = [2, 2] : (tensor<4xi8>) -> tensor<2x2xi8>
  // CHECK-NEXT: graph.dequantize %[[M]], %[[S]], %[[Z]], block_size = 8 : {{.*}} -> tensor<2x16xf32>
  %d = graph.dequantize %w, %s, %z, axis = 0 : (tensor<4x8xi8>, tensor<4xf32>, tensor<4xi8>)
  %y = graph.reshape %d, shape = [2, 16] : (tensor<4x8xf32>)
  func.return %y : tensor<2x16xf32>
}

/// So do blocks that are whole rows, of which a matrix is one of a batch.
// CHECK-LABEL: func.func @blocks_that_are_rows(
func.func @blocks_that_are_rows(%w: tensor<2x3x8xui4>, %s: tensor<2x3x1xf32>) -> tensor<2x24xf32> {
  // CHECK: %[[M:.*]] = graph.reshape %w, shape = [2, 24]
  // CHECK-NEXT: %[[S:.*]] = graph.reshape %s, shape = [2, 3] : (tensor<2x3x1xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: graph.dequantize %[[M]], %[[S]], %{{.*}}, block_size = 8 : (tensor<2x24xui4>, tensor<2x3xf32>, tensor<2x3xui4>)
  %z = graph.full 7 : tensor<2x3x1xui4>
  %d = graph.dequantize %w, %s, %z, axis = 2, block_size = 8 : (tensor<2x3x8xui4>, tensor<2x3x1xf32>, tensor<2x3x1xui4>)
  %y = graph.reshape %d, shape = [2, 24] : (tensor<2x3x8xf32>)
  func.return %y : tensor<2x24xf32>
}

/// Rows of 4 do not hold blocks of 8.
// CHECK-LABEL: func.func @no_integer_moves(
func.func @no_integer_moves(%w: tensor<4x8xi8>, %s: tensor<4xf32>, %z: tensor<4xi8>) -> tensor<8x4xf32> {
  // CHECK-NEXT: graph.dequantize
  // CHECK-NEXT: graph.reshape
  // REMARK: remark: {{.*}}kept on floats: the scales do not move along
  %d = graph.dequantize %w, %s, %z, axis = 0 : (tensor<4x8xi8>, tensor<4xf32>, tensor<4xi8>)
  %y = graph.reshape %d, shape = [8, 4] : (tensor<4x8xf32>)
  func.return %y : tensor<8x4xf32>
}

/// Bytes that are moved and converted back by the same scale have never been floats.
// CHECK-LABEL: func.func @returned_moves(
func.func @returned_moves(%q: tensor<4x8xui8>) -> tensor<8x4xui8> {
  // CHECK-NEXT: %[[M:.*]] = graph.permute_dims %q : (tensor<4x8xui8>) -> tensor<8x4xui8>
  // CHECK-NEXT: func.return %[[M]]
  %s = graph.full 0.25 : tensor<f32>
  %z = graph.full 10 : tensor<ui8>
  %d = graph.dequantize %q, %s, %z : (tensor<4x8xui8>, tensor<f32>, tensor<ui8>)
  %m = graph.permute_dims %d : (tensor<4x8xf32>)
  %y = graph.quantize %m, %s, %z : (tensor<8x4xf32>, tensor<f32>, tensor<ui8>)
  func.return %y : tensor<8x4xui8>
}

/// Another scale makes other bytes.
// CHECK-LABEL: func.func @no_returned_moves(
func.func @no_returned_moves(%q: tensor<4x8xui8>) -> tensor<8x4xui8> {
  // CHECK: %[[M:.*]] = graph.permute_dims %q
  // CHECK: %[[D:.*]] = graph.dequantize %[[M]]
  // CHECK: graph.requantize
  %s = graph.full 0.25 : tensor<f32>
  %t = graph.full 0.5 : tensor<f32>
  %z = graph.full 10 : tensor<ui8>
  %d = graph.dequantize %q, %s, %z : (tensor<4x8xui8>, tensor<f32>, tensor<ui8>)
  %m = graph.permute_dims %d : (tensor<4x8xf32>)
  %y = graph.quantize %m, %t, %z : (tensor<8x4xf32>, tensor<f32>, tensor<ui8>)
  func.return %y : tensor<8x4xui8>
}

// CHECK-LABEL: func.func @returned_takes(
func.func @returned_takes(%q: tensor<4x8xi8>, %i: tensor<3xi64>) -> tensor<3x8xi8> {
  // CHECK-NEXT: %[[T:.*]] = graph.take %q, %i, axis = 0 : (tensor<4x8xi8>, tensor<3xi64>) -> tensor<3x8xi8>
  // CHECK-NEXT: func.return %[[T]]
  %s = graph.full 0.25 : tensor<f32>
  %z = graph.full 1 : tensor<i8>
  %d = graph.dequantize %q, %s, %z : (tensor<4x8xi8>, tensor<f32>, tensor<i8>)
  %t = graph.take %d, %i, axis = 0 : (tensor<4x8xf32>, tensor<3xi64>)
  %y = graph.quantize %t, %s, %z : (tensor<3x8xf32>, tensor<f32>, tensor<i8>)
  func.return %y : tensor<3x8xi8>
}

/// The table of an embedding stays bytes. What is taken of it becomes floats.
// CHECK-LABEL: func.func @integer_takes(
func.func @integer_takes(%q: tensor<4x8xi8>, %s: tensor<f32>, %z: tensor<i8>, %i: tensor<3xi64>) -> tensor<3x8xf32> {
  // CHECK-NEXT: %[[T:.*]] = graph.take %q, %i, axis = 0 : (tensor<4x8xi8>, tensor<3xi64>) -> tensor<3x8xi8>
  // CHECK-NEXT: graph.dequantize %[[T]], %s, %z
  %d = graph.dequantize %q, %s, %z : (tensor<4x8xi8>, tensor<f32>, tensor<i8>)
  %t = graph.take %d, %i, axis = 0 : (tensor<4x8xf32>, tensor<3xi64>)
  func.return %t : tensor<3x8xf32>
}

/// The scales of rows are taken as well, and are blocks of one row then.
// CHECK-LABEL: func.func @integer_takes_of_rows(
func.func @integer_takes_of_rows(%q: tensor<4x8xi8>, %s: tensor<4xf32>, %z: tensor<4xi8>, %i: tensor<2x3xi64>) -> tensor<2x3x8xf32> {
  // CHECK-NEXT: %[[T:.*]] = graph.take %q, %i, axis = 0 : (tensor<4x8xi8>, tensor<2x3xi64>) -> tensor<2x3x8xi8>
  // CHECK-NEXT: %[[S:.*]] = graph.take %s, %i, axis = 0 : (tensor<4xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[Z:.*]] = graph.take %z, %i, axis = 0
  // CHECK-NEXT: %[[S1:.*]] = graph.expand_dims %[[S]], axis = [-1] : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  // CHECK-NEXT: %[[Z1:.*]] = graph.expand_dims %[[Z]], axis = [-1]
  // CHECK-NEXT: graph.dequantize %[[T]], %[[S1]], %[[Z1]], axis = 2, block_size = 8 : {{.*}} -> tensor<2x3x8xf32>
  %d = graph.dequantize %q, %s, %z, axis = 0 : (tensor<4x8xi8>, tensor<4xf32>, tensor<4xi8>)
  %t = graph.take %d, %i, axis = 0 : (tensor<4x8xf32>, tensor<2x3xi64>)
  func.return %t : tensor<2x3x8xf32>
}

// CHECK-LABEL: func.func @integer_takes_of_blocks(
func.func @integer_takes_of_blocks(%q: tensor<4x8xui4>, %s: tensor<4x2xf32>, %z: tensor<4x2xui4>, %i: tensor<?xi64>) -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[T:.*]] = graph.take %q, %i, axis = 0 : (tensor<4x8xui4>, tensor<?xi64>) -> tensor<?x8xui4>
  // CHECK-NEXT: %[[S:.*]] = graph.take %s, %i, axis = 0
  // CHECK-NEXT: %[[Z:.*]] = graph.take %z, %i, axis = 0
  // CHECK-NEXT: graph.dequantize %[[T]], %[[S]], %[[Z]], block_size = 4 : {{.*}} -> tensor<?x8xf32>
  %d = graph.dequantize %q, %s, %z, axis = 1, block_size = 4 : (tensor<4x8xui4>, tensor<4x2xf32>, tensor<4x2xui4>)
  %t = graph.take %d, %i, axis = 0 : (tensor<4x8xf32>, tensor<?xi64>)
  func.return %t : tensor<?x8xf32>
}

/// Columns are taken, rows that are blocks, and rows with scales of columns.
// CHECK-LABEL: func.func @no_integer_takes(
func.func @no_integer_takes(%q: tensor<8x8xi8>, %s: tensor<8xf32>, %z: tensor<8xi8>, %b: tensor<2x8xf32>, %c: tensor<2x8xi8>, %i: tensor<3xi64>) -> (tensor<8x3xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
  // CHECK-NEXT: graph.dequantize
  // CHECK-NEXT: graph.take
  // REMARK: remark: {{.*}}kept on floats: the scales do not move along
  %d = graph.dequantize %q, %s, %z, axis = 0 : (tensor<8x8xi8>, tensor<8xf32>, tensor<8xi8>)
  %t = graph.take %d, %i, axis = 1 : (tensor<8x8xf32>, tensor<3xi64>)
  // CHECK-NEXT: graph.dequantize
  // CHECK-NEXT: graph.take
  %e = graph.dequantize %q, %b, %c, axis = 0, block_size = 4 : (tensor<8x8xi8>, tensor<2x8xf32>, tensor<2x8xi8>)
  %u = graph.take %e, %i, axis = 0 : (tensor<8x8xf32>, tensor<3xi64>)
  // CHECK-NEXT: graph.dequantize
  // CHECK-NEXT: graph.take
  %f = graph.dequantize %q, %s, %z, axis = 1 : (tensor<8x8xi8>, tensor<8xf32>, tensor<8xi8>)
  %v = graph.take %f, %i, axis = 0 : (tensor<8x8xf32>, tensor<3xi64>)
  func.return %t, %u, %v : tensor<8x3xf32>, tensor<3x8xf32>, tensor<3x8xf32>
}
