// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @take_along_axis
// GENERIC-LABEL: sym_name = "take_along_axis"
func.func @take_along_axis(%x: tensor<4x8xf32>, %i: tensor<4x3xi64>) {
  // CHECK: graph.take_along_axis %x, %i, axis = 1 : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
  // GENERIC: "graph.take_along_axis"(%x, %i) <{axis = 1 : i64}> : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
  %y = graph.take_along_axis %x, %i, axis = 1 : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
  func.return
}

// CHECK-LABEL: @take_along_axis_of_fewer_rows
// GENERIC-LABEL: sym_name = "take_along_axis_of_fewer_rows"
func.func @take_along_axis_of_fewer_rows(%x: tensor<4x8xi1>, %i: tensor<2x9xui8>) {
  // CHECK: graph.take_along_axis %x, %i, axis = -1 : (tensor<4x8xi1>, tensor<2x9xui8>) -> tensor<2x9xi1>
  // GENERIC: "graph.take_along_axis"(%x, %i) <{axis = -1 : i64}> : (tensor<4x8xi1>, tensor<2x9xui8>) -> tensor<2x9xi1>
  %y = graph.take_along_axis %x, %i, axis = -1 : (tensor<4x8xi1>, tensor<2x9xui8>) -> tensor<2x9xi1>
  func.return
}

// CHECK-LABEL: @gather_nd
// GENERIC-LABEL: sym_name = "gather_nd"
func.func @gather_nd(%x: tensor<4x8x2xf32>, %i: tensor<3x2xi64>) {
  // CHECK: graph.gather_nd %x, %i : (tensor<4x8x2xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
  // GENERIC: "graph.gather_nd"(%x, %i) <{batch_dims = 0 : i64}> : (tensor<4x8x2xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
  %y = graph.gather_nd %x, %i : (tensor<4x8x2xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
  func.return
}

// CHECK-LABEL: @gather_nd_of_a_batch
// GENERIC-LABEL: sym_name = "gather_nd_of_a_batch"
func.func @gather_nd_of_a_batch(%x: tensor<?x8x2xf32>, %i: tensor<4x1xi32>) {
  // CHECK: graph.gather_nd %x, %i, batch_dims = 1 : (tensor<?x8x2xf32>, tensor<4x1xi32>) -> tensor<4x2xf32>
  // GENERIC: "graph.gather_nd"(%x, %i) <{batch_dims = 1 : i64}> : (tensor<?x8x2xf32>, tensor<4x1xi32>) -> tensor<4x2xf32>
  %y = graph.gather_nd %x, %i, batch_dims = 1 : (tensor<?x8x2xf32>, tensor<4x1xi32>) -> tensor<4x2xf32>
  func.return
}

// CHECK-LABEL: @scatter_elements
// GENERIC-LABEL: sym_name = "scatter_elements"
func.func @scatter_elements(%x: tensor<4x8xf32>, %i: tensor<4x3xi64>, %u: tensor<4x3xf32>) {
  // CHECK: graph.scatter_elements %x, %i, %u, axis = 1 : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  // GENERIC: "graph.scatter_elements"(%x, %i, %u) <{axis = 1 : i64, reduction = "none"}> : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  %y = graph.scatter_elements %x, %i, %u, axis = 1 : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @scatter_elements_added
// GENERIC-LABEL: sym_name = "scatter_elements_added"
func.func @scatter_elements_added(%x: tensor<4x8xi8>, %i: tensor<4x3xi64>, %u: tensor<4x3xi8>) {
  // CHECK: graph.scatter_elements %x, %i, %u, axis = 1, reduction = "add" : (tensor<4x8xi8>, tensor<4x3xi64>, tensor<4x3xi8>) -> tensor<4x8xi8>
  // GENERIC: "graph.scatter_elements"(%x, %i, %u) <{axis = 1 : i64, reduction = "add"}> :
  %y = graph.scatter_elements %x, %i, %u, axis = 1, reduction = "add" : (tensor<4x8xi8>, tensor<4x3xi64>, tensor<4x3xi8>) -> tensor<4x8xi8>
  func.return
}

// CHECK-LABEL: @scatter_nd
// GENERIC-LABEL: sym_name = "scatter_nd"
func.func @scatter_nd(%x: tensor<4x8xf32>, %i: tensor<3x1xi64>, %u: tensor<3x8xf32>) {
  // CHECK: graph.scatter_nd %x, %i, %u : (tensor<4x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<4x8xf32>
  // GENERIC: "graph.scatter_nd"(%x, %i, %u) <{reduction = "none"}> : (tensor<4x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<4x8xf32>
  %y = graph.scatter_nd %x, %i, %u : (tensor<4x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @scatter_nd_of_the_greatest
// GENERIC-LABEL: sym_name = "scatter_nd_of_the_greatest"
func.func @scatter_nd_of_the_greatest(%x: tensor<4x8xf32>, %i: tensor<2xi64>, %u: tensor<f32>) {
  // CHECK: graph.scatter_nd %x, %i, %u, reduction = "maximum" : (tensor<4x8xf32>, tensor<2xi64>, tensor<f32>) -> tensor<4x8xf32>
  // GENERIC: "graph.scatter_nd"(%x, %i, %u) <{reduction = "maximum"}> :
  %y = graph.scatter_nd %x, %i, %u, reduction = "maximum" : (tensor<4x8xf32>, tensor<2xi64>, tensor<f32>) -> tensor<4x8xf32>
  func.return
}
