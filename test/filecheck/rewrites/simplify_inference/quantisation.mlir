// RUN: stepwell-opt %s -p 'simplify-inference{numerics="strict"}' | filecheck %s
// RUN: stepwell-opt %s -p 'simplify-inference' --remarks 2>&1 | filecheck %s --check-prefix=REMARK

/// All rounding is that of the ops, so this is exact.
// CHECK-LABEL: func.func @quantize_to_arithmetic(
func.func @quantize_to_arithmetic(%x: tensor<1x3x4xf16>, %s: tensor<3xf16>, %z: tensor<3xui8>) -> tensor<1x3x4xui8> {
  // CHECK-NEXT: %[[S:.*]] = graph.expand_dims %s, axis = [1]
  // CHECK-NEXT: %[[D:.*]] = graph.divide %x, %[[S]]
  // CHECK-NEXT: %[[R:.*]] = graph.round %[[D]]
  // CHECK-NEXT: %[[F:.*]] = graph.astype %[[R]], dtype = f32
  // CHECK-NEXT: %[[Z:.*]] = graph.expand_dims %z, axis = [1]
  // CHECK-NEXT: %[[W:.*]] = graph.astype %[[Z]], dtype = f32
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[F]], %[[W]]
  // CHECK-NEXT: graph.astype %[[A]], dtype = ui8
  %q = graph.quantize %x, %s, %z : (tensor<1x3x4xf16>, tensor<3xf16>, tensor<3xui8>)
  func.return %q : tensor<1x3x4xui8>
}

/// Floats of 8 bits are not rounded before, and saturate by a clip. Their zero point turns -0 into 0.
// CHECK-LABEL: func.func @quantize_to_floats(
func.func @quantize_to_floats(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf8E5M2> {
  // CHECK: %[[D:.*]] = graph.divide %x, %s
  // CHECK-NEXT: %[[Z:.*]] = graph.astype %{{.*}}, dtype = f32
  // CHECK-NEXT: %[[A:.*]] = graph.add %[[D]], %[[Z]]
  // CHECK-NEXT: %[[C:.*]] = graph.clip %[[A]], min = -57344.0, max = 57344.0
  // CHECK-NEXT: graph.astype %[[C]], dtype = f8E5M2
  %z = graph.full 0.0 : tensor<f8E5M2>
  %q = graph.quantize %x, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<f8E5M2>)
  func.return %q : tensor<4xf8E5M2>
}

// CHECK-LABEL: func.func @dequantize_to_arithmetic(
func.func @dequantize_to_arithmetic(%q: tensor<?x4xi8>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<?x4xf32> {
  // CHECK-NEXT: %[[Q:.*]] = graph.astype %q, dtype = f32
  // CHECK-NEXT: %[[Z:.*]] = graph.astype %z, dtype = f32
  // CHECK-NEXT: %[[D:.*]] = graph.subtract %[[Q]], %[[Z]]
  // CHECK-NEXT: graph.multiply %[[D]], %s
  %y = graph.dequantize %q, %s, %z : (tensor<?x4xi8>, tensor<f32>, tensor<i8>)
  func.return %y : tensor<?x4xf32>
}

/// A zero point of 0 is not subtracted, and every block gets its scale.
// CHECK-LABEL: func.func @blocks(
func.func @blocks(%q: tensor<5x4xi8>, %s: tensor<3x4xf32>) -> tensor<5x4xf32> {
  // CHECK: %[[Q:.*]] = graph.astype %q, dtype = f32
  // CHECK-NEXT: graph.expand_dims %s, axis = [1]
  // CHECK-NEXT: graph.broadcast_to %{{.*}}, shape = [3, 2, 4]
  // CHECK-NEXT: graph.reshape %{{.*}}, shape = [6, 4]
  // CHECK-NEXT: %[[S:.*]] = graph.strided_slice %{{.*}}, axes = [0], begin = [0], end = [5]
  // CHECK-NEXT: graph.multiply %[[Q]], %[[S]]
  %z = graph.full 0 : tensor<3x4xi8>
  %y = graph.dequantize %q, %s, %z, axis = 0, block_size = 2 : (tensor<5x4xi8>, tensor<3x4xf32>, tensor<3x4xi8>)
  func.return %y : tensor<5x4xf32>
}

/// It is not known how many blocks there are.
// CHECK-LABEL: func.func @no_blocks(
func.func @no_blocks(%q: tensor<?x4xi8>, %s: tensor<?x4xf32>, %z: tensor<?x4xi8>) -> tensor<?x4xf32> {
  // CHECK-NEXT: graph.dequantize
  // REMARK: remark: {{.*}}kept: blocks of a scale need known extents
  %y = graph.dequantize %q, %s, %z, axis = 0, block_size = 2 : (tensor<?x4xi8>, tensor<?x4xf32>, tensor<?x4xi8>)
  func.return %y : tensor<?x4xf32>
}
