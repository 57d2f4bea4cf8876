// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @sum
// GENERIC-LABEL: sym_name = "sum"
func.func @sum(%x: tensor<4x8xf32>) {
  // CHECK: graph.sum %x, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  // GENERIC: "graph.sum"(%x) <{axis = array<i64: 1>, keepdims = false}> : (tensor<4x8xf32>) -> tensor<4xf32>
  %y = graph.sum %x, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @sum_1
// GENERIC-LABEL: sym_name = "sum_1"
func.func @sum_1(%x: tensor<2x3x4xi32>) {
  // CHECK: graph.sum %x : (tensor<2x3x4xi32>) -> tensor<i32>
  // GENERIC: "graph.sum"(%x) <{keepdims = false}> : (tensor<2x3x4xi32>) -> tensor<i32>
  %y = graph.sum %x : (tensor<2x3x4xi32>)
  func.return
}

// CHECK-LABEL: @sum_2
// GENERIC-LABEL: sym_name = "sum_2"
func.func @sum_2(%x: tensor<2x?x4xf32>) {
  // CHECK: graph.sum %x, axis = [-1, 0], keepdims = true : (tensor<2x?x4xf32>) -> tensor<1x?x1xf32>
  // GENERIC: "graph.sum"(%x) <{keepdims = true, axis = array<i64: -1, 0>}> : (tensor<2x?x4xf32>) -> tensor<1x?x1xf32>
  %y = graph.sum %x, keepdims = true, axis = [-1, 0] : (tensor<2x?x4xf32>)
  func.return
}

// CHECK-LABEL: @prod
// GENERIC-LABEL: sym_name = "prod"
func.func @prod(%x: tensor<4x8xf32>) {
  // CHECK: graph.prod %x, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  // GENERIC: "graph.prod"(%x) <{axis = array<i64: 1>, keepdims = false}> : (tensor<4x8xf32>) -> tensor<4xf32>
  %y = graph.prod %x, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @mean
// GENERIC-LABEL: sym_name = "mean"
func.func @mean(%x: tensor<4x8xf32>) {
  // CHECK: graph.mean %x, axis = [-1], keepdims = true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  // GENERIC: "graph.mean"(%x) <{axis = array<i64: -1>, keepdims = true}> : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %y = graph.mean %x, axis = [-1], keepdims = true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return
}

// CHECK-LABEL: @max
// GENERIC-LABEL: sym_name = "max"
func.func @max(%x: tensor<4x8xf32>) {
  // CHECK: graph.max %x, axis = [0] : (tensor<4x8xf32>) -> tensor<8xf32>
  // GENERIC: "graph.max"(%x) <{axis = array<i64: 0>, keepdims = false}> : (tensor<4x8xf32>) -> tensor<8xf32>
  %y = graph.max %x, axis = [0] : (tensor<4x8xf32>) -> tensor<8xf32>
  func.return
}

// CHECK-LABEL: @min
// GENERIC-LABEL: sym_name = "min"
func.func @min(%x: tensor<4x8xf32>) {
  // CHECK: graph.min %x, axis = [0] : (tensor<4x8xf32>) -> tensor<8xf32>
  // GENERIC: "graph.min"(%x) <{axis = array<i64: 0>, keepdims = false}> : (tensor<4x8xf32>) -> tensor<8xf32>
  %y = graph.min %x, axis = [0] : (tensor<4x8xf32>) -> tensor<8xf32>
  func.return
}

// CHECK-LABEL: @any
// GENERIC-LABEL: sym_name = "any"
func.func @any(%x: tensor<4x8xi1>) {
  // CHECK: graph.any %x, axis = [1] : (tensor<4x8xi1>) -> tensor<4xi1>
  // GENERIC: "graph.any"(%x) <{axis = array<i64: 1>, keepdims = false}> : (tensor<4x8xi1>) -> tensor<4xi1>
  %y = graph.any %x, axis = [1] : (tensor<4x8xi1>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @all
// GENERIC-LABEL: sym_name = "all"
func.func @all(%x: tensor<4x8xi1>) {
  // CHECK: graph.all %x, axis = [1] : (tensor<4x8xi1>) -> tensor<4xi1>
  // GENERIC: "graph.all"(%x) <{axis = array<i64: 1>, keepdims = false}> : (tensor<4x8xi1>) -> tensor<4xi1>
  %y = graph.all %x, axis = [1] : (tensor<4x8xi1>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @argmax
// GENERIC-LABEL: sym_name = "argmax"
func.func @argmax(%x: tensor<4x8xf32>) {
  // CHECK: graph.argmax %x, axis = 1 : (tensor<4x8xf32>) -> tensor<4xi64>
  // GENERIC: "graph.argmax"(%x) <{axis = 1 : i64, keepdims = false}> : (tensor<4x8xf32>) -> tensor<4xi64>
  %y = graph.argmax %x, axis = 1 : (tensor<4x8xf32>) -> tensor<4xi64>
  func.return
}

// CHECK-LABEL: @argmax_1
// GENERIC-LABEL: sym_name = "argmax_1"
func.func @argmax_1(%x: tensor<2x3xbf16>) {
  // CHECK: graph.argmax %x, keepdims = true : (tensor<2x3xbf16>) -> tensor<1x1xi64>
  // GENERIC: "graph.argmax"(%x) <{keepdims = true}> : (tensor<2x3xbf16>) -> tensor<1x1xi64>
  %y = graph.argmax %x, keepdims = true : (tensor<2x3xbf16>)
  func.return
}

// CHECK-LABEL: @argmin
// GENERIC-LABEL: sym_name = "argmin"
func.func @argmin(%x: tensor<4x8xf32>) {
  // CHECK: graph.argmin %x, axis = 1 : (tensor<4x8xf32>) -> tensor<4xi64>
  // GENERIC: "graph.argmin"(%x) <{axis = 1 : i64, keepdims = false}> : (tensor<4x8xf32>) -> tensor<4xi64>
  %y = graph.argmin %x, axis = 1 : (tensor<4x8xf32>) -> tensor<4xi64>
  func.return
}

// CHECK-LABEL: @softmax
// GENERIC-LABEL: sym_name = "softmax"
func.func @softmax(%x: tensor<4x8xf32>) {
  // CHECK: graph.softmax %x, axis = 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // GENERIC: "graph.softmax"(%x) <{axis = 0 : i64}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = graph.softmax %x, axis = 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @softmax_1
// GENERIC-LABEL: sym_name = "softmax_1"
func.func @softmax_1(%x: tensor<4x8xf32>) {
  // CHECK: graph.softmax %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // GENERIC: "graph.softmax"(%x) <{axis = -1 : i64}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = graph.softmax %x, axis = -1 : (tensor<4x8xf32>)
  func.return
}

// CHECK-LABEL: @log_softmax
// GENERIC-LABEL: sym_name = "log_softmax"
func.func @log_softmax(%x: tensor<4x8xf32>) {
  // CHECK: graph.log_softmax %x, axis = 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // GENERIC: "graph.log_softmax"(%x) <{axis = 0 : i64}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = graph.log_softmax %x, axis = 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}
