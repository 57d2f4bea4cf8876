// RUN: not stepwell-opt %s -p O2 -t llvm 2>&1 | filecheck %s
// RUN: stepwell-opt %s -p O2 -t llvm-ir | filecheck %s --check-prefix=OURS
// AUDIT C3: the printer of xDSL does not know every op of ours; ours prints all.

// CHECK: error: target 'llvm' of xdsl cannot print this program: Conversion not implemented for op: llvm_ext.poison
// CHECK-NEXT: hint: -t llvm-ir prints the LLVM text of every program

// OURS: define i32 @_stepwell_entry_main
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y = graph.matmul %x, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %y : tensor<64x64xf32>
}
