// RUN: stepwell-opt %s -p optimize-layouts | filecheck %s
// RUN: stepwell-opt %s -p optimize-layouts,optimize-layouts | filecheck %s

/// Two convolutions with what lies between them; a depthwise one has filters in HWIO with one input channel.
// CHECK-LABEL: func.func @block(
// CHECK-SAME: [[X:[a-z%]*]]: tensor<1x3x8x8xf32>, [[W:[a-z%]*]]: tensor<4x3x3x3xf32>, [[D:[a-z%]*]]: tensor<4x1x3x3xf32>, [[B:[a-z%]*]]: tensor<4xf32>)
func.func @block(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %d: tensor<4x1x3x3xf32>, %b: tensor<4xf32>) -> tensor<1x4x6x6xf32> {
  // CHECK-NEXT: %[[XL:.*]] = graph.permute_dims [[X]], axes = [0, 2, 3, 1]
  // CHECK-NEXT: %[[WL:.*]] = graph.permute_dims [[W]], axes = [2, 3, 1, 0]
  // CHECK-NEXT: %[[C:.*]] = graph.conv2d %[[XL]], %[[WL]], data_layout = "NHWC", kernel_layout = "HWIO" : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.bias_add %[[C]], [[B]], axis = 3
  // CHECK-NEXT: %[[R:.*]] = graph.relu %[[S]] : (tensor<1x6x6x4xf32>)
  // CHECK-NEXT: %[[DL:.*]] = graph.permute_dims [[D]], axes = [2, 3, 1, 0] : (tensor<4x1x3x3xf32>) -> tensor<3x3x1x4xf32>
  // CHECK-NEXT: %[[E:.*]] = graph.conv2d %[[R]], %[[DL]], padding = [1, 1, 1, 1], groups = 4, data_layout = "NHWC", kernel_layout = "HWIO"
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[E]], %[[R]] : (tensor<1x6x6x4xf32>, tensor<1x6x6x4xf32>)
  // CHECK-NEXT: %[[OUT:.*]] = graph.permute_dims %[[A]], axes = [0, 3, 1, 2]
  // CHECK-NEXT: func.return %[[OUT]]
  %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = graph.bias_add %0, %b : (tensor<1x4x6x6xf32>, tensor<4xf32>)
  %2 = graph.relu %1 : (tensor<1x4x6x6xf32>)
  %3 = graph.conv2d %2, %d, groups = 4, padding = [1, 1, 1, 1] : (tensor<1x4x6x6xf32>, tensor<4x1x3x3xf32>)
  %4 = graph.add %3, %2 : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>)
  func.return %4 : tensor<1x4x6x6xf32>
}

/// A head: axes of pooling, means and concatenation move; a mean over both extents is in neither layout.
// CHECK-LABEL: func.func @head(
func.func @head(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x8xf32> {
  // CHECK: %[[C:.*]] = graph.conv2d
  // CHECK-NEXT: %[[P:.*]] = graph.max_pool2d %[[C]], pool_size = [2, 2], strides = [2, 2], layout = "NHWC"
  // CHECK-NEXT: %[[T:.*]] = graph.concat %[[P]], %[[P]], axis = 3
  // CHECK-NEXT: %[[M:.*]] = graph.mean %[[T]], axis = [1, 2]
  // CHECK-NEXT: func.return %[[M]]
  %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
  %1 = graph.max_pool2d %0, pool_size = [2, 2], strides = [2, 2] : (tensor<1x4x8x8xf32>)
  %2 = graph.concat %1, %1, axis = 1 : (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>)
  %3 = graph.mean %2, axis = [2, 3] : (tensor<1x8x4x4xf32>)
  func.return %3 : tensor<1x8xf32>
}

/// Transposes that the program has itself go.
// CHECK-LABEL: func.func @cancels(
// CHECK-SAME: [[X:[a-z%]*]]: tensor<1x8x8x3xf32>
func.func @cancels(%x: tensor<1x8x8x3xf32>, %w: tensor<1x1x3x4xf32>) -> tensor<1x8x8x4xf32> {
  // CHECK: %[[C:.*]] = graph.conv2d [[X]], %{{.*}}, data_layout = "NHWC"
  // CHECK-NEXT: func.return %[[C]]
  %0 = graph.permute_dims %x, axes = [0, 3, 1, 2] : (tensor<1x8x8x3xf32>)
  %1 = graph.conv2d %0, %w, kernel_layout = "HWIO" : (tensor<1x3x8x8xf32>, tensor<1x1x3x4xf32>)
  %2 = graph.permute_dims %1, axes = [0, 2, 3, 1] : (tensor<1x4x8x8xf32>)
  func.return %2 : tensor<1x8x8x4xf32>
}

/// An image that would have to be transposed for the sum: the sum stays in NCHW.
// CHECK-LABEL: func.func @no_image(
// CHECK-SAME: [[Y:[^ ]*]]: tensor<1x4x8x8xf32>)
func.func @no_image(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>, %y: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK: %[[N:.*]] = graph.permute_dims %{{.*}}, axes = [0, 3, 1, 2]
  // CHECK-NEXT: graph.add %[[N]], [[Y]]
  %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
  %1 = graph.add %0, %y : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>)
  func.return %1 : tensor<1x4x8x8xf32>
}

/// Without a convolution nothing pays for a transpose.
// CHECK-LABEL: func.func @no_convolution(
// CHECK-NOT: permute_dims
func.func @no_convolution(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32> {
  // CHECK: graph.max_pool2d %{{.*}}, pool_size = [2, 2], strides = [2, 2] :
  %0 = graph.max_pool2d %x, pool_size = [2, 2], strides = [2, 2] : (tensor<1x4x8x8xf32>)
  func.return %0 : tensor<1x4x4x4xf32>
}

/// Ops whose properties mean dimensions, other than those above, stay as they are.
// CHECK-LABEL: func.func @no_movement(
// CHECK: graph.permute_dims {{.*}} axes = [0, 3, 1, 2]
// CHECK-NEXT: graph.permute_dims {{.*}} axes = [0, 1, 3, 2] : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
func.func @no_movement(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
  %1 = graph.permute_dims %0, axes = [0, 1, 3, 2] : (tensor<1x4x8x8xf32>)
  func.return %1 : tensor<1x4x8x8xf32>
}

/// A fused function is one atom.
// CHECK-LABEL: func.func private @no_fused(
// CHECK-NEXT: graph.conv2d %{{.*}}, %{{.*}} : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
func.func private @no_fused(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32> attributes {graph.primitive} {
  %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
  func.return %0 : tensor<1x4x8x8xf32>
}

/// What varies along channels alone is a vector beside images with channels last. The source of a reshape is one.
// CHECK-LABEL: func.func @vectors(
func.func @vectors(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>, %f: tensor<4x1x1xf32>, %b: tensor<4xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK: %[[C:.*]] = graph.conv2d
  // CHECK-NEXT: %[[F:.*]] = graph.reshape %f, shape = [4]
  // CHECK-NEXT: %[[M:.*]] = graph.multiply %[[C]], %[[F]] : (tensor<1x8x8x4xf32>, tensor<4xf32>)
  // CHECK: %[[A:.*]] = graph.add %[[M]], %b : (tensor<1x8x8x4xf32>, tensor<4xf32>)
  %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
  %1 = graph.multiply %0, %f : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>)
  %2 = graph.reshape %b, shape = [4, 1, 1] : (tensor<4xf32>) -> tensor<4x1x1xf32>
  %3 = graph.add %1, %2 : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>)
  func.return %3 : tensor<1x4x8x8xf32>
}

/// What varies along rows is no vector along channels, and is transposed.
// CHECK-LABEL: func.func @no_vectors(
func.func @no_vectors(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>, %f: tensor<8x1xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK: graph.expand_dims %f, axis = [0, 1]
  // CHECK-NEXT: graph.permute_dims %{{.*}}, axes = [0, 2, 3, 1] : (tensor<1x1x8x1xf32>) -> tensor<1x8x1x1xf32>
  %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
  %1 = graph.multiply %0, %f : (tensor<1x4x8x8xf32>, tensor<8x1xf32>)
  func.return %1 : tensor<1x4x8x8xf32>
}

/// Images of bytes keep their layout between convolutions.
// CHECK-LABEL: func.func @bytes(
func.func @bytes(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>, %v: tensor<4x4x1x1xf32>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<1x4x8x8xf32> {
  // CHECK: %[[Q:.*]] = graph.quantize %{{.*}}, %s, %z : (tensor<1x8x8x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x8x8x4xi8>
  // CHECK-NEXT: %[[D:.*]] = graph.dequantize %[[Q]], %s, %z : (tensor<1x8x8x4xi8>
  // CHECK: graph.conv2d %[[D]]
  %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
  %1 = graph.quantize %0, %s, %z : (tensor<1x4x8x8xf32>, tensor<f32>, tensor<i8>)
  %2 = graph.dequantize %1, %s, %z : (tensor<1x4x8x8xi8>, tensor<f32>, tensor<i8>)
  %3 = graph.conv2d %2, %v : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>)
  func.return %3 : tensor<1x4x8x8xf32>
}

/// The axis of scales moves along.
// CHECK-LABEL: func.func @scales_along_channels(
func.func @scales_along_channels(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>, %s: tensor<4xf32>, %z: tensor<4xi8>) -> tensor<1x4x8x8xi8> {
  // CHECK: graph.quantize %{{.*}}, %s, %z, axis = 3 : (tensor<1x8x8x4xf32>, tensor<4xf32>, tensor<4xi8>)
  %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
  %1 = graph.quantize %0, %s, %z : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xi8>)
  func.return %1 : tensor<1x4x8x8xi8>
}

// CHECK-LABEL: func.func @multipliers_along_channels(
func.func @multipliers_along_channels(%x: tensor<1x3x8x8xui8>, %w: tensor<4x3x1x1xi8>, %m: tensor<4xf32>, %z: tensor<i8>) -> tensor<1x4x8x8xi8> {
  // CHECK: graph.requantize %{{.*}}, %m, %z, axis = 3 : (tensor<1x8x8x4xi32>, tensor<4xf32>, tensor<i8>)
  %0 = graph.conv2d %x, %w, out_dtype = i32 : (tensor<1x3x8x8xui8>, tensor<4x3x1x1xi8>)
  %1 = graph.requantize %0, %m, %z : (tensor<1x4x8x8xi32>, tensor<4xf32>, tensor<i8>)
  func.return %1 : tensor<1x4x8x8xi8>
}

/// Scales of blocks stand along all axes.
// CHECK-LABEL: func.func @no_scales_of_blocks(
func.func @no_scales_of_blocks(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>, %s: tensor<1x2x8x8xf32>, %z: tensor<1x2x8x8xi8>) -> tensor<1x4x8x8xi8> {
  // CHECK: graph.quantize %{{.*}}, %s, %z, block_size = 2 : (tensor<1x4x8x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xi8>)
  %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
  %1 = graph.quantize %0, %s, %z, block_size = 2 : (tensor<1x4x8x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xi8>)
  func.return %1 : tensor<1x4x8x8xi8>
}
