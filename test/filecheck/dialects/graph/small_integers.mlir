// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @types
// CHECK-SAME: (%x: tensor<3x5xi4>, %y: tensor<?xui2>) -> (tensor<3x5xi4>, tensor<?xui2>)
// GENERIC-LABEL: sym_name = "types"
func.func @types(%x: tensor<3x5xi4>, %y: tensor<?xui2>) -> (tensor<3x5xi4>, tensor<?xui2>) {
  func.return %x, %y : tensor<3x5xi4>, tensor<?xui2>
}

/// Decimals, and hexadecimal digits with a byte for each element. A sign may be left out there.
// CHECK-LABEL: @constants
// GENERIC-LABEL: sym_name = "constants"
func.func @constants() {
  // CHECK: graph.constant dense<[1, -8, 7, -1]> : tensor<4xi4>
  // GENERIC: "graph.constant"() <{value = dense<[1, -8, 7, -1]> : tensor<4xi4>}>
  %0 = graph.constant dense<[1, -8, 7, 15]> : tensor<4xi4>
  // CHECK: graph.constant dense<[1, -8, 7, -1]> : tensor<4xi4>
  %1 = graph.constant dense<"0x0108070F"> : tensor<4xi4>
  // CHECK: graph.constant dense<[1, -8, 7, -1]> : tensor<4xi4>
  %2 = graph.constant dense<"0x01F807FF"> : tensor<4xi4>
  // CHECK: graph.constant dense<[[0, 15, 8]]> : tensor<1x3xui4>
  %3 = graph.constant dense<"0x000F08"> : tensor<1x3xui4>
  // CHECK: graph.constant dense<[-2, 1]> : tensor<2xi2>
  %4 = graph.constant dense<[-2, 1]> : tensor<2xi2>
  // CHECK: graph.constant dense<-1> : tensor<7xi4>
  %5 = graph.constant dense<"0x0F"> : tensor<7xi4>
  // CHECK: graph.full -8 : tensor<3xi4>
  %6 = graph.full -8 : tensor<3xi4>
  // CHECK: graph.full 3 : tensor<3xui2>
  %7 = graph.full 3 : tensor<3xui2>
  func.return
}

/// More elements than are written one by one, an odd number of them. Signs are kept.
// CHECK-LABEL: @many
// CHECK-NEXT: graph.constant dense<"0x00FF02F8{{(01)+}}"> : tensor<65xi4>
// GENERIC-LABEL: sym_name = "many"
func.func @many() {
  %0 = graph.constant dense<"0x000F020801010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101"> : tensor<65xi4>
  func.return
}

/// Ops that move, compare, convert and quantise.
// CHECK-LABEL: @moves
// GENERIC-LABEL: sym_name = "moves"
func.func @moves(%x: tensor<4xi4>, %y: tensor<4xi4>, %s: tensor<f32>, %z: tensor<i4>) -> tensor<4xi4> {
  // CHECK-NEXT: graph.less %x, %y : (tensor<4xi4>, tensor<4xi4>) -> tensor<4xi1>
  %0 = graph.less %x, %y : (tensor<4xi4>, tensor<4xi4>) -> tensor<4xi1>
  // CHECK-NEXT: graph.where %0, %x, %y : (tensor<4xi1>, tensor<4xi4>, tensor<4xi4>) -> tensor<4xi4>
  %1 = graph.where %0, %x, %y : (tensor<4xi1>, tensor<4xi4>, tensor<4xi4>) -> tensor<4xi4>
  // CHECK-NEXT: graph.astype %1, dtype = ui2 : (tensor<4xi4>) -> tensor<4xui2>
  // GENERIC: "graph.astype"(%{{.*}}) <{dtype = ui2}> : (tensor<4xi4>) -> tensor<4xui2>
  %2 = graph.astype %1, dtype = ui2 : (tensor<4xi4>) -> tensor<4xui2>
  // CHECK-NEXT: graph.dequantize %x, %s, %z : (tensor<4xi4>, tensor<f32>, tensor<i4>) -> tensor<4xf32>
  %3 = graph.dequantize %x, %s, %z : (tensor<4xi4>, tensor<f32>, tensor<i4>) -> tensor<4xf32>
  // CHECK-NEXT: graph.quantize %3, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i4>) -> tensor<4xi4>
  %4 = graph.quantize %3, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i4>) -> tensor<4xi4>
  func.return %4 : tensor<4xi4>
}
