// RUN: stepwell-opt %s -p integer-arithmetic --remarks 2>%t | filecheck %s
// RUN: filecheck %s --check-prefix REMARK --input-file %t
// RUN: stepwell-opt %s -p 'integer-arithmetic{numerics=strict}' | filecheck %s --check-prefix STRICT

/// Bytes with signs are 128 more without them, and so is the zero point. A row of the packed weights is a column.
// CHECK-LABEL: func.func @blocks
// CHECK: %[[Z:.*]] = graph.full 131 : tensor<ui8>
// CHECK: %[[U:.*]] = graph.astype %w, dtype = ui8
// CHECK: %[[F:.*]] = graph.bitwise_xor %[[U]], %{{.*}} : (tensor<32x8xui8>, tensor<ui8>) -> tensor<32x8xui8>
// CHECK-NEXT: %[[P:.*]] = graph.permute_dims %[[F]], axes = [1, 0]
// CHECK-NEXT: %[[S:.*]] = graph.permute_dims %s, axes = [1, 0] : (tensor<2x8xf32>) -> tensor<8x2xf32>
// CHECK-NEXT: graph.matmul_packed %x, %[[P]], %[[S]], %[[Z]], bits = 8, block_size = 16
// STRICT-LABEL: func.func @blocks
// STRICT-NOT: matmul_packed
func.func @blocks(%x: tensor<3x32xf32>) -> tensor<3x8xf32> {
  %w = graph.weight "w" : tensor<32x8xi8>
  %s = graph.weight "s" : tensor<2x8xf32>
  %z = graph.full 3 : tensor<2x8xi8>
  %d = graph.dequantize %w, %s, %z, axis = 0, block_size = 16 : (tensor<32x8xi8>, tensor<2x8xf32>, tensor<2x8xi8>) -> tensor<32x8xf32>
  %y = graph.matmul %x, %d : (tensor<3x32xf32>, tensor<32x8xf32>) -> tensor<3x8xf32>
  func.return %y : tensor<3x8xf32>
}

/// The weights of a transposed matrix move first, with the scales of their blocks. Batches are rows.
// CHECK-LABEL: func.func @transposed
// CHECK: graph.reshape %x, shape = [6, 32]
// CHECK: graph.matmul_packed {{.*}} bits = 8, block_size = 16 : (tensor<6x32xf32>, tensor<8x32xui8>, tensor<8x2xf32>, tensor<8x2xui8>)
// CHECK-NEXT: graph.reshape
func.func @transposed(%x: tensor<2x3x32xf32>) -> tensor<2x3x8xf32> {
  %w = graph.weight "w" : tensor<8x32xui8>
  %s = graph.weight "s" : tensor<8x2xf32>
  %z = graph.weight "z" : tensor<8x2xui8>
  %d = graph.dequantize %w, %s, %z, axis = 1, block_size = 16 : (tensor<8x32xui8>, tensor<8x2xf32>, tensor<8x2xui8>) -> tensor<8x32xf32>
  %t = graph.permute_dims %d : (tensor<8x32xf32>) -> tensor<32x8xf32>
  %y = graph.matmul %x, %t : (tensor<2x3x32xf32>, tensor<32x8xf32>) -> tensor<2x3x8xf32>
  func.return %y : tensor<2x3x8xf32>
}

/// A scale for each column has one block.
// CHECK-LABEL: func.func @columns
// CHECK: graph.matmul_packed {{.*}} bits = 8 : (tensor<3x32xf32>, tensor<8x32xui8>, tensor<8x1xf32>, tensor<ui8>)
func.func @columns(%x: tensor<3x32xf32>) -> tensor<3x8xf32> {
  %w = graph.weight "w" : tensor<32x8xi8>
  %s = graph.weight "s" : tensor<8xf32>
  %z = graph.full 0 : tensor<8xi8>
  %d = graph.dequantize %w, %s, %z, axis = 1 : (tensor<32x8xi8>, tensor<8xf32>, tensor<8xi8>) -> tensor<32x8xf32>
  %y = graph.matmul %x, %d : (tensor<3x32xf32>, tensor<32x8xf32>) -> tensor<3x8xf32>
  func.return %y : tensor<3x8xf32>
}

/// Floats of 16 bits become f32 around the product.
// CHECK-LABEL: func.func @of_bfloat16
// CHECK: %[[X:.*]] = graph.astype %x, dtype = f32
// CHECK: %[[Y:.*]] = graph.matmul_packed %[[X]], {{.*}} bits = 8 : (tensor<3x32xf32>, tensor<8x32xui8>, tensor<8x1xf32>, tensor<ui8>)
// CHECK-NEXT: graph.astype %[[Y]], dtype = bf16
func.func @of_bfloat16(%x: tensor<3x32xbf16>) -> tensor<3x8xbf16> {
  %w = graph.weight "w" : tensor<32x8xi8>
  %s = graph.weight "s" : tensor<8xbf16>
  %z = graph.full 0 : tensor<8xi8>
  %d = graph.dequantize %w, %s, %z, axis = 1 : (tensor<32x8xi8>, tensor<8xbf16>, tensor<8xi8>) -> tensor<32x8xbf16>
  %y = graph.matmul %x, %d : (tensor<3x32xbf16>, tensor<32x8xbf16>) -> tensor<3x8xbf16>
  func.return %y : tensor<3x8xbf16>
}

/// Kernels of packed weights have no f64.
// CHECK-LABEL: func.func @no_packed_matmul_f64
// CHECK-NOT: matmul_packed
func.func @no_packed_matmul_f64(%x: tensor<3x32xf64>) -> tensor<3x8xf64> {
  %w = graph.weight "w" : tensor<32x8xi8>
  %s = graph.weight "s" : tensor<8xf64>
  %z = graph.full 0 : tensor<8xi8>
  %d = graph.dequantize %w, %s, %z, axis = 1 : (tensor<32x8xi8>, tensor<8xf64>, tensor<8xi8>) -> tensor<32x8xf64>
  %y = graph.matmul %x, %d : (tensor<3x32xf64>, tensor<32x8xf64>) -> tensor<3x8xf64>
  func.return %y : tensor<3x8xf64>
}

/// One scale for all is a constant tensor, which stays outside of groups.
// CHECK-LABEL: func.func @one_scale
// CHECK: %[[S:.*]] = graph.constant {graph.apart} dense<0.5> : tensor<8x1xf32>
// CHECK: graph.matmul_packed %x, %{{.*}}, %[[S]], %{{.*}} bits = 8 : (tensor<3x32xf32>, tensor<8x32xui8>, tensor<8x1xf32>, tensor<ui8>)
func.func @one_scale(%x: tensor<3x32xf32>) -> tensor<3x8xf32> {
  %w = graph.weight "w" : tensor<32x8xi8>
  %s = graph.full 0.5 : tensor<f32>
  %z = graph.full 0 : tensor<i8>
  %d = graph.dequantize %w, %s, %z : (tensor<32x8xi8>, tensor<f32>, tensor<i8>) -> tensor<32x8xf32>
  %y = graph.matmul %x, %d : (tensor<3x32xf32>, tensor<32x8xf32>) -> tensor<3x8xf32>
  func.return %y : tensor<3x8xf32>
}

// CHECK-LABEL: func.func @no_weights_of_the_caller
// CHECK: graph.matmul %
// REMARK: remark: 'graph.matmul': kept on floats: the weights are not known at load
func.func @no_weights_of_the_caller(%x: tensor<3x32xf32>, %w: tensor<32x8xi8>) -> tensor<3x8xf32> {
  %s = graph.full 0.5 : tensor<f32>
  %z = graph.full 0 : tensor<i8>
  %d = graph.dequantize %w, %s, %z : (tensor<32x8xi8>, tensor<f32>, tensor<i8>) -> tensor<32x8xf32>
  %y = graph.matmul %x, %d : (tensor<3x32xf32>, tensor<32x8xf32>) -> tensor<3x8xf32>
  func.return %y : tensor<3x8xf32>
}

// CHECK-LABEL: func.func @no_blocks_of_rows
// CHECK: graph.matmul %
// REMARK: remark: 'graph.matmul': kept on floats: the scales are not those of columns or of whole blocks of them
func.func @no_blocks_of_rows(%x: tensor<3x32xf32>) -> tensor<3x8xf32> {
  %w = graph.weight "w" : tensor<32x8xi8>
  %s = graph.weight "s" : tensor<32xf32>
  %z = graph.full 0 : tensor<32xi8>
  %d = graph.dequantize %w, %s, %z, axis = 0 : (tensor<32x8xi8>, tensor<32xf32>, tensor<32xi8>) -> tensor<32x8xf32>
  %y = graph.matmul %x, %d : (tensor<3x32xf32>, tensor<32x8xf32>) -> tensor<3x8xf32>
  func.return %y : tensor<3x8xf32>
}
