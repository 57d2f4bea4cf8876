// RUN: not stepwell-opt %s -p O3 2>&1 | filecheck %s
// RUN: stepwell-opt %s -p convert-linalg-to-loops,O3 | filecheck %s --check-prefix=LOWERED
// AUDIT C2: the message names the pass that lowers linalg on buffers.

// CHECK: linalg_on_buffers.mlir:10:3: error: 'linalg.add': no lowering to the llvm dialect
// CHECK: hint: run convert-linalg-to-loops first, for instance -p convert-linalg-to-loops,O3

// LOWERED: llvm.fadd
func.func @main(%x: memref<4xf32> {stepwell.role = "input"}, %y: memref<4xf32> {stepwell.role = "output"}) {
  linalg.add ins(%x, %x : memref<4xf32>, memref<4xf32>) outs(%y : memref<4xf32>)
  func.return
}
