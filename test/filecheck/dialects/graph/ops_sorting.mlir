// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @top_k
// GENERIC-LABEL: sym_name = "top_k"
func.func @top_k(%x: tensor<4x8xf32>) {
  // CHECK: %v, %i = graph.top_k %x, k = 3, axis = 1 : (tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
  // GENERIC: "graph.top_k"(%x) <{k = 3 : i64, axis = 1 : i64, largest = true}> : (tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
  %v, %i = graph.top_k %x, k = 3, axis = 1 : (tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
  func.return
}

// CHECK-LABEL: @top_k_smallest
// GENERIC-LABEL: sym_name = "top_k_smallest"
func.func @top_k_smallest(%x: tensor<?xui8>) {
  // CHECK: %v, %i = graph.top_k %x, k = 0, largest = false : (tensor<?xui8>) -> (tensor<0xui8>, tensor<0xi64>)
  // GENERIC: "graph.top_k"(%x) <{k = 0 : i64, largest = false, axis = -1 : i64}> : (tensor<?xui8>) -> (tensor<0xui8>, tensor<0xi64>)
  %v, %i = graph.top_k %x, k = 0, largest = false : (tensor<?xui8>) -> (tensor<0xui8>, tensor<0xi64>)
  func.return
}
