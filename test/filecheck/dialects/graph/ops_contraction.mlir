// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @matmul
// GENERIC-LABEL: sym_name = "matmul"
func.func @matmul(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) {
  // CHECK: graph.matmul %a, %b : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  // GENERIC: "graph.matmul"(%a, %b) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %c = graph.matmul %a, %b : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  func.return
}

/// Bytes with and without sign.
// CHECK-LABEL: @products_of_other_signs
// GENERIC-LABEL: sym_name = "products_of_other_signs"
func.func @products_of_other_signs(%a: tensor<4x8xui8>, %b: tensor<8x16xi8>, %x: tensor<1x3x8x8xi8>, %w: tensor<4x3x3x3xui8>) {
  // CHECK: graph.matmul %a, %b, out_dtype = i32 : (tensor<4x8xui8>, tensor<8x16xi8>) -> tensor<4x16xi32>
  // CHECK: graph.matmul %a, %b : (tensor<4x8xui8>, tensor<8x16xi8>) -> tensor<4x16xi16>
  // CHECK: graph.conv2d %x, %w : (tensor<1x3x8x8xi8>, tensor<4x3x3x3xui8>) -> tensor<1x4x6x6xi16>
  %0 = graph.matmul %a, %b, out_dtype = i32 : (tensor<4x8xui8>, tensor<8x16xi8>)
  %1 = graph.matmul %a, %b : (tensor<4x8xui8>, tensor<8x16xi8>)
  %2 = graph.conv2d %x, %w : (tensor<1x3x8x8xi8>, tensor<4x3x3x3xui8>)
  func.return
}

// CHECK-LABEL: @matmul_1
// GENERIC-LABEL: sym_name = "matmul_1"
func.func @matmul_1(%i: tensor<4x8xi8>, %j: tensor<8x16xi8>) {
  // CHECK: graph.matmul %i, %j, out_dtype = i32 : (tensor<4x8xi8>, tensor<8x16xi8>) -> tensor<4x16xi32>
  // GENERIC: "graph.matmul"(%i, %j) <{out_dtype = i32}> : (tensor<4x8xi8>, tensor<8x16xi8>) -> tensor<4x16xi32>
  %d = graph.matmul %i, %j, out_dtype = i32 : (tensor<4x8xi8>, tensor<8x16xi8>) -> tensor<4x16xi32>
  func.return
}

// CHECK-LABEL: @matmul_2
// GENERIC-LABEL: sym_name = "matmul_2"
func.func @matmul_2(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // CHECK: graph.matmul %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  // GENERIC: "graph.matmul"(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  %z = graph.matmul %x, %y : (tensor<8xf32>, tensor<8xf32>)
  func.return
}

// CHECK-LABEL: @matmul_3
// GENERIC-LABEL: sym_name = "matmul_3"
func.func @matmul_3(%x: tensor<2x1x4x8xf16>, %y: tensor<3x8x5xf16>) {
  // CHECK: graph.matmul %x, %y : (tensor<2x1x4x8xf16>, tensor<3x8x5xf16>) -> tensor<2x3x4x5xf16>
  // GENERIC: "graph.matmul"(%x, %y) : (tensor<2x1x4x8xf16>, tensor<3x8x5xf16>) -> tensor<2x3x4x5xf16>
  %z = graph.matmul %x, %y : (tensor<2x1x4x8xf16>, tensor<3x8x5xf16>)
  func.return
}

// CHECK-LABEL: @matmul_4
// GENERIC-LABEL: sym_name = "matmul_4"
func.func @matmul_4(%x: tensor<?x0xf64>, %y: tensor<0x5xf64>) {
  // CHECK: graph.matmul %x, %y : (tensor<?x0xf64>, tensor<0x5xf64>) -> tensor<?x5xf64>
  // GENERIC: "graph.matmul"(%x, %y) : (tensor<?x0xf64>, tensor<0x5xf64>) -> tensor<?x5xf64>
  %z = graph.matmul %x, %y : (tensor<?x0xf64>, tensor<0x5xf64>)
  func.return
}

// CHECK-LABEL: @conv2d
// GENERIC-LABEL: sym_name = "conv2d"
func.func @conv2d(%x: tensor<1x3x224x224xf32>, %w: tensor<32x3x3x3xf32>) {
  // CHECK: graph.conv2d %x, %w, padding = [1, 1, 1, 1] : (tensor<1x3x224x224xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x224x224xf32>
  // GENERIC: "graph.conv2d"(%x, %w) <{padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1 : i64, data_layout = "NCHW", kernel_layout = "OIHW"}> : (tensor<1x3x224x224xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x224x224xf32>
  %y = graph.conv2d %x, %w, padding = [1, 1, 1, 1] : (tensor<1x3x224x224xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x224x224xf32>
  func.return
}

// CHECK-LABEL: @conv2d_1
// GENERIC-LABEL: sym_name = "conv2d_1"
func.func @conv2d_1(%x: tensor<1x9x9x4xi8>, %w: tensor<3x3x2x6xi8>) {
  // CHECK: graph.conv2d %x, %w, strides = [2, 2], padding = [1, 0, 2, 0], dilation = [1, 2], groups = 2, data_layout = "NHWC", kernel_layout = "HWIO", out_dtype = i32 : (tensor<1x9x9x4xi8>, tensor<3x3x2x6xi8>) -> tensor<1x5x3x6xi32>
  // GENERIC: "graph.conv2d"(%x, %w) <{strides = array<i64: 2, 2>, padding = array<i64: 1, 0, 2, 0>, dilation = array<i64: 1, 2>, groups = 2 : i64, data_layout = "NHWC", kernel_layout = "HWIO", out_dtype = i32}> : (tensor<1x9x9x4xi8>, tensor<3x3x2x6xi8>) -> tensor<1x5x3x6xi32>
  %z = graph.conv2d %x, %w, strides = [2, 2], padding = [1, 0, 2, 0], dilation = [1, 2], groups = 2, data_layout = "NHWC", kernel_layout = "HWIO", out_dtype = i32 : (tensor<1x9x9x4xi8>, tensor<3x3x2x6xi8>)
  func.return
}
