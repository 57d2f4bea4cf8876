// RUN: not stepwell-run %s --opt-level 3 2>&1 | filecheck %s
// RUN: not stepwell-run %s --opt-level 0 2>&1 | filecheck %s

/// The first failing op in program order is reported, with its line.
// CHECK: failure.mlir:11:3: error: graph.take: index out of range
// CHECK-NEXT: %a = graph.take %x, %i
// CHECK-NEXT: ^
func.func @main() -> (tensor<2xi32>, tensor<2xi32>) {
  %x = graph.constant dense<[1, 2, 3]> : tensor<3xi32>
  %i = graph.constant dense<[0, 7]> : tensor<2xi64>
  %a = graph.take %x, %i, axis = 0 : (tensor<3xi32>, tensor<2xi64>) -> tensor<2xi32>
  %zero = graph.full 0 : tensor<2xi32>
  %b = graph.divide %a, %zero : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  func.return %a, %b : tensor<2xi32>, tensor<2xi32>
}
