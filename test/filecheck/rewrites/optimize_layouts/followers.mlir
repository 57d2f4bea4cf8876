// RUN: stepwell-opt %s -p optimize-layouts | filecheck %s

/// x * clip(x + 3, 0, 6) / 6 between two convolutions.
// CHECK-LABEL: func.func @hard_swish(
func.func @hard_swish(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>, %v: tensor<4x4x1x1xf32>) -> tensor<1x8x8x4xf32> {
  // CHECK-DAG: %[[THREE:.*]] = graph.full 3.0
  // CHECK: %[[C:.*]] = graph.conv2d %{{.*}}, data_layout = "NHWC"
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[C]], %[[THREE]] : (tensor<1x8x8x4xf32>, tensor<f32>)
  // CHECK-NEXT: %[[L:.*]] = graph.clip %[[A]], min = 0.0, max = 6.0 : (tensor<1x8x8x4xf32>)
  // CHECK-NEXT: %[[M:.*]] = graph.multiply %[[C]], %[[L]] : (tensor<1x8x8x4xf32>, tensor<1x8x8x4xf32>)
  // CHECK-NEXT: graph.permute_dims %v
  // CHECK-NEXT: %[[D:.*]] = graph.conv2d %[[M]], %{{.*}}, data_layout = "NHWC"
  // CHECK-NEXT: func.return %[[D]]
  %three = graph.full 3.0 : tensor<f32>
  %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
  %1 = graph.add %0, %three : (tensor<1x4x8x8xf32>, tensor<f32>)
  %2 = graph.clip %1, min = 0.0, max = 6.0 : (tensor<1x4x8x8xf32>)
  %3 = graph.multiply %0, %2 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>)
  %4 = graph.conv2d %3, %v : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>)
  %5 = graph.permute_dims %4, axes = [0, 2, 3, 1] : (tensor<1x4x8x8xf32>)
  func.return %5 : tensor<1x8x8x4xf32>
}

/// Rows twice, columns three times, as nearest neighbours are spelled; then a slice, a weighted sum of rows, and the best channel.
// CHECK-LABEL: func.func @larger(
func.func @larger(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>, %i: tensor<5x2xi64>, %m: tensor<5x2xf32>) -> tensor<1x5x22xi64> {
  // CHECK: %[[C:.*]] = graph.conv2d
  // CHECK-NEXT: %[[E:.*]] = graph.expand_dims %[[C]], axis = [2, 4] : (tensor<1x8x8x4xf32>) -> tensor<1x8x1x8x1x4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast_to %[[E]], shape = [1, 8, 2, 8, 3, 4]
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %[[B]], shape = [1, 16, 24, 4]
  // CHECK-NEXT: %[[S:.*]] = graph.strided_slice %[[R]], axes = [3, 2], begin = [0, 2], end = [3, 24] : (tensor<1x16x24x4xf32>) -> tensor<1x16x22x3xf32>
  // CHECK-NEXT: %[[P:.*]] = graph.resample %[[S]], %i, %m, axis = 1
  // CHECK-NEXT: %[[A:.*]] = graph.argmax %[[P]], axis = 3 : (tensor<1x5x22x3xf32>) -> tensor<1x5x22xi64>
  // CHECK-NEXT: func.return %[[A]]
  %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
  %1 = graph.expand_dims %0, axis = [3, 5] : (tensor<1x4x8x8xf32>)
  %2 = graph.broadcast_to %1, shape = [1, 4, 8, 2, 8, 3] : (tensor<1x4x8x1x8x1xf32>)
  %3 = graph.reshape %2, shape = [1, 4, 16, 24] : (tensor<1x4x8x2x8x3xf32>)
  %4 = graph.strided_slice %3, axes = [1, -1], begin = [0, 2], end = [3, 24] : (tensor<1x4x16x24xf32>)
  %5 = graph.resample %4, %i, %m, axis = -2 : (tensor<1x3x16x22xf32>, tensor<5x2xi64>, tensor<5x2xf32>)
  %6 = graph.argmax %5, axis = 1 : (tensor<1x3x5x22xf32>)
  func.return %6 : tensor<1x5x22xi64>
}

/// The smaller part of a concatenation is transposed.
// CHECK-LABEL: func.func @joined(
func.func @joined(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>, %y: tensor<1x2x8x8xf32>) -> tensor<1x6x8x8xf32> {
  // CHECK: %[[C:.*]] = graph.conv2d
  // CHECK-NEXT: %[[Y:.*]] = graph.permute_dims %y, axes = [0, 2, 3, 1]
  // CHECK-NEXT: graph.concat %[[Y]], %[[C]], axis = 3
  %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
  %1 = graph.concat %y, %0, axis = 1 : (tensor<1x2x8x8xf32>, tensor<1x4x8x8xf32>)
  func.return %1 : tensor<1x6x8x8xf32>
}

/// The greater part is not, other ways of spreading are no repetition, and without an axis an index is that of NCHW.
// CHECK-LABEL: func.func @no_follower(
func.func @no_follower(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>, %y: tensor<1x5x8x8xf32>) -> (tensor<1x9x8x8xf32>, tensor<1x8x16x8xf32>, tensor<i64>) {
  // CHECK: %[[C:.*]] = graph.conv2d
  // CHECK-NEXT: %[[F:.*]] = graph.permute_dims %[[C]], axes = [0, 3, 1, 2]
  // CHECK-NEXT: graph.concat %y, %[[F]], axis = 1
  // CHECK-NEXT: %[[E:.*]] = graph.expand_dims %[[F]], axis = [2, 4]
  // CHECK-NEXT: %[[B:.*]] = graph.broadcast_to %[[E]]
  // CHECK-NEXT: graph.reshape %[[B]]
  // CHECK-NEXT: graph.argmax %[[F]]
  %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
  %1 = graph.concat %y, %0, axis = 1 : (tensor<1x5x8x8xf32>, tensor<1x4x8x8xf32>)
  %2 = graph.expand_dims %0, axis = [2, 4] : (tensor<1x4x8x8xf32>)
  %3 = graph.broadcast_to %2, shape = [1, 4, 2, 8, 2, 8] : (tensor<1x4x1x8x1x8xf32>)
  %4 = graph.reshape %3, shape = [1, 8, 16, 8] : (tensor<1x4x2x8x2x8xf32>)
  %5 = graph.argmax %0 : (tensor<1x4x8x8xf32>)
  func.return %1, %4, %5 : tensor<1x9x8x8xf32>, tensor<1x8x16x8xf32>, tensor<i64>
}

/// Two results of one repetition.
// CHECK-LABEL: func.func @shared(
func.func @shared(%x: tensor<1x3x2x2xf32>, %w: tensor<4x3x1x1xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) {
  // CHECK-COUNT-2: graph.reshape %{{.*}}, shape = [1, 4, 4, 4]
  // CHECK-NOT: axis = [3, 5]
  %0 = graph.conv2d %x, %w : (tensor<1x3x2x2xf32>, tensor<4x3x1x1xf32>)
  %1 = graph.expand_dims %0, axis = [3, 5] : (tensor<1x4x2x2xf32>)
  %2 = graph.broadcast_to %1, shape = [1, 4, 2, 2, 2, 2] : (tensor<1x4x2x1x2x1xf32>)
  %3 = graph.reshape %2, shape = [1, 4, 4, 4] : (tensor<1x4x2x2x2x2xf32>)
  %4 = graph.reshape %2, shape = [1, 4, 4, 4] : (tensor<1x4x2x2x2x2xf32>)
  func.return %3, %4 : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>
}

/// Resized and returned: the image is transposed while it is small.
// CHECK-LABEL: func.func @enlarged(
func.func @enlarged(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>, %i: tensor<16x2xi64>, %m: tensor<16x2xf32>) -> tensor<1x4x16x16xf32> {
  // CHECK: %[[C:.*]] = graph.conv2d
  // CHECK-NEXT: %[[T:.*]] = graph.permute_dims %[[C]], axes = [0, 3, 1, 2]
  // CHECK-NEXT: %[[W:.*]] = graph.resample %[[T]], %i, %m, axis = 3
  // CHECK-NEXT: %[[H:.*]] = graph.resample %[[W]], %i, %m, axis = 2
  // CHECK-NEXT: func.return %[[H]]
  %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
  %1 = graph.resample %0, %i, %m, axis = 3 : (tensor<1x4x8x8xf32>, tensor<16x2xi64>, tensor<16x2xf32>)
  %2 = graph.resample %1, %i, %m, axis = 2 : (tensor<1x4x8x16xf32>, tensor<16x2xi64>, tensor<16x2xf32>)
  func.return %2 : tensor<1x4x16x16xf32>
}

/// It gets smaller, so the result is transposed.
// CHECK-LABEL: func.func @no_enlarged(
func.func @no_enlarged(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>, %i: tensor<5x2xi64>, %m: tensor<5x2xf32>) -> tensor<1x4x8x5xf32> {
  // CHECK: %[[C:.*]] = graph.conv2d
  // CHECK-NEXT: %[[R:.*]] = graph.resample %[[C]], %i, %m, axis = 2
  // CHECK-NEXT: graph.permute_dims %[[R]], axes = [0, 3, 1, 2]
  %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
  %1 = graph.resample %0, %i, %m, axis = 3 : (tensor<1x4x8x8xf32>, tensor<5x2xi64>, tensor<5x2xf32>)
  func.return %1 : tensor<1x4x8x5xf32>
}

/// Places in a table of all bytes are looked up one by one.
// CHECK-LABEL: func.func @lookup(
func.func @lookup(%x: tensor<1x3x8x8xui8>, %w: tensor<4x3x1x1xi8>, %t: tensor<256xf32>) -> tensor<1x8x8x4xf32> {
  // CHECK: %[[C:.*]] = graph.conv2d
  // CHECK-NEXT: %[[B:.*]] = graph.astype %[[C]], dtype = ui8 : (tensor<1x8x8x4xi32>)
  // CHECK-NEXT: %[[L:.*]] = graph.take %t, %[[B]], axis = 0 : (tensor<256xf32>, tensor<1x8x8x4xui8>) -> tensor<1x8x8x4xf32>
  // CHECK-NEXT: func.return %[[L]]
  %0 = graph.conv2d %x, %w, out_dtype = i32 : (tensor<1x3x8x8xui8>, tensor<4x3x1x1xi8>)
  %1 = graph.astype %0, dtype = ui8 : (tensor<1x4x8x8xi32>)
  %2 = graph.take %t, %1, axis = 0 : (tensor<256xf32>, tensor<1x4x8x8xui8>)
  %3 = graph.permute_dims %2, axes = [0, 2, 3, 1] : (tensor<1x4x8x8xf32>)
  func.return %3 : tensor<1x8x8x4xf32>
}

/// A place may be outside of the table, which fails in the order of the program. Rows of a matrix move as a whole.
// CHECK-LABEL: func.func @no_lookup(
func.func @no_lookup(%x: tensor<1x3x8x8xui8>, %w: tensor<4x3x1x1xi8>, %t: tensor<9xf32>, %m: tensor<256x2xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8x2xf32>) {
  // CHECK: graph.take %t, %{{.*}} -> tensor<1x4x8x8xf32>
  // CHECK: graph.take %m, %{{.*}} -> tensor<1x4x8x8x2xf32>
  %0 = graph.conv2d %x, %w, out_dtype = i32 : (tensor<1x3x8x8xui8>, tensor<4x3x1x1xi8>)
  %1 = graph.astype %0, dtype = ui8 : (tensor<1x4x8x8xi32>)
  %2 = graph.take %t, %1, axis = 0 : (tensor<9xf32>, tensor<1x4x8x8xui8>)
  %3 = graph.take %m, %1, axis = 0 : (tensor<256x2xf32>, tensor<1x4x8x8xui8>)
  func.return %2, %3 : tensor<1x4x8x8xf32>, tensor<1x4x8x8x2xf32>
}
