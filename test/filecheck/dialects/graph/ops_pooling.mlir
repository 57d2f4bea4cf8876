// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @max_pool2d
// GENERIC-LABEL: sym_name = "max_pool2d"
func.func @max_pool2d(%x: tensor<1x8x28x28xf32>) {
  // CHECK: graph.max_pool2d %x, pool_size = [2, 2], strides = [2, 2] : (tensor<1x8x28x28xf32>) -> tensor<1x8x14x14xf32>
  // GENERIC: "graph.max_pool2d"(%x) <{pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, layout = "NCHW"}> : (tensor<1x8x28x28xf32>) -> tensor<1x8x14x14xf32>
  %y = graph.max_pool2d %x, pool_size = [2, 2], strides = [2, 2] : (tensor<1x8x28x28xf32>) -> tensor<1x8x14x14xf32>
  func.return
}

// CHECK-LABEL: @avg_pool2d
// GENERIC-LABEL: sym_name = "avg_pool2d"
func.func @avg_pool2d(%x: tensor<1x8x28x28xf32>) {
  // CHECK: graph.avg_pool2d %x, pool_size = [2, 2], strides = [2, 2] : (tensor<1x8x28x28xf32>) -> tensor<1x8x14x14xf32>
  // GENERIC: "graph.avg_pool2d"(%x) <{pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>, count_include_pad = false, padding = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, layout = "NCHW"}> : (tensor<1x8x28x28xf32>) -> tensor<1x8x14x14xf32>
  %y = graph.avg_pool2d %x, pool_size = [2, 2], strides = [2, 2] : (tensor<1x8x28x28xf32>) -> tensor<1x8x14x14xf32>
  func.return
}

// CHECK-LABEL: @avg_pool2d_1
// GENERIC-LABEL: sym_name = "avg_pool2d_1"
func.func @avg_pool2d_1(%x: tensor<1x8x8x3xf16>) {
  // CHECK: graph.avg_pool2d %x, count_include_pad = true, pool_size = [3, 3], padding = [1, 1, 1, 1], layout = "NHWC" : (tensor<1x8x8x3xf16>) -> tensor<1x8x8x3xf16>
  // GENERIC: "graph.avg_pool2d"(%x) <{pool_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>, layout = "NHWC", count_include_pad = true, strides = array<i64: 1, 1>, dilation = array<i64: 1, 1>}> : (tensor<1x8x8x3xf16>) -> tensor<1x8x8x3xf16>
  %y = graph.avg_pool2d %x, pool_size = [3, 3], padding = [1, 1, 1, 1], layout = "NHWC", count_include_pad = true : (tensor<1x8x8x3xf16>)
  func.return
}
