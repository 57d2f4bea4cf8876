// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @shape_of
// GENERIC-LABEL: sym_name = "shape_of"
func.func @shape_of(%x: tensor<?x4xf32>, %y: tensor<i1>) {
  // CHECK: graph.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
  // GENERIC: "graph.shape_of"(%x) : (tensor<?x4xf32>) -> tensor<2xi64>
  %0 = graph.shape_of %x : (tensor<?x4xf32>)
  // CHECK: graph.shape_of %y : (tensor<i1>) -> tensor<0xi64>
  %1 = graph.shape_of %y : (tensor<i1>)
  func.return
}

// CHECK-LABEL: @dynamic_reshape
// GENERIC-LABEL: sym_name = "dynamic_reshape"
func.func @dynamic_reshape(%x: tensor<?x8xf32>, %s: tensor<3xi64>) {
  // CHECK: graph.dynamic_reshape %x, %s : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<?x2x4xf32>
  %0 = graph.dynamic_reshape %x, %s : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<?x2x4xf32>
  // CHECK: graph.dynamic_reshape %x, %s, copy_zeros = true : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  // GENERIC: "graph.dynamic_reshape"(%x, %s) <{copy_zeros = true}> : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  %1 = graph.dynamic_reshape %x, %s, copy_zeros = true : (tensor<?x8xf32>, tensor<3xi64>)
  func.return
}

// CHECK-LABEL: @dynamic_broadcast_to
// GENERIC-LABEL: sym_name = "dynamic_broadcast_to"
func.func @dynamic_broadcast_to(%x: tensor<1x8xf32>, %s: tensor<3xi32>) {
  // CHECK: graph.dynamic_broadcast_to %x, %s : (tensor<1x8xf32>, tensor<3xi32>) -> tensor<?x?x8xf32>
  // GENERIC: "graph.dynamic_broadcast_to"(%x, %s) : (tensor<1x8xf32>, tensor<3xi32>) -> tensor<?x?x8xf32>
  %0 = graph.dynamic_broadcast_to %x, %s : (tensor<1x8xf32>, tensor<3xi32>)
  func.return
}

// CHECK-LABEL: @dynamic_slice
// GENERIC-LABEL: sym_name = "dynamic_slice"
func.func @dynamic_slice(%x: tensor<4x?xf32>, %s: tensor<1xi64>) {
  // CHECK: graph.dynamic_slice %x, %s, %s, %s, axes = [-1] : (tensor<4x?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x?xf32>
  // GENERIC: "graph.dynamic_slice"(%x, %s, %s, %s) <{axes = array<i64: -1>}>
  %0 = graph.dynamic_slice %x, %s, %s, %s, axes = [-1] : (tensor<4x?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>)
  func.return
}

// CHECK-LABEL: @dynamic_pad
// GENERIC-LABEL: sym_name = "dynamic_pad"
func.func @dynamic_pad(%x: tensor<?x8xf32>, %w: tensor<4xi64>) {
  // CHECK: graph.dynamic_pad %x, %w, value = 0.5 : (tensor<?x8xf32>, tensor<4xi64>) -> tensor<?x?xf32>
  // GENERIC: "graph.dynamic_pad"(%x, %w) <{value = 5.000000e-01 : f64}>
  %0 = graph.dynamic_pad %x, %w, value = 0.5 : (tensor<?x8xf32>, tensor<4xi64>)
  func.return
}

// CHECK-LABEL: @arange
// GENERIC-LABEL: sym_name = "arange"
func.func @arange(%a: tensor<i64>, %b: tensor<f32>) {
  // CHECK: graph.arange %a, %a, %a : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  // GENERIC: "graph.arange"(%a, %a, %a) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %0 = graph.arange %a, %a, %a : (tensor<i64>, tensor<i64>, tensor<i64>)
  // CHECK: graph.arange %b, %b, %b : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.arange %b, %b, %b : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  func.return
}
