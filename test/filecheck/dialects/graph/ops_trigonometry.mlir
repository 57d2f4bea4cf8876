// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @sinh
// GENERIC-LABEL: sym_name = "sinh"
func.func @sinh(%x: tensor<4xf32>) {
  // CHECK: graph.sinh %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.sinh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.sinh %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @cosh
// GENERIC-LABEL: sym_name = "cosh"
func.func @cosh(%x: tensor<4xf32>) {
  // CHECK: graph.cosh %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.cosh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.cosh %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @asin
// GENERIC-LABEL: sym_name = "asin"
func.func @asin(%x: tensor<4xf32>) {
  // CHECK: graph.asin %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.asin"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.asin %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @acos
// GENERIC-LABEL: sym_name = "acos"
func.func @acos(%x: tensor<4xf32>) {
  // CHECK: graph.acos %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.acos"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.acos %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @atan
// GENERIC-LABEL: sym_name = "atan"
func.func @atan(%x: tensor<4xf32>) {
  // CHECK: graph.atan %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.atan"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.atan %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @asinh
// GENERIC-LABEL: sym_name = "asinh"
func.func @asinh(%x: tensor<4xf32>) {
  // CHECK: graph.asinh %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.asinh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.asinh %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @acosh
// GENERIC-LABEL: sym_name = "acosh"
func.func @acosh(%x: tensor<4xf32>) {
  // CHECK: graph.acosh %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.acosh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.acosh %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @atanh
// GENERIC-LABEL: sym_name = "atanh"
func.func @atanh(%x: tensor<4xf32>) {
  // CHECK: graph.atanh %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.atanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.atanh %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
