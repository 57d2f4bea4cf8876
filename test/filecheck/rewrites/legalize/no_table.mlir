// RUN: stepwell-opt %s -p 'legalize{table=elementry}' | filecheck %s
// RUN: stepwell-opt %s -p 'legalize{table=elementry}' 2>&1 | filecheck %s --check-prefix WARNING

/// A table that does not exist changes nothing, and says so.
// WARNING: warning: 'builtin.module': no legalization table 'elementry', nothing is legalized; did you mean 'elementary'?
// CHECK-LABEL: @square
func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.square %x
  %y = graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
