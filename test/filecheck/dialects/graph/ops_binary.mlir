// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @add
// GENERIC-LABEL: sym_name = "add"
func.func @add(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @add_1
// GENERIC-LABEL: sym_name = "add_1"
func.func @add_1(%x: tensor<1x128xf32>, %y: tensor<128xf32>) {
  // CHECK: graph.add %x, %y : (tensor<1x128xf32>, tensor<128xf32>) -> tensor<1x128xf32>
  // GENERIC: "graph.add"(%x, %y) : (tensor<1x128xf32>, tensor<128xf32>) -> tensor<1x128xf32>
  %z = graph.add %x, %y : (tensor<1x128xf32>, tensor<128xf32>)
  func.return
}

// CHECK-LABEL: @add_2
// GENERIC-LABEL: sym_name = "add_2"
func.func @add_2(%x: tensor<?x4xi32>, %y: tensor<i32>) {
  // CHECK: graph.add %x, %y : (tensor<?x4xi32>, tensor<i32>) -> tensor<?x4xi32>
  // GENERIC: "graph.add"(%x, %y) : (tensor<?x4xi32>, tensor<i32>) -> tensor<?x4xi32>
  %z = graph.add %x, %y : (tensor<?x4xi32>, tensor<i32>)
  func.return
}

// CHECK-LABEL: @add_3
// GENERIC-LABEL: sym_name = "add_3"
func.func @add_3(%x: tensor<0x3xbf16>, %y: tensor<1x3xbf16>) {
  // CHECK: graph.add %x, %y {my.tag = "kept"} : (tensor<0x3xbf16>, tensor<1x3xbf16>) -> tensor<0x3xbf16>
  // GENERIC: "graph.add"(%x, %y) {my.tag = "kept"} : (tensor<0x3xbf16>, tensor<1x3xbf16>) -> tensor<0x3xbf16>
  %z = graph.add %x, %y {my.tag = "kept"} : (tensor<0x3xbf16>, tensor<1x3xbf16>)
  func.return
}

// CHECK-LABEL: @subtract
// GENERIC-LABEL: sym_name = "subtract"
func.func @subtract(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.subtract"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @multiply
// GENERIC-LABEL: sym_name = "multiply"
func.func @multiply(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.multiply"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @divide
// GENERIC-LABEL: sym_name = "divide"
func.func @divide(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: graph.divide %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.divide"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = graph.divide %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @floor_divide
// GENERIC-LABEL: sym_name = "floor_divide"
func.func @floor_divide(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: graph.floor_divide %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.floor_divide"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = graph.floor_divide %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @mod
// GENERIC-LABEL: sym_name = "mod"
func.func @mod(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: graph.mod %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.mod"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = graph.mod %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @power
// GENERIC-LABEL: sym_name = "power"
func.func @power(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: graph.power %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.power"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = graph.power %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @maximum
// GENERIC-LABEL: sym_name = "maximum"
func.func @maximum(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: graph.maximum %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.maximum"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = graph.maximum %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @minimum
// GENERIC-LABEL: sym_name = "minimum"
func.func @minimum(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: graph.minimum %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.minimum"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = graph.minimum %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @equal
// GENERIC-LABEL: sym_name = "equal"
func.func @equal(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // GENERIC: "graph.equal"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %z = graph.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @not_equal
// GENERIC-LABEL: sym_name = "not_equal"
func.func @not_equal(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: graph.not_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // GENERIC: "graph.not_equal"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %z = graph.not_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @less
// GENERIC-LABEL: sym_name = "less"
func.func @less(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: graph.less %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // GENERIC: "graph.less"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %z = graph.less %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @less_1
// GENERIC-LABEL: sym_name = "less_1"
func.func @less_1(%x: tensor<4xi1>, %y: tensor<4xi1>) {
  // CHECK: graph.less %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // GENERIC: "graph.less"(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %z = graph.less %x, %y : (tensor<4xi1>, tensor<4xi1>)
  func.return
}

// CHECK-LABEL: @less_equal
// GENERIC-LABEL: sym_name = "less_equal"
func.func @less_equal(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: graph.less_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // GENERIC: "graph.less_equal"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %z = graph.less_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @greater
// GENERIC-LABEL: sym_name = "greater"
func.func @greater(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: graph.greater %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // GENERIC: "graph.greater"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %z = graph.greater %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @greater_equal
// GENERIC-LABEL: sym_name = "greater_equal"
func.func @greater_equal(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: graph.greater_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // GENERIC: "graph.greater_equal"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %z = graph.greater_equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @logical_and
// GENERIC-LABEL: sym_name = "logical_and"
func.func @logical_and(%x: tensor<4xi1>, %y: tensor<4xi1>) {
  // CHECK: graph.logical_and %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // GENERIC: "graph.logical_and"(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %z = graph.logical_and %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @logical_or
// GENERIC-LABEL: sym_name = "logical_or"
func.func @logical_or(%x: tensor<4xi1>, %y: tensor<4xi1>) {
  // CHECK: graph.logical_or %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // GENERIC: "graph.logical_or"(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %z = graph.logical_or %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @logical_xor
// GENERIC-LABEL: sym_name = "logical_xor"
func.func @logical_xor(%x: tensor<4xi1>, %y: tensor<4xi1>) {
  // CHECK: graph.logical_xor %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // GENERIC: "graph.logical_xor"(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %z = graph.logical_xor %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @bitwise_and
// GENERIC-LABEL: sym_name = "bitwise_and"
func.func @bitwise_and(%x: tensor<4xi8>, %y: tensor<4xi8>) {
  // CHECK: graph.bitwise_and %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  // GENERIC: "graph.bitwise_and"(%x, %y) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %z = graph.bitwise_and %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  func.return
}

// CHECK-LABEL: @bitwise_or
// GENERIC-LABEL: sym_name = "bitwise_or"
func.func @bitwise_or(%x: tensor<4xi8>, %y: tensor<4xi8>) {
  // CHECK: graph.bitwise_or %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  // GENERIC: "graph.bitwise_or"(%x, %y) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %z = graph.bitwise_or %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  func.return
}

// CHECK-LABEL: @bitwise_xor
// GENERIC-LABEL: sym_name = "bitwise_xor"
func.func @bitwise_xor(%x: tensor<4xi8>, %y: tensor<4xi8>) {
  // CHECK: graph.bitwise_xor %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  // GENERIC: "graph.bitwise_xor"(%x, %y) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %z = graph.bitwise_xor %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  func.return
}

// CHECK-LABEL: @left_shift
// GENERIC-LABEL: sym_name = "left_shift"
func.func @left_shift(%x: tensor<4xi8>, %y: tensor<4xi8>) {
  // CHECK: graph.left_shift %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  // GENERIC: "graph.left_shift"(%x, %y) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %z = graph.left_shift %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  func.return
}

// CHECK-LABEL: @right_shift
// GENERIC-LABEL: sym_name = "right_shift"
func.func @right_shift(%x: tensor<4xi8>, %y: tensor<4xi8>) {
  // CHECK: graph.right_shift %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  // GENERIC: "graph.right_shift"(%x, %y) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %z = graph.right_shift %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  func.return
}

// CHECK-LABEL: @where
// GENERIC-LABEL: sym_name = "where"
func.func @where(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<f32>) {
  // CHECK: graph.where %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // GENERIC: "graph.where"(%c, %x, %y) : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %z = graph.where %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @where_1
// GENERIC-LABEL: sym_name = "where_1"
func.func @where_1(%c: tensor<4x1xi1>, %x: tensor<?xui16>, %y: tensor<ui16>) {
  // CHECK: graph.where %c, %x, %y : (tensor<4x1xi1>, tensor<?xui16>, tensor<ui16>) -> tensor<4x?xui16>
  // GENERIC: "graph.where"(%c, %x, %y) : (tensor<4x1xi1>, tensor<?xui16>, tensor<ui16>) -> tensor<4x?xui16>
  %z = graph.where %c, %x, %y : (tensor<4x1xi1>, tensor<?xui16>, tensor<ui16>)
  func.return
}

// CHECK-LABEL: @ewise_fma
// GENERIC-LABEL: sym_name = "ewise_fma"
func.func @ewise_fma(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) {
  // CHECK: graph.ewise_fma %x, %y, %z : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.ewise_fma"(%x, %y, %z) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %w = graph.ewise_fma %x, %y, %z : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}
