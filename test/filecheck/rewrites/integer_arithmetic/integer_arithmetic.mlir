// RUN: stepwell-opt %s -p 'integer-arithmetic' | filecheck %s
// RUN: stepwell-opt %s -p 'integer-arithmetic' --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: stepwell-opt %s -p 'integer-arithmetic{numerics="strict"}' | filecheck %s --check-prefix=STRICT

/// The image is multiplied as it is, and padding has the value of its zero point.
// CHECK-LABEL: func.func @integer_conv2d(
// STRICT-LABEL: func.func @integer_conv2d(
func.func @integer_conv2d(%x: tensor<1x3x8x8xui8>, %w: tensor<4x3x3x3xi8>, %sx: tensor<f32>, %sw: tensor<4xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK: %[[NONE:.*]] = graph.full 0 : tensor<i32>
  // CHECK: %[[Z:.*]] = graph.full 100 : tensor<i32>
  // CHECK: %[[P:.*]] = graph.pad %x, pad_width = [0, 0, 0, 0, 1, 1, 1, 1], value = 100
  // CHECK: %[[C:.*]] = graph.conv2d %[[P]], %w, out_dtype = i32 : (tensor<1x3x10x10xui8>, tensor<4x3x3x3xi8>)
  // CHECK: %[[T:.*]] = graph.sum %{{.*}}, axis = [1, 2, 3], keepdims = true
  // CHECK: %[[M:.*]] = graph.ewise_fma %[[T]], %[[Z]], %[[NONE]]
  // CHECK: %[[R:.*]] = graph.reshape %[[M]], shape = [-1, 1, 1]
  // CHECK: %[[S:.*]] = graph.subtract %[[C]], %[[R]]
  // CHECK: graph.astype %[[S]], dtype = f32
  // STRICT: graph.conv2d %{{.*}} -> tensor<1x4x8x8xf32>
  %zx = graph.full 100 : tensor<ui8>
  %zw = graph.full 0 : tensor<4xi8>
  %a = graph.dequantize %x, %sx, %zx : (tensor<1x3x8x8xui8>, tensor<f32>, tensor<ui8>)
  %b = graph.dequantize %w, %sw, %zw, axis = 0 : (tensor<4x3x3x3xi8>, tensor<4xf32>, tensor<4xi8>)
  %y = graph.conv2d %a, %b, padding = [1, 1, 1, 1] : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
  func.return %y : tensor<1x4x8x8xf32>
}

/// Weights without signs whose zero point is in the middle have none when they have got signs.
// CHECK-LABEL: func.func @integer_conv2d_of_unsigned_weights(
func.func @integer_conv2d_of_unsigned_weights(%x: tensor<1x3x8x8xi8>, %w: tensor<4x3x3x3xui8>, %s: tensor<f32>) -> tensor<1x4x6x6xf32> {
  // CHECK: %[[F:.*]] = graph.bitwise_xor %w
  // CHECK: %[[W:.*]] = graph.astype %[[F]], dtype = i8
  // CHECK: graph.conv2d %x, %[[W]], out_dtype = i32
  %zx = graph.full 0 : tensor<i8>
  %zw = graph.full 128 : tensor<ui8>
  %a = graph.dequantize %x, %s, %zx : (tensor<1x3x8x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %s, %zw : (tensor<4x3x3x3xui8>, tensor<f32>, tensor<ui8>)
  %y = graph.conv2d %a, %b : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
  func.return %y : tensor<1x4x6x6xf32>
}

/// Weights that have a zero point with signs ask for the sums of windows, of channels first: -128 of 27 terms.
// CHECK-LABEL: func.func @integer_conv2d_of_zero_points(
func.func @integer_conv2d_of_zero_points(%x: tensor<1x3x8x8xi8>, %w: tensor<4x3x3x3xui8>, %s: tensor<f32>) -> tensor<1x4x3x3xf32> {
  // CHECK-DAG: %[[ONES:.*]] = graph.full 1 : tensor<1x1x3x3xi32>
  // CHECK-DAG: %[[Z:.*]] = graph.full -128 : tensor<i32>
  // CHECK-DAG: %[[MORE:.*]] = graph.full 6912 : tensor<i32>
  // CHECK: %[[C:.*]] = graph.conv2d %x, %{{.*}}, strides = [2, 2], out_dtype = i32
  // CHECK: %[[S:.*]] = graph.subtract %[[C]]
  // CHECK: %[[X:.*]] = graph.astype %x, dtype = i32
  // CHECK: %[[CHANNELS:.*]] = graph.sum %[[X]], axis = [1], keepdims = true
  // CHECK: %[[W:.*]] = graph.conv2d %[[CHANNELS]], %[[ONES]], strides = [2, 2] : (tensor<1x1x8x8xi32>, tensor<1x1x3x3xi32>)
  // CHECK: %[[R:.*]] = graph.ewise_fma %[[W]], %[[Z]], %[[MORE]]
  // CHECK: %[[D:.*]] = graph.subtract %[[S]], %[[R]]
  // CHECK: graph.astype %[[D]], dtype = f32
  %zx = graph.full 2 : tensor<i8>
  %zw = graph.full 0 : tensor<ui8>
  %a = graph.dequantize %x, %s, %zx : (tensor<1x3x8x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %s, %zw : (tensor<4x3x3x3xui8>, tensor<f32>, tensor<ui8>)
  %y = graph.conv2d %a, %b, strides = [2, 2] : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
  func.return %y : tensor<1x4x3x3xf32>
}

/// A window of one pixel is the sum of its channels. Each output has a zero point of its own.
// CHECK-LABEL: func.func @integer_conv2d_of_points(
func.func @integer_conv2d_of_points(%x: tensor<1x3x8x8xi8>, %w: tensor<2x3x1x1xui8>, %s: tensor<f32>, %sw: tensor<2xf32>) -> tensor<1x2x8x8xf32> {
  // CHECK-DAG: %[[SHIFT:.*]] = graph.full 128 : tensor<i32>
  // CHECK-DAG: %[[ONE:.*]] = graph.full 1 : tensor<i32>
  // CHECK-DAG: %[[NONE:.*]] = graph.full 0 : tensor<i32>
  // CHECK: %[[Z:.*]] = graph.astype %{{.*}}, dtype = i32 : (tensor<2xui8>)
  // CHECK: %[[SIGNED:.*]] = graph.subtract %[[Z]], %[[SHIFT]]
  // CHECK: %[[C:.*]] = graph.conv2d %x
  // CHECK: %[[SUMS:.*]] = graph.sum %{{.*}}, axis = [1], keepdims = true
  // CHECK: %[[SPREAD:.*]] = graph.reshape %[[SIGNED]], shape = [-1, 1, 1]
  // CHECK: %[[FEWER:.*]] = graph.ewise_fma %[[SUMS]], %[[ONE]], %[[NONE]]
  // CHECK: %[[R:.*]] = graph.multiply %[[FEWER]], %[[SPREAD]]
  // CHECK: graph.subtract %[[C]], %[[R]]
  %zx = graph.full 0 : tensor<i8>
  %zw = graph.constant dense<[120, 130]> : tensor<2xui8>
  %a = graph.dequantize %x, %s, %zx : (tensor<1x3x8x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %sw, %zw, axis = 0 : (tensor<2x3x1x1xui8>, tensor<2xf32>, tensor<2xui8>)
  %y = graph.conv2d %a, %b : (tensor<1x3x8x8xf32>, tensor<2x3x1x1xf32>)
  func.return %y : tensor<1x2x8x8xf32>
}

// CHECK-LABEL: func.func @no_integer_conv2d_of_zero_points_in_groups(
func.func @no_integer_conv2d_of_zero_points_in_groups(%x: tensor<1x4x8x8xi8>, %w: tensor<4x1x3x3xui8>, %s: tensor<f32>) -> tensor<1x4x6x6xf32> {
  // CHECK: graph.conv2d %{{.*}} -> tensor<1x4x6x6xf32>
  // REMARK: remark: {{.*}}kept on floats: there is no kernel for groups of words or with zero points
  %zx = graph.full 0 : tensor<i8>
  %zw = graph.full 0 : tensor<ui8>
  %a = graph.dequantize %x, %s, %zx : (tensor<1x4x8x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %s, %zw : (tensor<4x1x3x3xui8>, tensor<f32>, tensor<ui8>)
  %y = graph.conv2d %a, %b, groups = 4 : (tensor<1x4x8x8xf32>, tensor<4x1x3x3xf32>)
  func.return %y : tensor<1x4x6x6xf32>
}

/// A zero point of weights need not be known.
// CHECK-LABEL: func.func @integer_conv2d_of_given_zero_point(
func.func @integer_conv2d_of_given_zero_point(%x: tensor<1x3x8x8xi8>, %w: tensor<4x3x1x1xi8>, %s: tensor<f32>, %zw: tensor<i8>) -> tensor<1x4x8x8xf32> {
  // CHECK: %[[Z:.*]] = graph.astype %zw, dtype = i32
  // CHECK: %[[SPREAD:.*]] = graph.reshape %[[Z]], shape = [-1, 1, 1]
  // CHECK: graph.multiply %{{.*}}, %[[SPREAD]] : (tensor<1x1x8x8xi32>, tensor<1x1x1xi32>)
  %zx = graph.full 0 : tensor<i8>
  %a = graph.dequantize %x, %s, %zx : (tensor<1x3x8x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %s, %zw : (tensor<4x3x1x1xi8>, tensor<f32>, tensor<i8>)
  %y = graph.conv2d %a, %b : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
  func.return %y : tensor<1x4x8x8xf32>
}

/// The image of words is two of bytes, the upper ones 256 times as much as the lower ones. Padding has the two bytes of
/// the zero point, 0x8005 once it has no sign.
// CHECK-LABEL: func.func @integer_conv2d_of_words(
func.func @integer_conv2d_of_words(%x: tensor<1x3x8x8xi16>, %w: tensor<4x3x3x3xi8>, %s: tensor<f32>) -> tensor<1x4x8x8xf32> {
  // CHECK-DAG: %[[VALUES:.*]] = graph.full 256.0 : tensor<f32>
  // CHECK-DAG: %[[SIGN:.*]] = graph.full -32768 : tensor<i16>
  // CHECK: %[[FLIPPED:.*]] = graph.bitwise_xor %x, %[[SIGN]]
  // CHECK: %[[WORDS:.*]] = graph.astype %[[FLIPPED]], dtype = ui16
  // CHECK: graph.right_shift %[[WORDS]]
  // CHECK: graph.bitwise_and %[[WORDS]]
  // CHECK: graph.pad %{{.*}}, pad_width = [0, 0, 0, 0, 1, 1, 1, 1], value = 128 : (tensor<1x3x8x8xui8>)
  // CHECK: graph.pad %{{.*}}, pad_width = [0, 0, 0, 0, 1, 1, 1, 1], value = 5 : (tensor<1x3x8x8xui8>)
  // CHECK: graph.conv2d %{{.*}}, %w, out_dtype = i32
  // CHECK: %[[UPPER:.*]] = graph.astype %{{.*}}, dtype = f32 : (tensor<1x4x8x8xi32>)
  // CHECK: %[[LOWER:.*]] = graph.astype %{{.*}}, dtype = f32 : (tensor<1x4x8x8xi32>)
  // CHECK: graph.ewise_fma %[[UPPER]], %[[VALUES]], %[[LOWER]]
  %zx = graph.full 5 : tensor<i16>
  %zw = graph.full 0 : tensor<i8>
  %a = graph.dequantize %x, %s, %zx : (tensor<1x3x8x8xi16>, tensor<f32>, tensor<i16>)
  %b = graph.dequantize %w, %s, %zw : (tensor<4x3x3x3xi8>, tensor<f32>, tensor<i8>)
  %y = graph.conv2d %a, %b, padding = [1, 1, 1, 1] : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
  func.return %y : tensor<1x4x8x8xf32>
}

// CHECK-LABEL: func.func @no_integer_conv2d_of_words_in_groups(
func.func @no_integer_conv2d_of_words_in_groups(%x: tensor<1x4x8x8xui16>, %w: tensor<4x1x3x3xi8>, %s: tensor<f32>) -> tensor<1x4x6x6xf32> {
  // CHECK: graph.conv2d %{{.*}} -> tensor<1x4x6x6xf32>
  // REMARK: remark: {{.*}}kept on floats: there is no kernel for groups of words or with zero points
  %zx = graph.full 0 : tensor<ui16>
  %zw = graph.full 0 : tensor<i8>
  %a = graph.dequantize %x, %s, %zx : (tensor<1x4x8x8xui16>, tensor<f32>, tensor<ui16>)
  %b = graph.dequantize %w, %s, %zw : (tensor<4x1x3x3xi8>, tensor<f32>, tensor<i8>)
  %y = graph.conv2d %a, %b, groups = 4 : (tensor<1x4x8x8xf32>, tensor<4x1x3x3xf32>)
  func.return %y : tensor<1x4x6x6xf32>
}

/// The scales of the weights are those of input channels.
// CHECK-LABEL: func.func @no_integer_conv2d_of_input_scales(
func.func @no_integer_conv2d_of_input_scales(%x: tensor<1x3x8x8xi8>, %w: tensor<4x3x3x3xi8>, %sx: tensor<f32>, %sw: tensor<3xf32>) -> tensor<1x4x6x6xf32> {
  // CHECK: graph.conv2d %{{.*}} -> tensor<1x4x6x6xf32>
  // REMARK: remark: {{.*}}kept on floats: the scales of the weights are not those of output channels
  %zx = graph.full 0 : tensor<i8>
  %zw = graph.full 0 : tensor<3xi8>
  %a = graph.dequantize %x, %sx, %zx : (tensor<1x3x8x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %sw, %zw, axis = 1 : (tensor<4x3x3x3xi8>, tensor<3xf32>, tensor<3xi8>)
  %y = graph.conv2d %a, %b : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
  func.return %y : tensor<1x4x6x6xf32>
}

/// One channel and one output in each group: a depthwise convolution.
// CHECK-LABEL: func.func @integer_conv2d_of_channels(
func.func @integer_conv2d_of_channels(%x: tensor<1x4x8x8xi8>, %w: tensor<4x1x3x3xi8>, %s: tensor<f32>) -> tensor<1x4x8x8xf32> {
  // CHECK: %[[PADDED:.*]] = graph.pad %x, pad_width = [0, 0, 0, 0, 1, 1, 1, 1], value = 3
  // CHECK: %[[SUMS:.*]] = graph.conv2d %[[PADDED]], %w, groups = 4, out_dtype = i32
  // CHECK: graph.subtract %[[SUMS]]
  %zx = graph.full 3 : tensor<i8>
  %zw = graph.full 0 : tensor<i8>
  %a = graph.dequantize %x, %s, %zx : (tensor<1x4x8x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %s, %zw : (tensor<4x1x3x3xi8>, tensor<f32>, tensor<i8>)
  %y = graph.conv2d %a, %b, padding = [1, 1, 1, 1], groups = 4 : (tensor<1x4x8x8xf32>, tensor<4x1x3x3xf32>)
  func.return %y : tensor<1x4x8x8xf32>
}

/// Groups of 16 channels and outputs or more are products of bytes each.
// CHECK-LABEL: func.func @integer_conv2d_of_groups(
func.func @integer_conv2d_of_groups(%x: tensor<1x32x8x8xi8>, %w: tensor<32x16x3x3xi8>, %s: tensor<f32>) -> tensor<1x32x6x6xf32> {
  // CHECK: graph.conv2d %x, %w, groups = 2, out_dtype = i32
  %z = graph.full 0 : tensor<i8>
  %a = graph.dequantize %x, %s, %z : (tensor<1x32x8x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %s, %z : (tensor<32x16x3x3xi8>, tensor<f32>, tensor<i8>)
  %y = graph.conv2d %a, %b, groups = 2 : (tensor<1x32x8x8xf32>, tensor<32x16x3x3xf32>)
  func.return %y : tensor<1x32x6x6xf32>
}

// CHECK-LABEL: func.func @no_integer_conv2d_of_groups(
func.func @no_integer_conv2d_of_groups(%x: tensor<1x4x8x8xi8>, %w: tensor<4x2x3x3xi8>, %s: tensor<f32>, %zx: tensor<i8>) -> tensor<1x4x6x6xf32> {
  // CHECK: graph.conv2d %{{.*}} -> tensor<1x4x6x6xf32>
  // REMARK: remark: {{.*}}kept on floats: there is no kernel on bytes for groups of few channels
  %z = graph.full 0 : tensor<i8>
  %a = graph.dequantize %x, %s, %z : (tensor<1x4x8x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %s, %z : (tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>)
  %y = graph.conv2d %a, %b, groups = 2 : (tensor<1x4x8x8xf32>, tensor<4x2x3x3xf32>)
  func.return %y : tensor<1x4x6x6xf32>
}

/// What both zero points add is subtracted: sums of columns, and sums of rows with what they have of the other one.
// CHECK-LABEL: func.func @integer_matmul(
func.func @integer_matmul(%x: tensor<2x3x8xi8>, %w: tensor<8x4xi8>, %s: tensor<f32>, %t: tensor<4xf32>) -> tensor<2x3x4xf32> {
  // CHECK: %[[BOTH:.*]] = graph.full -48 : tensor<i32>
  // CHECK: %[[B:.*]] = graph.full 3 : tensor<i32>
  // CHECK: %[[NONE:.*]] = graph.full 0 : tensor<i32>
  // CHECK: %[[A:.*]] = graph.full 2 : tensor<i32>
  // CHECK: %[[COLUMNS:.*]] = graph.sum %{{.*}}, axis = [-2], keepdims = true
  // CHECK: %[[LEFT:.*]] = graph.ewise_fma %[[COLUMNS]], %[[A]], %[[NONE]]
  // CHECK: %[[ROWS:.*]] = graph.sum %{{.*}}, axis = [-1], keepdims = true
  // CHECK: %[[RIGHT:.*]] = graph.ewise_fma %[[ROWS]], %[[B]], %[[BOTH]]
  // CHECK: %[[P:.*]] = graph.matmul %x, %w, out_dtype = i32
  // CHECK: %[[Q:.*]] = graph.subtract %[[P]], %[[LEFT]]
  // CHECK: %[[R:.*]] = graph.subtract %[[Q]], %[[RIGHT]]
  // CHECK: %[[S:.*]] = graph.multiply %s, %t
  // CHECK: %[[REAL:.*]] = graph.astype %[[R]], dtype = f32
  // CHECK: graph.multiply %[[REAL]], %[[S]]
  %zx = graph.full 2 : tensor<i8>
  %zw = graph.full 3 : tensor<4xi8>
  %a = graph.dequantize %x, %s, %zx : (tensor<2x3x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %t, %zw : (tensor<8x4xi8>, tensor<4xf32>, tensor<4xi8>)
  %y = graph.matmul %a, %b : (tensor<2x3x8xf32>, tensor<8x4xf32>)
  func.return %y : tensor<2x3x4xf32>
}

/// Each column has a zero point of its own, which the sums of rows are multiplied by.
// CHECK-LABEL: func.func @integer_matmul_of_columns(
func.func @integer_matmul_of_columns(%x: tensor<3x8xi8>, %w: tensor<8x2xi8>, %s: tensor<f32>, %t: tensor<2xf32>) -> tensor<3x2xf32> {
  // CHECK-DAG: %[[LESS:.*]] = graph.full -16 : tensor<i32>
  // CHECK: %[[Z:.*]] = graph.astype %{{.*}}, dtype = i32 : (tensor<2xi8>)
  // CHECK: %[[ROWS:.*]] = graph.sum %{{.*}}, axis = [-1], keepdims = true
  // CHECK: %[[FEWER:.*]] = graph.ewise_fma %[[ROWS]], %{{.*}}, %[[LESS]]
  // CHECK: %[[RIGHT:.*]] = graph.multiply %[[FEWER]], %[[Z]]
  // CHECK: %[[P:.*]] = graph.matmul %x, %w, out_dtype = i32
  // CHECK: %[[Q:.*]] = graph.subtract %[[P]]
  // CHECK: graph.subtract %[[Q]], %[[RIGHT]]
  %zx = graph.full 2 : tensor<i8>
  %zw = graph.constant dense<[3, -5]> : tensor<2xi8>
  %a = graph.dequantize %x, %s, %zx : (tensor<3x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %t, %zw : (tensor<8x2xi8>, tensor<2xf32>, tensor<2xi8>)
  %y = graph.matmul %a, %b : (tensor<3x8xf32>, tensor<8x2xf32>)
  func.return %y : tensor<3x2xf32>
}

/// A left operand of words is two of bytes, and so is its zero point: 770 is 3 and 2.
// CHECK-LABEL: func.func @integer_matmul_of_words(
func.func @integer_matmul_of_words(%x: tensor<3x8xui16>, %w: tensor<8x4xi8>, %s: tensor<f32>, %t: tensor<4xf32>) -> tensor<3x4xf32> {
  // CHECK-DAG: %[[VALUES:.*]] = graph.full 256.0 : tensor<f32>
  // CHECK-DAG: %[[TWO:.*]] = graph.full 2 : tensor<i32>
  // CHECK-DAG: %[[THREE:.*]] = graph.full 3 : tensor<i32>
  // CHECK-DAG: %[[MASK:.*]] = graph.full 255 : tensor<ui16>
  // CHECK-DAG: %[[BITS:.*]] = graph.full 8 : tensor<ui16>
  // CHECK: %[[SHIFTED:.*]] = graph.right_shift %x, %[[BITS]]
  // CHECK: %[[H:.*]] = graph.astype %[[SHIFTED]], dtype = ui8
  // CHECK: %[[MASKED:.*]] = graph.bitwise_and %x, %[[MASK]]
  // CHECK: %[[L:.*]] = graph.astype %[[MASKED]], dtype = ui8
  // CHECK: graph.ewise_fma %{{.*}}, %[[THREE]]
  // CHECK: graph.matmul %[[H]], %w, out_dtype = i32
  // CHECK: graph.ewise_fma %{{.*}}, %[[TWO]]
  // CHECK: graph.matmul %[[L]], %w, out_dtype = i32
  // CHECK: %[[REAL:.*]] = graph.ewise_fma %{{.*}}, %[[VALUES]], %{{.*}} : (tensor<3x4xf32>, tensor<f32>, tensor<3x4xf32>)
  // CHECK: graph.multiply %[[REAL]]
  %zx = graph.full 770 : tensor<ui16>
  %zw = graph.full 0 : tensor<4xi8>
  %a = graph.dequantize %x, %s, %zx : (tensor<3x8xui16>, tensor<f32>, tensor<ui16>)
  %b = graph.dequantize %w, %t, %zw : (tensor<8x4xi8>, tensor<4xf32>, tensor<4xi8>)
  %y = graph.matmul %a, %b : (tensor<3x8xf32>, tensor<8x4xf32>)
  func.return %y : tensor<3x4xf32>
}

/// Weights of 4 bits are bytes for 16 rows, and stay packed for fewer.
// CHECK-LABEL: func.func @integer_matmul_of_four_bits(
func.func @integer_matmul_of_four_bits(%x: tensor<16x32xui8>, %v: tensor<15x32xui8>) -> (tensor<16x4xf32>, tensor<15x4xf32>) {
  // CHECK: %[[W:.*]] = graph.astype %w, dtype = i8 : (tensor<32x4xui4>) -> tensor<32x4xi8>
  // CHECK: graph.matmul %x, %[[W]], out_dtype = i32
  // CHECK: graph.matmul_packed
  // REMARK: remark: {{.*}}kept on floats: the right operand is no tensor of bytes
  %w = graph.weight "w" : tensor<32x4xui4>
  %s = graph.full 0.5 : tensor<f32>
  %zx = graph.full 3 : tensor<ui8>
  %zw = graph.full 8 : tensor<ui4>
  %b = graph.dequantize %w, %s, %zw : (tensor<32x4xui4>, tensor<f32>, tensor<ui4>)
  %a = graph.dequantize %x, %s, %zx : (tensor<16x32xui8>, tensor<f32>, tensor<ui8>)
  %y = graph.matmul %a, %b : (tensor<16x32xf32>, tensor<32x4xf32>)
  %c = graph.dequantize %v, %s, %zx : (tensor<15x32xui8>, tensor<f32>, tensor<ui8>)
  %z = graph.matmul %c, %b : (tensor<15x32xf32>, tensor<32x4xf32>)
  func.return %y, %z : tensor<16x4xf32>, tensor<15x4xf32>
}

/// A zero point that is not known: bytes around the image stand for 0, and the sums of filters are multiplied by it.
// CHECK-LABEL: func.func @integer_conv2d_of_any_zero_point(
func.func @integer_conv2d_of_any_zero_point(%x: tensor<1x16x4x4xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<1x16x4x4xf32> {
  // CHECK: %[[Z:.*]] = graph.astype %z, dtype = i32
  // CHECK: %[[BYTE:.*]] = graph.astype %[[Z]], dtype = ui8
  // CHECK: %[[D:.*]] = graph.subtract %x, %[[BYTE]] : (tensor<1x16x4x4xui8>, tensor<ui8>) -> tensor<1x16x4x4xui8>
  // CHECK-NEXT: %[[P:.*]] = graph.pad %[[D]], pad_width = [0, 0, 0, 0, 1, 1, 1, 1] :
  // CHECK-NEXT: %[[I:.*]] = graph.add %[[P]], %[[BYTE]]
  // CHECK-NEXT: %[[Y:.*]] = graph.conv2d %[[I]], %w, out_dtype = i32
  // CHECK: %[[SUMS:.*]] = graph.weight "w#sums{{.*}}" : tensor<16xi32>
  // CHECK: %[[LESS:.*]] = graph.ewise_fma %[[SUMS]], %[[Z]],
  // CHECK: graph.subtract %[[Y]], %{{.*}}
  %w = graph.weight "w" : tensor<16x16x3x3xi8>
  %zw = graph.full 0 : tensor<i8>
  %a = graph.dequantize %x, %s, %z : (tensor<1x16x4x4xui8>, tensor<f32>, tensor<ui8>)
  %b = graph.dequantize %w, %s, %zw : (tensor<16x16x3x3xi8>, tensor<f32>, tensor<i8>)
  %y = graph.conv2d %a, %b, padding = [1, 1, 1, 1] : (tensor<1x16x4x4xf32>, tensor<16x16x3x3xf32>)
  func.return %y : tensor<1x16x4x4xf32>
}

/// Words with a zero point that is not known stay on floats.
// CHECK-LABEL: func.func @no_integer_conv2d_of_unknown_zero_points(
func.func @no_integer_conv2d_of_unknown_zero_points(%x: tensor<1x16x4x4xi16>, %w: tensor<16x16x1x1xi8>, %s: tensor<f32>, %z: tensor<i16>) -> tensor<1x16x4x4xf32> {
  // CHECK: graph.conv2d %{{.*}} -> tensor<1x16x4x4xf32>
  // REMARK: remark: {{.*}}kept on floats: the input zero point is not one number, or not a known one of words
  %zw = graph.full 0 : tensor<i8>
  %a = graph.dequantize %x, %s, %z : (tensor<1x16x4x4xi16>, tensor<f32>, tensor<i16>)
  %b = graph.dequantize %w, %s, %zw : (tensor<16x16x1x1xi8>, tensor<f32>, tensor<i8>)
  %y = graph.conv2d %a, %b : (tensor<1x16x4x4xf32>, tensor<16x16x1x1xf32>)
  func.return %y : tensor<1x16x4x4xf32>
}

// CHECK-LABEL: func.func @no_integer_matmul_of_a_vector(
func.func @no_integer_matmul_of_a_vector(%x: tensor<8xui8>, %w: tensor<8x4xi8>, %s: tensor<f32>) -> tensor<4xf32> {
  // CHECK: graph.matmul %{{.*}} -> tensor<4xf32>
  // REMARK: remark: {{.*}}kept on floats: the sums could exceed 32 bits, or an operand is a vector
  %zx = graph.full 0 : tensor<ui8>
  %zw = graph.full 0 : tensor<i8>
  %a = graph.dequantize %x, %s, %zx : (tensor<8xui8>, tensor<f32>, tensor<ui8>)
  %b = graph.dequantize %w, %s, %zw : (tensor<8x4xi8>, tensor<f32>, tensor<i8>)
  %y = graph.matmul %a, %b : (tensor<8xf32>, tensor<8x4xf32>)
  func.return %y : tensor<4xf32>
}

/// Words in a kernel have none on integers.
// CHECK-LABEL: func.func @no_integer_conv2d_of_words(
func.func @no_integer_conv2d_of_words(%x: tensor<1x16x4x4xui8>, %w: tensor<16x16x1x1xi16>, %s: tensor<f32>) -> tensor<1x16x4x4xf32> {
  // CHECK: graph.conv2d %{{.*}} -> tensor<1x16x4x4xf32>
  // REMARK: remark: {{.*}}kept on floats: the kernel is no tensor of bytes
  %zx = graph.full 0 : tensor<ui8>
  %zw = graph.full 0 : tensor<i16>
  %a = graph.dequantize %x, %s, %zx : (tensor<1x16x4x4xui8>, tensor<f32>, tensor<ui8>)
  %b = graph.dequantize %w, %s, %zw : (tensor<16x16x1x1xi16>, tensor<f32>, tensor<i16>)
  %y = graph.conv2d %a, %b : (tensor<1x16x4x4xf32>, tensor<16x16x1x1xf32>)
  func.return %y : tensor<1x16x4x4xf32>
}

/// Words to the right have no kernel.
// CHECK-LABEL: func.func @no_integer_matmul_of_words_to_the_right(
func.func @no_integer_matmul_of_words_to_the_right(%x: tensor<3x8xui8>, %w: tensor<8x4xi16>, %s: tensor<f32>) -> tensor<3x4xf32> {
  // CHECK: graph.matmul %{{.*}} -> tensor<3x4xf32>
  // REMARK: remark: {{.*}}kept on floats: the right operand is no tensor of bytes
  %zx = graph.full 0 : tensor<ui8>
  %zw = graph.full 0 : tensor<i16>
  %a = graph.dequantize %x, %s, %zx : (tensor<3x8xui8>, tensor<f32>, tensor<ui8>)
  %b = graph.dequantize %w, %s, %zw : (tensor<8x4xi16>, tensor<f32>, tensor<i16>)
  %y = graph.matmul %a, %b : (tensor<3x8xf32>, tensor<8x4xf32>)
  func.return %y : tensor<3x4xf32>
}

/// A left zero point that is not known, as of `DynamicQuantizeLinear`, is multiplied by the sums of columns.
// CHECK-LABEL: func.func @integer_matmul_of_any_zero_point(
func.func @integer_matmul_of_any_zero_point(%x: tensor<3x8xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<3x4xf32> {
  // CHECK: %[[Z:.*]] = graph.astype %z, dtype = i32
  // CHECK: %[[SUMS:.*]] = graph.weight "w#sums{{.*}}" : tensor<4xi32>
  // CHECK: %[[LESS:.*]] = graph.ewise_fma %[[SUMS]], %[[Z]], %{{.*}} : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<4xi32>
  // CHECK: %[[Y:.*]] = graph.matmul %x, %w, out_dtype = i32
  // CHECK-NEXT: graph.subtract %[[Y]], %[[LESS]]
  %a = graph.dequantize %x, %s, %z : (tensor<3x8xui8>, tensor<f32>, tensor<ui8>)
  %w = graph.weight "w" : tensor<8x4xi8>
  %zw = graph.full 0 : tensor<i8>
  %b = graph.dequantize %w, %s, %zw : (tensor<8x4xi8>, tensor<f32>, tensor<i8>)
  %y = graph.matmul %a, %b : (tensor<3x8xf32>, tensor<8x4xf32>)
  func.return %y : tensor<3x4xf32>
}

/// It counts once for each term, where the right zero point is not 0 either.
// CHECK-LABEL: func.func @integer_matmul_of_two_zero_points(
func.func @integer_matmul_of_two_zero_points(%x: tensor<3x8xi8>, %w: tensor<8x4xi8>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<3x4xf32> {
  // CHECK: %[[ROWS:.*]] = graph.sum %{{.*}}, axis = [-1], keepdims = true : (tensor<3x8xi32>) -> tensor<3x1xi32>
  // CHECK: %[[TERMS:.*]] = graph.ewise_fma %{{.*}} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
  // CHECK: graph.subtract %[[ROWS]], %[[TERMS]]
  // CHECK: graph.matmul %x, %w, out_dtype = i32
  %a = graph.dequantize %x, %s, %z : (tensor<3x8xi8>, tensor<f32>, tensor<i8>)
  %zw = graph.full 3 : tensor<i8>
  %b = graph.dequantize %w, %s, %zw : (tensor<8x4xi8>, tensor<f32>, tensor<i8>)
  %y = graph.matmul %a, %b : (tensor<3x8xf32>, tensor<8x4xf32>)
  func.return %y : tensor<3x4xf32>
}

/// A scale for each row, as of tokens, is multiplied before those of columns.
// CHECK-LABEL: func.func @integer_matmul_of_rows(
func.func @integer_matmul_of_rows(%x: tensor<2x3x8xi8>, %w: tensor<8x4xi8>, %s: tensor<3xf32>, %t: tensor<4xf32>) -> tensor<2x3x4xf32> {
  // CHECK: %[[Y:.*]] = graph.matmul %x, %w, out_dtype = i32
  // CHECK-NEXT: %[[R:.*]] = graph.astype %[[Y]], dtype = f32
  // CHECK-NEXT: %[[S:.*]] = graph.reshape %s, shape = [-1, 1] : (tensor<3xf32>) -> tensor<3x1xf32>
  // CHECK-NEXT: %[[T:.*]] = graph.multiply %[[R]], %[[S]]
  // CHECK-NEXT: graph.multiply %[[T]], %t : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %zx = graph.full 0 : tensor<3xi8>
  %zw = graph.full 0 : tensor<4xi8>
  %a = graph.dequantize %x, %s, %zx, axis = 1 : (tensor<2x3x8xi8>, tensor<3xf32>, tensor<3xi8>)
  %b = graph.dequantize %w, %t, %zw, axis = 1 : (tensor<8x4xi8>, tensor<4xf32>, tensor<4xi8>)
  %y = graph.matmul %a, %b : (tensor<2x3x8xf32>, tensor<8x4xf32>)
  func.return %y : tensor<2x3x4xf32>
}

/// Scales of terms, of samples and of rows with zero points that differ do not leave the sum.
// CHECK-LABEL: func.func @no_integer_matmul_of_rows(
func.func @no_integer_matmul_of_rows(%x: tensor<3x3x3xi8>, %w: tensor<3x4xi8>, %s: tensor<3xf32>, %t: tensor<f32>, %z: tensor<3xi8>) -> (tensor<3x3x4xf32>, tensor<3x3x4xf32>, tensor<3x3x4xf32>) {
  // CHECK-COUNT-3: graph.matmul %{{.*}} -> tensor<3x3x4xf32>
  // REMARK: remark: {{.*}}kept on floats: the scales of the left side are not those of rows
  %zx = graph.full 0 : tensor<3xi8>
  %zw = graph.full 0 : tensor<i8>
  %b = graph.dequantize %w, %t, %zw : (tensor<3x4xi8>, tensor<f32>, tensor<i8>)
  %a = graph.dequantize %x, %s, %zx, axis = 2 : (tensor<3x3x3xi8>, tensor<3xf32>, tensor<3xi8>)
  %y = graph.matmul %a, %b : (tensor<3x3x3xf32>, tensor<3x4xf32>)
  %c = graph.dequantize %x, %s, %zx, axis = 0 : (tensor<3x3x3xi8>, tensor<3xf32>, tensor<3xi8>)
  %u = graph.matmul %c, %b : (tensor<3x3x3xf32>, tensor<3x4xf32>)
  %d = graph.dequantize %x, %s, %z, axis = 1 : (tensor<3x3x3xi8>, tensor<3xf32>, tensor<3xi8>)
  %v = graph.matmul %d, %b : (tensor<3x3x3xf32>, tensor<3x4xf32>)
  func.return %y, %u, %v : tensor<3x3x4xf32>, tensor<3x3x4xf32>, tensor<3x3x4xf32>
}

/// Words are two bytes, which a zero point is cut into when it is known.
// CHECK-LABEL: func.func @no_integer_matmul(
func.func @no_integer_matmul(%x: tensor<3x8xi16>, %w: tensor<8x4xi8>, %s: tensor<f32>, %z: tensor<i16>) -> tensor<3x4xf32> {
  // CHECK: graph.matmul %{{.*}} -> tensor<3x4xf32>
  // REMARK: remark: {{.*}}kept on floats: the left zero point is not one number, or not a known one of words
  %a = graph.dequantize %x, %s, %z : (tensor<3x8xi16>, tensor<f32>, tensor<i16>)
  %zw = graph.full 3 : tensor<i8>
  %b = graph.dequantize %w, %s, %zw : (tensor<8x4xi8>, tensor<f32>, tensor<i8>)
  %y = graph.matmul %a, %b : (tensor<3x8xf32>, tensor<8x4xf32>)
  func.return %y : tensor<3x4xf32>
}

/// The conversions around it have one scale, so both go.
// CHECK-LABEL: func.func @integer_max_pool(
func.func @integer_max_pool(%q: tensor<1x2x4x4xi8>, %z: tensor<i8>) -> tensor<1x2x3x3xi8> {
  // CHECK-NEXT: %[[M:.*]] = graph.max_pool2d %q, pool_size = [2, 2] : (tensor<1x2x4x4xi8>) -> tensor<1x2x3x3xi8>
  // CHECK: func.return %[[M]]
  %u = graph.full 7 : tensor<i8>
  %s = graph.full 0.5 : tensor<f32>
  %d = graph.dequantize %q, %s, %u : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>)
  %m = graph.max_pool2d %d, pool_size = [2, 2] : (tensor<1x2x4x4xf32>)
  %y = graph.quantize %m, %s, %u : (tensor<1x2x3x3xf32>, tensor<f32>, tensor<i8>)
  func.return %y : tensor<1x2x3x3xi8>
}

/// Nothing computes on integers of 4 bits.
// CHECK-LABEL: func.func @no_integer_max_pool_of_nibbles(
func.func @no_integer_max_pool_of_nibbles(%q: tensor<1x2x4x4xi4>, %z: tensor<i4>) -> tensor<1x2x3x3xf32> {
  // CHECK: graph.dequantize
  // CHECK-NEXT: graph.max_pool2d
  %s = graph.full 0.5 : tensor<f32>
  %d = graph.dequantize %q, %s, %z : (tensor<1x2x4x4xi4>, tensor<f32>, tensor<i4>)
  %m = graph.max_pool2d %d, pool_size = [2, 2] : (tensor<1x2x4x4xf32>)
  func.return %m : tensor<1x2x3x3xf32>
}

/// The smallest element may become the greatest one.
// CHECK-LABEL: func.func @no_integer_max_pool(
func.func @no_integer_max_pool(%q: tensor<1x2x4x4xi8>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<1x2x3x3xf32> {
  // CHECK-NEXT: graph.dequantize
  // CHECK-NEXT: graph.max_pool2d
  %d = graph.dequantize %q, %s, %z : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>)
  %m = graph.max_pool2d %d, pool_size = [2, 2] : (tensor<1x2x4x4xf32>)
  func.return %m : tensor<1x2x3x3xf32>
}

/// Groups of few channels have a kernel on floats, which is exact for few terms.
// CHECK-LABEL: func.func @integer_groups(
// STRICT-LABEL: func.func @integer_groups(
func.func @integer_groups(%x: tensor<1x8x6x6xui8>, %w: tensor<4x4x3x3xi8>) -> tensor<1x4x6x6xi32> {
  // CHECK-DAG: %[[X:.*]] = graph.astype %x, dtype = f32
  // CHECK-DAG: %[[W:.*]] = graph.astype %w, dtype = f32
  // CHECK: %[[C:.*]] = graph.conv2d %[[X]], %[[W]], padding = [1, 1, 1, 1], groups = 2 : {{.*}} -> tensor<1x4x6x6xf32>
  // CHECK-NEXT: graph.astype %[[C]], dtype = i32
  // STRICT: graph.conv2d %{{.*}} -> tensor<1x4x6x6xf32>
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1], groups = 2, out_dtype = i32 : (tensor<1x8x6x6xui8>, tensor<4x4x3x3xi8>)
  func.return %y : tensor<1x4x6x6xi32>
}

/// 516 * 255 * 128 is more than 2^24, so a sum could be no number of f32.
// CHECK-LABEL: func.func @no_integer_groups_of_many_terms(
func.func @no_integer_groups_of_many_terms(%x: tensor<1x1032x1x1xui8>, %w: tensor<4x516x1x1xi8>) -> tensor<1x4x1x1xi32> {
  // CHECK: graph.conv2d %x, %w
  %y = graph.conv2d %x, %w, groups = 2, out_dtype = i32 : (tensor<1x1032x1x1xui8>, tensor<4x516x1x1xi8>)
  func.return %y : tensor<1x4x1x1xi32>
}

/// Sums of longer integers are larger.
// CHECK-LABEL: func.func @no_integer_groups_of_words(
func.func @no_integer_groups_of_words(%x: tensor<1x8x6x6xi16>, %w: tensor<4x4x3x3xi16>, %y: tensor<1x8x6x6xi8>) -> tensor<1x4x4x4xi32> {
  // CHECK-NOT: f32
  // CHECK: func.return
  %0 = graph.conv2d %x, %w, groups = 2, out_dtype = i32 : (tensor<1x8x6x6xi16>, tensor<4x4x3x3xi16>)
  func.return %0 : tensor<1x4x4x4xi32>
}

/// Kernels on bytes have two outputs or more, so one gets a second of zeros.
// CHECK-LABEL: func.func @integer_one_output(
// STRICT-LABEL: func.func @integer_one_output(
func.func @integer_one_output(%x: tensor<1x6x6x16xui8>, %w: tensor<3x3x16x1xi8>) -> tensor<1x4x4x1xi32> {
  // CHECK: %[[TWO:.*]] = graph.pad %w, pad_width = [0, 0, 0, 0, 0, 0, 0, 1] : (tensor<3x3x16x1xi8>) -> tensor<3x3x16x2xi8>
  // CHECK: %[[C:.*]] = graph.conv2d %x, %[[TWO]], {{.*}} -> tensor<1x4x4x2xi32>
  // CHECK: graph.strided_slice %[[C]], axes = [3], begin = [0], end = [1], strides = [1]
  // STRICT: graph.strided_slice
  %y = graph.conv2d %x, %w, data_layout = "NHWC", kernel_layout = "HWIO", out_dtype = i32 : (tensor<1x6x6x16xui8>, tensor<3x3x16x1xi8>)
  func.return %y : tensor<1x4x4x1xi32>
}

// CHECK-LABEL: func.func @no_integer_one_output(
func.func @no_integer_one_output(%x: tensor<1x16x6x6xui8>, %w: tensor<2x16x3x3xi8>) -> tensor<1x2x4x4xi32> {
  // CHECK-NEXT: graph.conv2d %x, %w
  %y = graph.conv2d %x, %w, out_dtype = i32 : (tensor<1x16x6x6xui8>, tensor<2x16x3x3xi8>)
  func.return %y : tensor<1x2x4x4xi32>
}

/// One channel in each group, one group, and groups of 16 channels: kernels on bytes.
// CHECK-LABEL: func.func @no_integer_groups_of_a_channel(
func.func @no_integer_groups_of_a_channel(%x: tensor<1x4x6x6xui8>, %w: tensor<4x1x3x3xi8>, %v: tensor<4x4x1x1xi8>, %a: tensor<1x32x6x6xui8>, %b: tensor<32x16x1x1xi8>) -> (tensor<1x4x4x4xi32>, tensor<1x4x6x6xi32>, tensor<1x32x6x6xi32>) {
  // CHECK: graph.conv2d %x, %w
  // CHECK: graph.conv2d %x, %v
  // CHECK: graph.conv2d %a, %b
  %y = graph.conv2d %x, %w, groups = 4, out_dtype = i32 : (tensor<1x4x6x6xui8>, tensor<4x1x3x3xi8>)
  %z = graph.conv2d %x, %v, out_dtype = i32 : (tensor<1x4x6x6xui8>, tensor<4x4x1x1xi8>)
  %c = graph.conv2d %a, %b, groups = 2, out_dtype = i32 : (tensor<1x32x6x6xui8>, tensor<32x16x1x1xi8>)
  func.return %y, %z, %c : tensor<1x4x4x4xi32>, tensor<1x4x6x6xi32>, tensor<1x32x6x6xi32>
}
