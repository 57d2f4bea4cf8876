// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @permute_dims
// GENERIC-LABEL: sym_name = "permute_dims"
func.func @permute_dims(%x: tensor<2x3x4xf32>) {
  // CHECK: graph.permute_dims %x, axes = [0, 2, 1] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  // GENERIC: "graph.permute_dims"(%x) <{axes = array<i64: 0, 2, 1>}> : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %y = graph.permute_dims %x, axes = [0, 2, 1] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  func.return
}

// CHECK-LABEL: @permute_dims_1
// GENERIC-LABEL: sym_name = "permute_dims_1"
func.func @permute_dims_1(%x: tensor<2x?x4xi1>) {
  // CHECK: graph.permute_dims %x : (tensor<2x?x4xi1>) -> tensor<4x?x2xi1>
  // GENERIC: "graph.permute_dims"(%x) : (tensor<2x?x4xi1>) -> tensor<4x?x2xi1>
  %y = graph.permute_dims %x : (tensor<2x?x4xi1>)
  func.return
}

// CHECK-LABEL: @permute_dims_2
// GENERIC-LABEL: sym_name = "permute_dims_2"
func.func @permute_dims_2(%x: tensor<f32>) {
  // CHECK: graph.permute_dims %x, axes = [] : (tensor<f32>) -> tensor<f32>
  // GENERIC: "graph.permute_dims"(%x) <{axes = array<i64>}> : (tensor<f32>) -> tensor<f32>
  %y = graph.permute_dims %x, axes = [] : (tensor<f32>)
  func.return
}

// CHECK-LABEL: @reshape
// GENERIC-LABEL: sym_name = "reshape"
func.func @reshape(%x: tensor<4x6xf32>) {
  // CHECK: graph.reshape %x, shape = [2, -1] : (tensor<4x6xf32>) -> tensor<2x12xf32>
  // GENERIC: "graph.reshape"(%x) <{shape = array<i64: 2, -1>}> : (tensor<4x6xf32>) -> tensor<2x12xf32>
  %y = graph.reshape %x, shape = [2, -1] : (tensor<4x6xf32>) -> tensor<2x12xf32>
  func.return
}

// CHECK-LABEL: @reshape_1
// GENERIC-LABEL: sym_name = "reshape_1"
func.func @reshape_1(%x: tensor<1x1xf32>) {
  // CHECK: graph.reshape %x, shape = [] : (tensor<1x1xf32>) -> tensor<f32>
  // GENERIC: "graph.reshape"(%x) <{shape = array<i64>}> : (tensor<1x1xf32>) -> tensor<f32>
  %y = graph.reshape %x, shape = [] : (tensor<1x1xf32>)
  func.return
}

// CHECK-LABEL: @expand_dims
// GENERIC-LABEL: sym_name = "expand_dims"
func.func @expand_dims(%x: tensor<4xf32>) {
  // CHECK: graph.expand_dims %x, axis = [0, -1] : (tensor<4xf32>) -> tensor<1x4x1xf32>
  // GENERIC: "graph.expand_dims"(%x) <{axis = array<i64: 0, -1>}> : (tensor<4xf32>) -> tensor<1x4x1xf32>
  %y = graph.expand_dims %x, axis = [0, -1] : (tensor<4xf32>) -> tensor<1x4x1xf32>
  func.return
}

// CHECK-LABEL: @squeeze
// GENERIC-LABEL: sym_name = "squeeze"
func.func @squeeze(%x: tensor<1x4x1xf32>) {
  // CHECK: graph.squeeze %x, axis = [0] : (tensor<1x4x1xf32>) -> tensor<4x1xf32>
  // GENERIC: "graph.squeeze"(%x) <{axis = array<i64: 0>}> : (tensor<1x4x1xf32>) -> tensor<4x1xf32>
  %y = graph.squeeze %x, axis = [0] : (tensor<1x4x1xf32>) -> tensor<4x1xf32>
  func.return
}

// CHECK-LABEL: @squeeze_1
// GENERIC-LABEL: sym_name = "squeeze_1"
func.func @squeeze_1(%x: tensor<1x4x1xf32>) {
  // CHECK: graph.squeeze %x : (tensor<1x4x1xf32>) -> tensor<4xf32>
  // GENERIC: "graph.squeeze"(%x) : (tensor<1x4x1xf32>) -> tensor<4xf32>
  %y = graph.squeeze %x : (tensor<1x4x1xf32>)
  func.return
}

// CHECK-LABEL: @broadcast_to
// GENERIC-LABEL: sym_name = "broadcast_to"
func.func @broadcast_to(%x: tensor<8xf32>) {
  // CHECK: graph.broadcast_to %x, shape = [4, 8] : (tensor<8xf32>) -> tensor<4x8xf32>
  // GENERIC: "graph.broadcast_to"(%x) <{shape = array<i64: 4, 8>}> : (tensor<8xf32>) -> tensor<4x8xf32>
  %y = graph.broadcast_to %x, shape = [4, 8] : (tensor<8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @concat
// GENERIC-LABEL: sym_name = "concat"
func.func @concat(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) {
  // CHECK: graph.concat %x, %y, axis = 1 : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<4x5xf32>
  // GENERIC: "graph.concat"(%x, %y) <{axis = 1 : i64}> : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<4x5xf32>
  %z = graph.concat %x, %y, axis = 1 : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<4x5xf32>
  func.return
}

// CHECK-LABEL: @split
// GENERIC-LABEL: sym_name = "split"
func.func @split(%x: tensor<4x8xf32>) {
  // CHECK: graph.split %x, sections = 2, axis = 1 : (tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  // GENERIC: "graph.split"(%x) <{sections = 2 : i64, axis = 1 : i64}> : (tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %a, %b = graph.split %x, sections = 2, axis = 1 : (tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  func.return
}

// CHECK-LABEL: @split_1
// GENERIC-LABEL: sym_name = "split_1"
func.func @split_1(%x: tensor<4x8xf32>) {
  // CHECK: graph.split %x, indices = [1] : (tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>)
  // GENERIC: "graph.split"(%x) <{indices = array<i64: 1>, axis = 0 : i64}> : (tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>)
  %c, %d = graph.split %x, indices = [1] : (tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<3x8xf32>)
  func.return
}

// CHECK-LABEL: @split_2
// GENERIC-LABEL: sym_name = "split_2"
func.func @split_2(%x: tensor<?x6xi8>) {
  // CHECK: graph.split %x, sections = 3, axis = 1 : (tensor<?x6xi8>) -> (tensor<?x2xi8>, tensor<?x2xi8>, tensor<?x2xi8>)
  // GENERIC: "graph.split"(%x) <{axis = 1 : i64, sections = 3 : i64}> : (tensor<?x6xi8>) -> (tensor<?x2xi8>, tensor<?x2xi8>, tensor<?x2xi8>)
  %a:3 = graph.split %x, axis = 1, sections = 3 : (tensor<?x6xi8>)
  func.return
}

// CHECK-LABEL: @strided_slice
// GENERIC-LABEL: sym_name = "strided_slice"
func.func @strided_slice(%x: tensor<4x8xf32>) {
  // CHECK: graph.strided_slice %x, axes = [1], begin = [0], end = [8], strides = [2] : (tensor<4x8xf32>) -> tensor<4x4xf32>
  // GENERIC: "graph.strided_slice"(%x) <{axes = array<i64: 1>, begin = array<i64: 0>, end = array<i64: 8>, strides = array<i64: 2>}> : (tensor<4x8xf32>) -> tensor<4x4xf32>
  %y = graph.strided_slice %x, axes = [1], begin = [0], end = [8], strides = [2] : (tensor<4x8xf32>) -> tensor<4x4xf32>
  func.return
}

// CHECK-LABEL: @strided_slice_1
// GENERIC-LABEL: sym_name = "strided_slice_1"
func.func @strided_slice_1(%x: tensor<4x8xf32>) {
  // CHECK: graph.strided_slice %x, axes = [0, 1], begin = [-1, 0], end = [-100, 3], strides = [-1, 1] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  // GENERIC: "graph.strided_slice"(%x) <{axes = array<i64: 0, 1>, begin = array<i64: -1, 0>, end = array<i64: -100, 3>, strides = array<i64: -1, 1>}> : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %y = graph.strided_slice %x, axes = [0, 1], begin = [-1, 0], end = [-100, 3] , strides = [-1, 1] : (tensor<4x8xf32>)
  func.return
}

// CHECK-LABEL: @pad
// GENERIC-LABEL: sym_name = "pad"
func.func @pad(%x: tensor<4x8xf32>) {
  // CHECK: graph.pad %x, pad_width = [0, 0, 1, 1], value = 0.5 : (tensor<4x8xf32>) -> tensor<4x10xf32>
  // GENERIC: "graph.pad"(%x) <{pad_width = array<i64: 0, 0, 1, 1>, value = 5.000000e-01 : f64}> : (tensor<4x8xf32>) -> tensor<4x10xf32>
  %y = graph.pad %x, pad_width = [0, 0, 1, 1], value = 0.5 : (tensor<4x8xf32>) -> tensor<4x10xf32>
  func.return
}

// CHECK-LABEL: @pad_1
// GENERIC-LABEL: sym_name = "pad_1"
func.func @pad_1(%x: tensor<4xui8>) {
  // CHECK: graph.pad %x, pad_width = [0, 1] : (tensor<4xui8>) -> tensor<5xui8>
  // GENERIC: "graph.pad"(%x) <{pad_width = array<i64: 0, 1>, value = 0 : i64}> : (tensor<4xui8>) -> tensor<5xui8>
  %y = graph.pad %x, pad_width = [0, 1] : (tensor<4xui8>)
  func.return
}

// CHECK-LABEL: @take
// GENERIC-LABEL: sym_name = "take"
func.func @take(%x: tensor<4x8xf32>, %i: tensor<3xi64>) {
  // CHECK: graph.take %x, %i, axis = 1 : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  // GENERIC: "graph.take"(%x, %i) <{axis = 1 : i64}> : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  %y = graph.take %x, %i, axis = 1 : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  func.return
}

// CHECK-LABEL: @take_1
// GENERIC-LABEL: sym_name = "take_1"
func.func @take_1(%x: tensor<4x8xi1>, %i: tensor<ui8>) {
  // CHECK: graph.take %x, %i, axis = 0 : (tensor<4x8xi1>, tensor<ui8>) -> tensor<8xi1>
  // GENERIC: "graph.take"(%x, %i) <{axis = 0 : i64}> : (tensor<4x8xi1>, tensor<ui8>) -> tensor<8xi1>
  %y = graph.take %x, %i, axis = 0 : (tensor<4x8xi1>, tensor<ui8>)
  func.return
}
