// RUN: stepwell-opt %s -p 'lower-graph-to-loops{allow-partial=true}' | filecheck %s --check-prefix=PARTIAL
// RUN: not stepwell-opt %s -p lower-graph-to-loops 2>&1 | filecheck %s

/// Every op without a tensor expression is listed in one go, with its place.
// CHECK: refused_all_at_once.mlir:19:3: error: 3 ops on tensors have no tensor expression: 'arith.addf' at 19:3, 23:5, 'arith.mulf' at 21:3
// CHECK-NEXT: %a = arith.addf
// CHECK-NEXT: ^
// CHECK: hint: use graph.add for arith.addf, graph.multiply for arith.mulf

/// With allow-partial they stay, and the others are lowered.
// PARTIAL-LABEL: func.func @main
// PARTIAL-NEXT: %[[A:.*]] = arith.addf %x, %x : tensor<3xf32>
// PARTIAL-NEXT: %[[B:.*]] = graph.call_kernel @exp(%[[A]])
// PARTIAL-NEXT: arith.mulf %[[B]], %x : tensor<3xf32>
// PARTIAL: scf.if
// PARTIAL-NEXT: arith.addf
// PARTIAL: tensor_loop.func private @exp
func.func @main(%x: tensor<3xf32>, %c: i1) -> tensor<3xf32> {
  %a = arith.addf %x, %x : tensor<3xf32>
  %b = graph.exp %a : (tensor<3xf32>) -> tensor<3xf32>
  %m = arith.mulf %b, %x : tensor<3xf32>
  %r = scf.if %c -> (tensor<3xf32>) {
    %s = arith.addf %m, %x : tensor<3xf32>
    scf.yield %s : tensor<3xf32>
  } else {
    scf.yield %m : tensor<3xf32>
  }
  func.return %r : tensor<3xf32>
}
