// RUN: stepwell-opt %s -p 'integer-arithmetic' | filecheck %s
// RUN: stepwell-opt %s -p 'integer-arithmetic{rules="integer-conv2d","scaled-by-reciprocal"}' | filecheck %s --check-prefix=WITHOUT
// RUN: stepwell-opt %s -p 'integer-arithmetic{numerics="strict"}' | filecheck %s --check-prefix=STRICT

// STRICT-NOT: out_dtype = i32

/// What scales and the bias make is one factor and one offset, known when weights are loaded. The way from the sums to the
/// bytes is what the zero point adds, a product, a sum and a rounding. A key names the sums of the weights.
// CHECK-LABEL: func.func @layer(
// CHECK: %[[SUMS:.*]] = graph.conv2d %x, %w, out_dtype = i32
// CHECK: %[[LESS:.*]] = graph.weight "w#sums0*3" : tensor<4xi32>
// CHECK: %[[SPREAD:.*]] = graph.reshape %[[LESS]], shape = [-1, 1, 1]
// CHECK: %[[ALL:.*]] = graph.subtract %[[SUMS]], %[[SPREAD]]
// CHECK: %[[REAL:.*]] = graph.astype %[[ALL]], dtype = f32
// CHECK: %[[SCALED:.*]] = graph.multiply %[[REAL]], %{{.*}} : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>)
// CHECK: %[[TOTAL:.*]] = graph.add %[[SCALED]], %{{.*}} : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>)
// CHECK-NOT: tensor<1x4x6x6xf32>)
// CHECK: graph.quantize %[[TOTAL]], %{{.*}}, %{{.*}} -> tensor<1x4x6x6xi8>
// CHECK-NEXT: func.return
// WITHOUT-LABEL: func.func @layer(
// WITHOUT: graph.multiply {{.*}} : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>)
// WITHOUT: graph.add {{.*}} : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>)
// WITHOUT: graph.requantize {{.*}} : (tensor<1x4x6x6xf32>, tensor<f32>, tensor<i8>)
func.func @layer(%x: tensor<1x3x8x8xi8>) -> tensor<1x4x6x6xi8> {
  %w = graph.weight "w" : tensor<4x3x3x3xi8>
  %sw = graph.weight "sw" : tensor<4xf32>
  %bias = graph.weight "bias" : tensor<4x1x1xf32>
  %sx = graph.full 0.5 : tensor<f32>
  %sy = graph.full 0.25 : tensor<f32>
  %zx = graph.full 3 : tensor<i8>
  %zw = graph.full 0 : tensor<4xi8>
  %zy = graph.full -5 : tensor<i8>
  %a = graph.dequantize %x, %sx, %zx : (tensor<1x3x8x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %sw, %zw, axis = 0 : (tensor<4x3x3x3xi8>, tensor<4xf32>, tensor<4xi8>)
  %c = graph.conv2d %a, %b : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
  %d = graph.add %c, %bias : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>)
  %y = graph.quantize %d, %sy, %zy : (tensor<1x4x6x6xf32>, tensor<f32>, tensor<i8>)
  func.return %y : tensor<1x4x6x6xi8>
}

/// Without a bias the sums become bytes at once. There is one multiplier for each channel.
// CHECK-LABEL: func.func @products(
// CHECK: %[[SUMS:.*]] = graph.conv2d
// CHECK: %[[FACTOR:.*]] = graph.multiply {{.*}} : (tensor<4xf32>, tensor<f32>)
// CHECK: graph.requantize %[[SUMS]], %[[FACTOR]], %{{.*}} : (tensor<1x4x6x6xi32>, tensor<4xf32>, tensor<i8>) -> tensor<1x4x6x6xi8>
// CHECK-NEXT: func.return
func.func @products(%x: tensor<1x3x8x8xi8>) -> tensor<1x4x6x6xi8> {
  %w = graph.weight "w" : tensor<4x3x3x3xi8>
  %sw = graph.weight "sw" : tensor<4xf32>
  %sx = graph.full 0.5 : tensor<f32>
  %sy = graph.full 0.25 : tensor<f32>
  %z = graph.full 0 : tensor<i8>
  %zw = graph.full 0 : tensor<4xi8>
  %a = graph.dequantize %x, %sx, %z : (tensor<1x3x8x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %sw, %zw, axis = 0 : (tensor<4x3x3x3xi8>, tensor<4xf32>, tensor<4xi8>)
  %c = graph.conv2d %a, %b : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
  %y = graph.quantize %c, %sy, %z : (tensor<1x4x6x6xf32>, tensor<f32>, tensor<i8>)
  func.return %y : tensor<1x4x6x6xi8>
}

/// What constants make is a constant. The columns of a matrix are its last axis.
// CHECK-LABEL: func.func @requantised_sums(
// CHECK: %[[SUMS:.*]] = graph.matmul
// CHECK: %[[FACTOR:.*]] = graph.constant dense<[1.0, 2.0, 0.5, 4.0]> : tensor<4xf32>
// CHECK: graph.requantize %[[SUMS]], %[[FACTOR]], %{{.*}}, axis = 2 : (tensor<2x3x4xi32>, tensor<4xf32>, tensor<ui8>) -> tensor<2x3x4xui8>
func.func @requantised_sums(%x: tensor<2x3x8xi8>) -> tensor<2x3x4xui8> {
  %w = graph.weight "m" : tensor<8x4xi8>
  %sw = graph.constant dense<[0.5, 1.0, 0.25, 2.0]> : tensor<4xf32>
  %sx = graph.full 0.5 : tensor<f32>
  %sy = graph.full 0.25 : tensor<f32>
  %z = graph.full 0 : tensor<i8>
  %zw = graph.full 0 : tensor<4xi8>
  %zy = graph.full 3 : tensor<ui8>
  %a = graph.dequantize %x, %sx, %z : (tensor<2x3x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %sw, %zw, axis = 1 : (tensor<8x4xi8>, tensor<4xf32>, tensor<4xi8>)
  %c = graph.matmul %a, %b : (tensor<2x3x8xf32>, tensor<8x4xf32>)
  %y = graph.quantize %c, %sy, %zy : (tensor<2x3x4xf32>, tensor<f32>, tensor<ui8>)
  func.return %y : tensor<2x3x4xui8>
}

/// One scale and zero point that are written for each channel are one.
// CHECK-LABEL: func.func @one_zero_point(
// CHECK: graph.requantize %x, %{{.*}}, %{{.*}}, axis = 0 : (tensor<4x2xi32>, tensor<4xf32>, tensor<i8>)
func.func @one_zero_point(%x: tensor<4x2xi32>) -> tensor<4x2xi8> {
  %f = graph.weight "f" : tensor<4x1xf32>
  %s = graph.full 0.25 : tensor<2xf32>
  %z = graph.full 3 : tensor<2xi8>
  %a = graph.astype %x, dtype = f32 : (tensor<4x2xi32>)
  %b = graph.multiply %a, %f : (tensor<4x2xf32>, tensor<4x1xf32>)
  %y = graph.quantize %b, %s, %z : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xi8>)
  func.return %y : tensor<4x2xi8>
}

/// The factors are along two axes, so they are multiplied before.
// CHECK-LABEL: func.func @no_requantised_sums(
// CHECK: %[[REAL:.*]] = graph.multiply
// CHECK: graph.requantize %[[REAL]], %{{.*}} : (tensor<4x2xf32>, tensor<f32>, tensor<i8>)
func.func @no_requantised_sums(%x: tensor<4x2xi32>) -> tensor<4x2xi8> {
  %f = graph.weight "f" : tensor<4x2xf32>
  %s = graph.full 0.25 : tensor<f32>
  %z = graph.full 3 : tensor<i8>
  %a = graph.astype %x, dtype = f32 : (tensor<4x2xi32>)
  %b = graph.multiply %a, %f : (tensor<4x2xf32>, tensor<4x2xf32>)
  %y = graph.quantize %b, %s, %z : (tensor<4x2xf32>, tensor<f32>, tensor<i8>)
  func.return %y : tensor<4x2xi8>
}

/// A row of factors makes a matrix of the column of sums.
// CHECK-LABEL: func.func @no_requantised_sums_that_grow(
// CHECK: graph.requantize %{{.*}}, %{{.*}} : (tensor<4x2xf32>, tensor<f32>, tensor<i8>)
func.func @no_requantised_sums_that_grow(%x: tensor<4x1xi32>) -> tensor<4x2xi8> {
  %f = graph.weight "f" : tensor<2xf32>
  %s = graph.full 0.25 : tensor<f32>
  %z = graph.full 3 : tensor<i8>
  %a = graph.astype %x, dtype = f32 : (tensor<4x1xi32>)
  %b = graph.multiply %a, %f : (tensor<4x1xf32>, tensor<2xf32>)
  %y = graph.quantize %b, %s, %z : (tensor<4x2xf32>, tensor<f32>, tensor<i8>)
  func.return %y : tensor<4x2xi8>
}

/// Steps of 32 bits are more than f32 counts. Each channel has a zero point of its own, or a scale of its own. The
/// reciprocal of the scale is an infinity.
/// Numbers of f16 are multiplied in f32. Quotients of f16 have no steps of 16 bits, so these stay.
// CHECK-LABEL: func.func @scaled_by_reciprocal_of_f16(
// CHECK: %[[X:.*]] = graph.astype %x, dtype = f32 : (tensor<4x2xf16>) -> tensor<4x2xf32>
// CHECK-NEXT: graph.requantize %[[X]], %{{.*}}, %z : (tensor<4x2xf32>, tensor<f32>, tensor<i8>) -> tensor<4x2xi8>
// CHECK-NEXT: graph.quantize %x
func.func @scaled_by_reciprocal_of_f16(%x: tensor<4x2xf16>) -> (tensor<4x2xi8>, tensor<4x2xi16>) {
  %s = graph.full 0.25 : tensor<f16>
  %z = graph.full 3 : tensor<i8>
  %w = graph.full 3 : tensor<i16>
  %0 = graph.quantize %x, %s, %z : (tensor<4x2xf16>, tensor<f16>, tensor<i8>)
  %1 = graph.quantize %x, %s, %w : (tensor<4x2xf16>, tensor<f16>, tensor<i16>)
  func.return %0, %1 : tensor<4x2xi8>, tensor<4x2xi16>
}

// CHECK-LABEL: func.func @no_scaled_by_reciprocal(
// CHECK-NOT: graph.requantize
func.func @no_scaled_by_reciprocal(%x: tensor<4x2xf32>)
    -> (tensor<4x2xi32>, tensor<4x2xi8>, tensor<4x2xi8>, tensor<4x2xi8>) {
  %s = graph.full 0.25 : tensor<f32>
  %tiny = graph.full 1.0e-45 : tensor<f32>
  %same = graph.full 0.25 : tensor<2xf32>
  %own = graph.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %wide = graph.full 3 : tensor<i32>
  %z = graph.full 3 : tensor<i8>
  %both = graph.full 3 : tensor<2xi8>
  %zeros = graph.constant dense<[3, 4]> : tensor<2xi8>
  %0 = graph.quantize %x, %s, %wide : (tensor<4x2xf32>, tensor<f32>, tensor<i32>)
  %1 = graph.quantize %x, %same, %zeros : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xi8>)
  %2 = graph.quantize %x, %own, %both : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xi8>)
  %3 = graph.quantize %x, %tiny, %z : (tensor<4x2xf32>, tensor<f32>, tensor<i8>)
  func.return %0, %1, %2, %3 : tensor<4x2xi32>, tensor<4x2xi8>, tensor<4x2xi8>, tensor<4x2xi8>
}

/// Bytes without signs count less 128 in the sums.
// CHECK-LABEL: func.func @sums_of_unsigned_weights(
// CHECK: graph.weight "u#sums0*3" : tensor<4xi32>
func.func @sums_of_unsigned_weights(%x: tensor<1x3x8x8xi8>) -> tensor<1x4x6x6xf32> {
  %w = graph.weight "u" : tensor<4x3x3x3xui8>
  %s = graph.full 0.5 : tensor<f32>
  %z = graph.full 128 : tensor<ui8>
  %zx = graph.full 3 : tensor<i8>
  %a = graph.dequantize %x, %s, %zx : (tensor<1x3x8x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %s, %z : (tensor<4x3x3x3xui8>, tensor<f32>, tensor<ui8>)
  %c = graph.conv2d %a, %b : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
  func.return %c : tensor<1x4x6x6xf32>
}

/// The columns of a transposed weight are its rows.
// CHECK-LABEL: func.func @sums_of_transposed_weights(
// CHECK: graph.weight "t#sums0*3" : tensor<4xi32>
func.func @sums_of_transposed_weights(%x: tensor<2x3x8xi8>) -> tensor<2x3x4xf32> {
  %w = graph.weight "t" : tensor<4x8xi8>
  %s = graph.full 0.5 : tensor<f32>
  %z = graph.full 0 : tensor<i8>
  %zx = graph.full 3 : tensor<i8>
  %a = graph.dequantize %x, %s, %zx : (tensor<2x3x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %s, %z : (tensor<4x8xi8>, tensor<f32>, tensor<i8>)
  %t = graph.permute_dims %b : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %c = graph.matmul %a, %t : (tensor<2x3x8xf32>, tensor<8x4xf32>)
  func.return %c : tensor<2x3x4xf32>
}

/// A batch of matrices has sums for each of them, which no key names.
// CHECK-LABEL: func.func @no_sums_of_batches(
// CHECK: graph.sum %{{.*}}, axis = [-2], keepdims = true : (tensor<2x8x4xi32>)
// CHECK-NOT: #sums
func.func @no_sums_of_batches(%x: tensor<2x3x8xi8>) -> tensor<2x3x4xf32> {
  %w = graph.weight "batch" : tensor<2x8x4xi8>
  %s = graph.full 0.5 : tensor<f32>
  %z = graph.full 0 : tensor<i8>
  %zx = graph.full 3 : tensor<i8>
  %a = graph.dequantize %x, %s, %zx : (tensor<2x3x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %s, %z : (tensor<2x8x4xi8>, tensor<f32>, tensor<i8>)
  %c = graph.matmul %a, %b : (tensor<2x3x8xf32>, tensor<2x8x4xf32>)
  func.return %c : tensor<2x3x4xf32>
}

/// The bias is an argument, so it is added on its own, and the scale of the result comes last.
// CHECK-LABEL: func.func @no_scaled_sums(
// CHECK: %[[SUM:.*]] = graph.add %{{.*}}, %bias
// CHECK: graph.requantize %[[SUM]]
func.func @no_scaled_sums(%x: tensor<1x3x8x8xi8>, %bias: tensor<4x1x1xf32>) -> tensor<1x4x6x6xi8> {
  %w = graph.weight "w" : tensor<4x3x3x3xi8>
  %s = graph.full 0.5 : tensor<f32>
  %sy = graph.full 0.25 : tensor<f32>
  %z = graph.full 0 : tensor<i8>
  %a = graph.dequantize %x, %s, %z : (tensor<1x3x8x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %s, %z : (tensor<4x3x3x3xi8>, tensor<f32>, tensor<i8>)
  %c = graph.conv2d %a, %b : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
  %d = graph.add %c, %bias : (tensor<1x4x6x6xf32>, tensor<4x1x1xf32>)
  %y = graph.quantize %d, %sy, %z : (tensor<1x4x6x6xf32>, tensor<f32>, tensor<i8>)
  func.return %y : tensor<1x4x6x6xi8>
}

/// A square has no factor that is computed when weights are loaded but the product itself.
// CHECK-LABEL: func.func @no_scaled_products_of_a_square(
// CHECK: %[[REAL:real]] = graph.multiply %{{.*}}, %f
// CHECK-NEXT: graph.multiply %[[REAL]], %[[REAL]]
func.func @no_scaled_products_of_a_square() -> tensor<4xf32> {
  %sums = graph.weight "sums" : tensor<4xi32>
  %f = graph.weight "f" : tensor<4xf32>
  %x = graph.astype %sums, dtype = f32 : (tensor<4xi32>)
  %real = graph.multiply %x, %f : (tensor<4xf32>, tensor<4xf32>)
  %y = graph.multiply %real, %real : (tensor<4xf32>, tensor<4xf32>)
  func.return %y : tensor<4xf32>
}

/// The real numbers have another user, which wants them as they are.
// CHECK-LABEL: func.func @no_scaled_products(
// CHECK: %[[REAL:real]] = graph.multiply
// CHECK: graph.requantize %[[REAL]]
// CHECK: func.return %[[REAL]]
func.func @no_scaled_products(%x: tensor<1x3x8x8xi8>) -> (tensor<1x4x6x6xf32>, tensor<1x4x6x6xi8>) {
  %w = graph.weight "w" : tensor<4x3x3x3xi8>
  %s = graph.full 0.5 : tensor<f32>
  %sy = graph.full 0.25 : tensor<f32>
  %z = graph.full 0 : tensor<i8>
  %a = graph.dequantize %x, %s, %z : (tensor<1x3x8x8xi8>, tensor<f32>, tensor<i8>)
  %b = graph.dequantize %w, %s, %z : (tensor<4x3x3x3xi8>, tensor<f32>, tensor<i8>)
  %real = graph.conv2d %a, %b : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
  %y = graph.quantize %real, %sy, %z : (tensor<1x4x6x6xf32>, tensor<f32>, tensor<i8>)
  func.return %real, %y : tensor<1x4x6x6xf32>, tensor<1x4x6x6xi8>
}

/// So are sums and differences that the program returns.
// CHECK-LABEL: func.func @no_scaled_products_with_another_user(
// CHECK: %y = graph.multiply %real, %r
func.func @no_scaled_products_with_another_user(%sums: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %f = graph.weight "f" : tensor<4xf32>
  %b = graph.weight "b" : tensor<4xf32>
  %r = graph.full 0.25 : tensor<f32>
  %x = graph.astype %sums, dtype = f32 : (tensor<4xi32>)
  %real = graph.multiply %x, %f : (tensor<4xf32>, tensor<4xf32>)
  %y = graph.multiply %real, %r : (tensor<4xf32>, tensor<f32>)
  func.return %real, %y : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @no_scaled_sums_with_another_user(
// CHECK: %y = graph.multiply %real, %r
func.func @no_scaled_sums_with_another_user(%sums: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %f = graph.weight "f" : tensor<4xf32>
  %b = graph.weight "b" : tensor<4xf32>
  %r = graph.full 0.25 : tensor<f32>
  %x = graph.astype %sums, dtype = f32 : (tensor<4xi32>)
  %p = graph.multiply %x, %f : (tensor<4xf32>, tensor<4xf32>)
  %real = graph.add %p, %b : (tensor<4xf32>, tensor<4xf32>)
  %y = graph.multiply %real, %r : (tensor<4xf32>, tensor<f32>)
  func.return %real, %y : tensor<4xf32>, tensor<4xf32>
}

/// Bytes below the zero point are cut off, as the zero point is the least byte.
// CHECK-LABEL: func.func @integer_relu(
// CHECK-NOT: graph.relu
// CHECK: graph.requantize
func.func @integer_relu(%x: tensor<4xf32>) -> tensor<4xi8> {
  %s = graph.full 0.25 : tensor<f32>
  %z = graph.full -128 : tensor<i8>
  %r = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.quantize %r, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>)
  func.return %y : tensor<4xi8>
}

// CHECK-LABEL: func.func @no_integer_relu(
// CHECK: graph.relu
func.func @no_integer_relu(%x: tensor<4xf32>) -> tensor<4xi8> {
  %s = graph.full 0.25 : tensor<f32>
  %z = graph.full -127 : tensor<i8>
  %r = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.quantize %r, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>)
  func.return %y : tensor<4xi8>
}
