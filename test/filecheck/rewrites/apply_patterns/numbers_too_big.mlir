// RUN: not stepwell-opt %s -p 'apply-patterns{file="%S/numbers_too_big.rules"}' 2>&1 | filecheck %s

/// Only the program says which numbers its element type holds.

// CHECK: numbers_too_big.mlir:{{[0-9]+:[0-9]+}}: error: 'graph.multiply': rule 'far' makes a constant: the value is 300000000000, which i32 cannot hold: expected -2147483648 to 2147483647
// CHECK-NOT: internal error
func.func @main(%i: tensor<5xi32>) -> tensor<5xi32> {
  %k = graph.constant dense<3> : tensor<i32>
  %m = graph.multiply %i, %k : (tensor<5xi32>, tensor<i32>) -> tensor<5xi32>
  func.return %m : tensor<5xi32>
}
