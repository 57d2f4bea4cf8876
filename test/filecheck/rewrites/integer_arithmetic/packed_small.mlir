// RUN: stepwell-opt %s -p integer-arithmetic --remarks 2>%t | filecheck %s
// RUN: filecheck %s --check-prefix REMARK --input-file %t
// RUN: stepwell-opt %s -p integer-arithmetic --check-semantics 2>&1 | filecheck %s --check-prefix SAME

// SAME: check-semantics: 1 passes changed the program

/// A row of the file is a column of the matrix: the bytes are those of the kernel, with the signs as offsets.
// CHECK-LABEL: func.func @rows
// CHECK: %[[Z:.*]] = graph.full 9 : tensor<ui8>
// CHECK: %[[F:.*]] = graph.full 136 : tensor<ui8>
// CHECK: %[[W:.*]] = graph.weight "w#packed" : tensor<96xui8>
// CHECK-NEXT: %[[X:.*]] = graph.bitwise_xor %[[W]], %[[F]]
// CHECK-NEXT: %[[R:.*]] = graph.reshape %[[X]], shape = [6, 16]
// CHECK: graph.matmul_packed %x, %[[R]], %{{.*}}, %[[Z]], block_size = 16 : (tensor<3x32xf32>, tensor<6x16xui8>, tensor<6x2xf32>, tensor<ui8>)
func.func @rows(%x: tensor<3x32xf32>) -> tensor<3x6xf32> {
  %w = graph.weight "w" : tensor<6x32xi4>
  %s = graph.weight "s" : tensor<6x2xf32>
  %z = graph.full 1 : tensor<6x2xi4>
  %d = graph.dequantize %w, %s, %z, axis = 1, block_size = 16 : (tensor<6x32xi4>, tensor<6x2xf32>, tensor<6x2xi4>) -> tensor<6x32xf32>
  %t = graph.permute_dims %d : (tensor<6x32xf32>) -> tensor<32x6xf32>
  %y = graph.matmul %x, %t : (tensor<3x32xf32>, tensor<32x6xf32>) -> tensor<3x6xf32>
  func.return %y : tensor<3x6xf32>
}

/// The bytes of two rows become those of two columns. No number is ever alone in a byte.
// CHECK-LABEL: func.func @columns
// CHECK: graph.weight "w#packed" : tensor<96xui8>
// CHECK-NOT: graph.bitwise_xor
// CHECK: graph.concat %{{.*}}, %{{.*}}, axis = 1 : (tensor<3x1x16xui8>, tensor<3x1x16xui8>) -> tensor<3x2x16xui8>
// CHECK-NEXT: %[[R:.*]] = graph.reshape %{{.*}}, shape = [6, 16]
// CHECK: graph.matmul_packed %x, %[[R]]
func.func @columns(%x: tensor<3x32xf32>) -> tensor<3x6xf32> {
  %w = graph.weight "w" : tensor<32x6xui4>
  %s = graph.weight "s" : tensor<2x6xf32>
  %z = graph.weight "z" : tensor<2x6xui4>
  %d = graph.dequantize %w, %s, %z, axis = 0, block_size = 16 : (tensor<32x6xui4>, tensor<2x6xf32>, tensor<2x6xui4>) -> tensor<32x6xf32>
  %y = graph.matmul %x, %d : (tensor<3x32xf32>, tensor<32x6xf32>) -> tensor<3x6xf32>
  func.return %y : tensor<3x6xf32>
}

/// Rows of an odd number of elements do not begin with a byte, and numbers of 2 bits take 4 in the kernel.
// CHECK-LABEL: func.func @no_whole_bytes
// CHECK: graph.full 2 : tensor<ui8>
// CHECK: %[[A:.*]] = graph.astype %w, dtype = ui8 : (tensor<32x5xi2>) -> tensor<32x5xui8>
// CHECK: graph.bitwise_and %[[A]]
// CHECK: graph.matmul_packed {{.*}} (tensor<3x32xf32>, tensor<5x16xui8>, tensor<5x1xf32>, tensor<ui8>)
func.func @no_whole_bytes(%x: tensor<3x32xf32>) -> tensor<3x5xf32> {
  %w = graph.weight "v" : tensor<32x5xi2>
  %s = graph.weight "r" : tensor<5xf32>
  %z = graph.full 0 : tensor<5xi2>
  %d = graph.dequantize %w, %s, %z, axis = 1 : (tensor<32x5xi2>, tensor<5xf32>, tensor<5xi2>) -> tensor<32x5xf32>
  %y = graph.matmul %x, %d : (tensor<3x32xf32>, tensor<32x5xf32>) -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}

/// Weights that are given at each call are not packed.
// CHECK-LABEL: func.func @no_weights
// CHECK: graph.matmul %x
// REMARK: kept on floats: the weights are not known at load
func.func @no_weights(%x: tensor<3x32xf32>, %w: tensor<32x6xi4>) -> tensor<3x6xf32> {
  %s = graph.weight "s" : tensor<2x6xf32>
  %z = graph.weight "z" : tensor<2x6xi4>
  %d = graph.dequantize %w, %s, %z, axis = 0, block_size = 16 : (tensor<32x6xi4>, tensor<2x6xf32>, tensor<2x6xi4>) -> tensor<32x6xf32>
  %y = graph.matmul %x, %d : (tensor<3x32xf32>, tensor<32x6xf32>) -> tensor<3x6xf32>
  func.return %y : tensor<3x6xf32>
}
