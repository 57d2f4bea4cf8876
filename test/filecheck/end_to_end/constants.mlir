// RUN: stepwell-run %s | filecheck %s
// RUN: stepwell-run %s --opt-level 0 | filecheck %s
// RUN: stepwell-opt %s -p O1 | stepwell-run - | filecheck %s

/// A program without arguments: what is folded at O1 and computed at O0 is the same.
// CHECK: result0: tensor<2x2xf32> [19.0 22.0 43.0 50.0]
// CHECK-NEXT: result1: tensor<3xui8> [254 255 0]
// CHECK-NEXT: result2: tensor<i1> [True]
// CHECK-NEXT: result3: tensor<0x2xf16> []
func.func @main() -> (tensor<2x2xf32>, tensor<3xui8>, tensor<i1>, tensor<0x2xf16>) {
  %a = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = graph.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %p = graph.matmul %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %i = graph.constant dense<[250, 251, 252]> : tensor<3xui8>
  %four = graph.full 4 : tensor<ui8>
  %w = graph.add %i, %four : (tensor<3xui8>, tensor<ui8>) -> tensor<3xui8>
  %t = graph.constant dense<[true, false]> : tensor<2xi1>
  %any = graph.any %t : (tensor<2xi1>) -> tensor<i1>
  %empty = graph.full 1.0 : tensor<0x2xf16>
  func.return %p, %w, %any, %empty : tensor<2x2xf32>, tensor<3xui8>, tensor<i1>, tensor<0x2xf16>
}
