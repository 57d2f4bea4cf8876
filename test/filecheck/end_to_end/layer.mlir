// RUN: stepwell-run %s --random 7 --print | filecheck %s
// RUN: stepwell-run %s --random 7 --print --opt-level 0 | filecheck %s
// RUN: stepwell-opt %s -p O2 | stepwell-run - --random 7 --print | filecheck %s
// RUN: stepwell-opt %s -p graph-optimize,to-loops,bufferize | stepwell-run - --random 7 --print | filecheck %s

/// Exact arithmetic, so every way down prints the same.
// CHECK: result0 = int32[2, 3]
// CHECK-NEXT: {{\[\[}} 0 66 18]
// CHECK-NEXT: [ 0  0  0{{\]\]}}
// CHECK-NEXT: result1 = bool[2, 3]
// CHECK-NEXT: {{\[\[}}False  True  True]
// CHECK-NEXT: [False False False{{\]\]}}
func.func @main(%x: tensor<2x4xi32>, %w: tensor<4x3xi32>, %b: tensor<3xi32>) -> (tensor<2x3xi32>, tensor<2x3xi1>) {
  %p = graph.matmul %x, %w : (tensor<2x4xi32>, tensor<4x3xi32>) -> tensor<2x3xi32>
  %s = graph.add %p, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %r = graph.relu %s : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %e = graph.equal %r, %s : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  func.return %r, %e : tensor<2x3xi32>, tensor<2x3xi1>
}
