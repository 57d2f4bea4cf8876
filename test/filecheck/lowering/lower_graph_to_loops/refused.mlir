// RUN: stepwell-opt %s -p lower-graph-to-loops --split-input-file --verify-diagnostics | filecheck %s

// CHECK: @nothing_to_do
func.func @nothing_to_do(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  func.return %x : tensor<?x3xf32>
}

// -----

func.func @unknown_sizes(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  // expected-error@+1 {{'graph.relu': operand 0 has type tensor<?x3xf32>, whose sizes are not all known}}
  %a = graph.relu %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %a : tensor<?x3xf32>
}

// -----

func.func @foreign_op(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{1 op on tensors has no tensor expression: 'arith.addf' at 2}}
  %a = arith.addf %x, %x : tensor<3xf32>
  func.return %a : tensor<3xf32>
}
