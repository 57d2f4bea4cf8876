// RUN: stepwell-opt %s -p O3 --config target=x86-64-v3 -t 'asm{machine="x86-64-v3"}' --kernel matmul | filecheck %s
// RUN: stepwell-opt %s -p O3 --config target=x86-64-v3 -t 'asm{machine="x86-64-v3" kernel="_stepwell_entry_main"}' | filecheck %s --check-prefix=ENTRY
// RUN: not stepwell-opt %s -p O3 -t asm --kernel mamul 2>&1 | filecheck %s --check-prefix=NEAR
// RUN: not stepwell-opt %s -p O3 -t asm --kernel f 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not stepwell-opt %s -t asm --kernel matmul 2>&1 | filecheck %s --check-prefix=GRAPH
// RUN: not stepwell-opt %s -p O3 -t llvm-ir --kernel matmul 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not stepwell-opt %s -p O3 -t asm --kernel 'a"b' 2>&1 | filecheck %s --check-prefix=NAME

// The kernel alone, without the entry that calls it.
// CHECK-NOT: _stepwell_entry_main
// CHECK: .globl{{\s}}matmul
// CHECK: matmul:
// CHECK: vfmadd
// CHECK-NOT: _stepwell_entry_main

// ENTRY: _stepwell_entry_main:

// NEAR: error: the program has no function @mamul to make machine code of
// NEAR-NEXT: hint: did you mean 'matmul'?

// UNKNOWN: error: the program has no function @f to make machine code of
// UNKNOWN-NEXT: hint: it has main, _stepwell_entry_main, matmul

// GRAPH: error: the program has no function @matmul to make machine code of
// GRAPH-NEXT: hint: it has none of the llvm dialect; -p O3 goes there

// TARGET: error: --kernel is for -t asm, found -t llvm-ir

// NAME: error: --kernel 'a"b' is not the name of a function
func.func @main(%x: tensor<24x64xf32>, %y: tensor<64x96xf32>) -> tensor<24x96xf32> {
  %z = graph.matmul %x, %y : (tensor<24x64xf32>, tensor<64x96xf32>) -> tensor<24x96xf32>
  func.return %z : tensor<24x96xf32>
}
