// RUN: stepwell-opt %s -p lower-graph-to-loops,bufferize | filecheck %s

/// Names of results become names of outputs; others are numbered.

// CHECK-LABEL: func.func @main
// CHECK-SAME: stepwell.role = "output", stepwell.name = "logits/0"
// CHECK-SAME: stepwell.role = "output", stepwell.name = "result1"
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {stepwell.name = "logits/0"}, tensor<4xf32>) {
  %0 = graph.exp %x : (tensor<4xf32>)
  %1 = graph.relu %x : (tensor<4xf32>)
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

/// Without any, all are numbered.

// CHECK-LABEL: func.func @no_names
// CHECK-SAME: stepwell.role = "output", stepwell.name = "result0"
func.func @no_names(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.exp %x : (tensor<4xf32>)
  func.return %0 : tensor<4xf32>
}
