// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @cumulative_sum
// GENERIC-LABEL: sym_name = "cumulative_sum"
func.func @cumulative_sum(%x: tensor<4x?xf16>) {
  // CHECK: graph.cumulative_sum %x, axis = -1 : (tensor<4x?xf16>) -> tensor<4x?xf16>
  // GENERIC: "graph.cumulative_sum"(%x) <{axis = -1 : i64, exclusive = false, reverse = false}>
  %y = graph.cumulative_sum %x, axis = -1 : (tensor<4x?xf16>)
  func.return
}

// CHECK-LABEL: @cumulative_prod
// GENERIC-LABEL: sym_name = "cumulative_prod"
func.func @cumulative_prod(%x: tensor<4x8xui8>) {
  // CHECK: graph.cumulative_prod %x, axis = 0, exclusive = true, reverse = true : (tensor<4x8xui8>) -> tensor<4x8xui8>
  // GENERIC: "graph.cumulative_prod"(%x) <{axis = 0 : i64, exclusive = true, reverse = true}>
  %y = graph.cumulative_prod %x, axis = 0, exclusive = true, reverse = true : (tensor<4x8xui8>) -> tensor<4x8xui8>
  func.return
}
