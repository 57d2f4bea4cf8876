// RUN: stepwell-opt %s -p 'integer-arithmetic{rules=dequantised-by-scale,dequantised-around-zeros,dequantised-by-one}' | filecheck %s
// RUN: stepwell-opt %s -p 'integer-arithmetic{numerics=strict}' | filecheck %s --check-prefix STRICT

/// A scale for each column. Bits stay the same, so strict numerics allow it.
// CHECK-LABEL: func.func @dequantised_by_scale(
// CHECK: %[[Z:.*]] = graph.full 0 : tensor<8xi8>
// CHECK: %[[S:.*]] = graph.reshape %s, shape = [8] : (tensor<1x8xf32>) -> tensor<8xf32>
// CHECK-NEXT: graph.dequantize %w, %[[S]], %[[Z]] : (tensor<32x8xi8>, tensor<8xf32>, tensor<8xi8>) -> tensor<32x8xf32>
// CHECK-NEXT: graph.matmul
// STRICT-LABEL: func.func @dequantised_by_scale(
// STRICT: graph.dequantize
func.func @dequantised_by_scale(%x: tensor<3x32xf32>) -> tensor<3x8xf32> {
  %w = graph.weight "w" : tensor<32x8xi8>
  %s = graph.weight "s" : tensor<1x8xf32>
  %f = graph.astype %w, dtype = f32 : (tensor<32x8xi8>) -> tensor<32x8xf32>
  %d = graph.multiply %s, %f : (tensor<1x8xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>
  %y = graph.matmul %x, %d : (tensor<3x32xf32>, tensor<32x8xf32>) -> tensor<3x8xf32>
  func.return %y : tensor<3x8xf32>
}

/// One scale for all, of f16.
// CHECK-LABEL: func.func @dequantised_by_one_scale(
// CHECK: graph.dequantize %w, %{{.*}}, %{{.*}} : (tensor<32x8xui8>, tensor<f16>, tensor<ui8>) -> tensor<32x8xf16>
func.func @dequantised_by_one_scale() -> tensor<32x8xf16> {
  %w = graph.weight "w" : tensor<32x8xui8>
  %s = graph.full 0.5 : tensor<1x1xf16>
  %f = graph.astype %w, dtype = f16 : (tensor<32x8xui8>) -> tensor<32x8xf16>
  %d = graph.multiply %f, %s : (tensor<32x8xf16>, tensor<1x1xf16>) -> tensor<32x8xf16>
  func.return %d : tensor<32x8xf16>
}

/// Neither what the caller gives, nor a scale for each element, nor integers of 32 bits.
// CHECK-LABEL: func.func @no_dequantised_by_scale(
// CHECK-NOT: graph.dequantize
func.func @no_dequantised_by_scale(%q: tensor<4x8xi8>, %t: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %w = graph.weight "w" : tensor<4x8xi8>
  %v = graph.weight "v" : tensor<4x8xi32>
  %s = graph.weight "s" : tensor<8xf32>
  %e = graph.weight "e" : tensor<4x8xf32>
  %f = graph.astype %q, dtype = f32 : (tensor<4x8xi8>) -> tensor<4x8xf32>
  %a = graph.multiply %f, %s : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %g = graph.astype %w, dtype = f32 : (tensor<4x8xi8>) -> tensor<4x8xf32>
  %b = graph.multiply %g, %t : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %c = graph.multiply %g, %e : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %h = graph.astype %v, dtype = f32 : (tensor<4x8xi32>) -> tensor<4x8xf32>
  %d = graph.multiply %h, %s : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %a, %b, %c, %d : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

/// Blocks with zero points, both weights. The integers become as wide as the zero points.
// CHECK-LABEL: func.func @dequantised_around_zeros(
// CHECK: %[[W:.*]] = graph.astype %w, dtype = ui8 : (tensor<8x4x16xui4>) -> tensor<8x4x16xui8>
// CHECK-NEXT: graph.dequantize %[[W]], %s, %z, axis = 2, block_size = 16 : (tensor<8x4x16xui8>, tensor<8x4x1xf32>, tensor<8x4x1xui8>) -> tensor<8x4x16xf32>
func.func @dequantised_around_zeros() -> tensor<8x4x16xf32> {
  %w = graph.weight "w" : tensor<8x4x16xui4>
  %s = graph.weight "s" : tensor<8x4x1xf32>
  %z = graph.weight "z" : tensor<8x4x1xui8>
  %f = graph.astype %w, dtype = f32 : (tensor<8x4x16xui4>) -> tensor<8x4x16xf32>
  %g = graph.astype %z, dtype = f32 : (tensor<8x4x1xui8>) -> tensor<8x4x1xf32>
  %c = graph.subtract %f, %g : (tensor<8x4x16xf32>, tensor<8x4x1xf32>) -> tensor<8x4x16xf32>
  %d = graph.multiply %c, %s : (tensor<8x4x16xf32>, tensor<8x4x1xf32>) -> tensor<8x4x16xf32>
  func.return %d : tensor<8x4x16xf32>
}

/// One zero point for all scales: a number, and one that only the file says.
// CHECK-LABEL: func.func @dequantised_around_one_zero(
// CHECK: %[[Z:.*]] = graph.full 7 : tensor<4xi8>
// CHECK: graph.dequantize %w, %{{.*}}, %[[Z]], axis = 0
// CHECK: %[[Y:.*]] = graph.broadcast_to %z, shape = [4] : (tensor<i8>) -> tensor<4xi8>
// CHECK: graph.dequantize %w, %{{.*}}, %[[Y]], axis = 0
func.func @dequantised_around_one_zero() -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %w = graph.weight "w" : tensor<4x8xi8>
  %s = graph.weight "s" : tensor<4x1xf32>
  %seven = graph.full 7.0 : tensor<f32>
  %z = graph.weight "z" : tensor<i8>
  %g = graph.astype %z, dtype = f32 : (tensor<i8>) -> tensor<f32>
  %f = graph.astype %w, dtype = f32 : (tensor<4x8xi8>) -> tensor<4x8xf32>
  %a = graph.subtract %f, %seven : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %b = graph.multiply %a, %s : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %c = graph.subtract %f, %g : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %d = graph.multiply %c, %s : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %b, %d : tensor<4x8xf32>, tensor<4x8xf32>
}

/// Zero points between integers, beyond their type, of a narrower type, along another axis, and floats of a file.
// CHECK-LABEL: func.func @no_dequantised_around_zeros(
// CHECK-NOT: graph.dequantize
func.func @no_dequantised_around_zeros() -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %w = graph.weight "w" : tensor<4x4xi8>
  %s = graph.weight "s" : tensor<4x1xf32>
  %f = graph.astype %w, dtype = f32 : (tensor<4x4xi8>) -> tensor<4x4xf32>
  %half = graph.full 7.5 : tensor<f32>
  %a = graph.subtract %f, %half : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %b = graph.multiply %a, %s : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %large = graph.full 128.0 : tensor<f32>
  %c = graph.subtract %f, %large : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %d = graph.multiply %c, %s : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %z = graph.weight "z" : tensor<4x1xi4>
  %g = graph.astype %z, dtype = f32 : (tensor<4x1xi4>) -> tensor<4x1xf32>
  %h = graph.subtract %f, %g : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %i = graph.multiply %h, %s : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %rows = graph.weight "rows" : tensor<4xi8>
  %j = graph.astype %rows, dtype = f32 : (tensor<4xi8>) -> tensor<4xf32>
  %k = graph.subtract %f, %j : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %l = graph.multiply %k, %s : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %floats = graph.weight "floats" : tensor<4x1xf32>
  %m = graph.subtract %f, %floats : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %n = graph.multiply %m, %s : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  func.return %b, %d, %i, %l, %n : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

/// Scales that are multiplied after the product: the weights themselves have one of 1.
// CHECK-LABEL: func.func @dequantised_by_one(
// CHECK: %[[ONE:.*]] = graph.full 1.0 : tensor<f32>
// CHECK: %[[D:.*]] = graph.dequantize %w, %[[ONE]], %{{.*}} : (tensor<8x32xi8>, tensor<f32>, tensor<i8>) -> tensor<8x32xf32>
// CHECK-NEXT: graph.permute_dims %[[D]]
// CHECK: graph.multiply
func.func @dequantised_by_one(%x: tensor<3x32xf32>) -> tensor<3x8xf32> {
  %w = graph.weight "w" : tensor<8x32xi8>
  %s = graph.weight "s" : tensor<8xf32>
  %f = graph.astype %w, dtype = f32 : (tensor<8x32xi8>) -> tensor<8x32xf32>
  %t = graph.permute_dims %f : (tensor<8x32xf32>) -> tensor<32x8xf32>
  %y = graph.matmul %x, %t : (tensor<3x32xf32>, tensor<32x8xf32>) -> tensor<3x8xf32>
  %z = graph.multiply %y, %s : (tensor<3x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  func.return %z : tensor<3x8xf32>
}

/// Left operands, what is added, and what a caller gives stay as they are.
// CHECK-LABEL: func.func @no_dequantised_by_one(
// CHECK-NOT: graph.dequantize
func.func @no_dequantised_by_one(%x: tensor<32x3xf32>, %q: tensor<3x8xi8>) -> (tensor<8x3xf32>, tensor<8x32xf32>, tensor<32x8xf32>) {
  %w = graph.weight "w" : tensor<8x32xi8>
  %f = graph.astype %w, dtype = f32 : (tensor<8x32xi8>) -> tensor<8x32xf32>
  %y = graph.matmul %f, %x : (tensor<8x32xf32>, tensor<32x3xf32>) -> tensor<8x3xf32>
  %a = graph.add %f, %f : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  %g = graph.astype %q, dtype = f32 : (tensor<3x8xi8>) -> tensor<3x8xf32>
  %z = graph.matmul %x, %g : (tensor<32x3xf32>, tensor<3x8xf32>) -> tensor<32x8xf32>
  func.return %y, %a, %z : tensor<8x3xf32>, tensor<8x32xf32>, tensor<32x8xf32>
}

/// Kernels of bytes compute no f64.
// CHECK-LABEL: func.func @no_dequantised_f64(
// CHECK-NOT: graph.dequantize
func.func @no_dequantised_f64(%x: tensor<3x32xf64>) -> (tensor<32x8xf64>, tensor<32x8xf64>, tensor<3x8xf64>) {
  %w = graph.weight "w" : tensor<32x8xi8>
  %s = graph.weight "s" : tensor<8xf64>
  %z = graph.full 7.0 : tensor<f64>
  %f = graph.astype %w, dtype = f64 : (tensor<32x8xi8>) -> tensor<32x8xf64>
  %a = graph.multiply %f, %s : (tensor<32x8xf64>, tensor<8xf64>) -> tensor<32x8xf64>
  %b = graph.subtract %f, %z : (tensor<32x8xf64>, tensor<f64>) -> tensor<32x8xf64>
  %c = graph.multiply %b, %s : (tensor<32x8xf64>, tensor<8xf64>) -> tensor<32x8xf64>
  %y = graph.matmul %x, %f : (tensor<3x32xf64>, tensor<32x8xf64>) -> tensor<3x8xf64>
  func.return %a, %c, %y : tensor<32x8xf64>, tensor<32x8xf64>, tensor<3x8xf64>
}

/// Neither scales nor integers with zero points may come from the caller.
// CHECK-LABEL: func.func @no_dequantised_around_zeros_of_the_caller(
// CHECK-NOT: graph.dequantize
func.func @no_dequantised_around_zeros_of_the_caller(%q: tensor<4x8xi8>, %t: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %w = graph.weight "w" : tensor<4x8xi8>
  %s = graph.weight "s" : tensor<8xf32>
  %z = graph.full 7.0 : tensor<f32>
  %f = graph.astype %w, dtype = f32 : (tensor<4x8xi8>) -> tensor<4x8xf32>
  %a = graph.subtract %f, %z : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %b = graph.multiply %a, %t : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %g = graph.astype %q, dtype = f32 : (tensor<4x8xi8>) -> tensor<4x8xf32>
  %c = graph.subtract %g, %z : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %d = graph.multiply %c, %s : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %b, %d : tensor<4x8xf32>, tensor<4x8xf32>
}
