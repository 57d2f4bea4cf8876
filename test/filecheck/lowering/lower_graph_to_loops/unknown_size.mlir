// RUN: not stepwell-opt %s -p lower-graph-to-loops 2>&1 | filecheck %s

/// The message shows the pass to run first.
// CHECK: unknown_size.mlir:8:3: error: 'graph.relu': operand 0 has type tensor<?x3xf32>, whose sizes are not all known
// CHECK-NEXT: %a = graph.relu
// CHECK: hint: give the sizes first: specialize-shapes{main="4x784"}
func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %a = graph.relu %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %a : tensor<?x3xf32>
}
