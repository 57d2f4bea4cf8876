// RUN: stepwell-opt %s -p O3 --became %loud --config target=x86-64-v3 | filecheck %s --check-prefix=BECAME
// RUN: stepwell-opt %s -p O3 --blame @fused_matmul_relu0 --config target=x86-64-v3 | filecheck %s --check-prefix=KERNEL
// RUN: stepwell-opt %s -p graph-optimize --blame 8 | filecheck %s --check-prefix=LINE
// RUN: stepwell-opt %s -p O3 -t 'asm{machine="x86-64-v3"}' --config target=x86-64-v3 --became blame.mlir:13 | filecheck %s --check-prefix=CODE
// RUN: not stepwell-opt %s --blame @mian 2>&1 | filecheck %s --check-prefix=FUNCTION
// RUN: not stepwell-opt %s --became %lood 2>&1 | filecheck %s --check-prefix=VALUE
// RUN: not stepwell-opt %s --became 11 2>&1 | filecheck %s --check-prefix=NO-LINE
// RUN: not stepwell-opt %s --blame 900 2>&1 | filecheck %s --check-prefix=PRINTED
// RUN: not stepwell-opt %s --became /layer/Conv 2>&1 | filecheck %s --check-prefix=NODE
// RUN: not stepwell-opt %s --became %0 --split-input-file 2>&1 | filecheck %s --check-prefix=SPLIT

func.func @main(%x: tensor<24x64xf32>, %y: tensor<64x96xf32>) -> tensor<24x96xf32> {
  %0 = graph.matmul %x, %y : (tensor<24x64xf32>, tensor<64x96xf32>) -> tensor<24x96xf32>
  %loud = graph.relu %0 : (tensor<24x96xf32>) -> tensor<24x96xf32>
  %again = graph.relu %loud : (tensor<24x96xf32>) -> tensor<24x96xf32>
  func.return %again : tensor<24x96xf32>
}

// BECAME: %loud in @main: graph.relu
// BECAME-NEXT: source
// BECAME-NEXT:   {{.*}}blame.mlir:14:3  graph.relu
// BECAME-NEXT: by
// BECAME-NEXT:   (source) {{.*}} graph.relu in @main
// BECAME-NEXT:   simplify-expr {{.*}}rule 'idempotent'
// BECAME: apply-fusion-plan {{.*}}graph.relu, func.return in @fused_matmul_relu0; func.call in @main
// BECAME: lower-graph-to-loops {{.*}}lowering 'graph.relu'
// BECAME: now
// BECAME-NEXT:   @fused_matmul_relu0 {{.*}} of {{.*}} ops, with {{.*}}blame.mlir:13:3
// BECAME-NEXT:   @main {{.*}} 1 of {{.*}} ops

// KERNEL: @fused_matmul_relu0: llvm.func of {{[0-9]+}} ops
// KERNEL-NEXT: made from
// KERNEL-NEXT:   {{.*}}blame.mlir:13:3  graph.matmul
// KERNEL-NEXT:   {{.*}}blame.mlir:14:3  graph.relu
// KERNEL-NEXT:   {{.*}}blame.mlir:15:3  graph.relu
// KERNEL-NEXT: by
// KERNEL: plan-fusion {{.*}} fusion 'fuse-elementwise-epilogue'
// KERNEL-NOT: now

// LINE: line 8: graph.relu
// LINE-NEXT: made from
// LINE-NEXT:   {{.*}}blame.mlir:14:3  graph.relu
// LINE-NEXT:   {{.*}}blame.mlir:15:3  graph.relu
// LINE-NEXT: by
// LINE: simplify-expr {{.*}}rule 'idempotent'

// CODE: blame.mlir:13:3
// CODE: machine code
// CODE-NEXT: {{.*}} of {{[0-9]+}} instructions

// FUNCTION: error: the program after the passes has no function @mian
// FUNCTION-NEXT: hint: did you mean '@main'?
// VALUE: error: the program has no value %lood
// VALUE-NEXT: hint: did you mean '%loud'?
// NO-LINE: error: no op of the program begins on line 11
// NO-LINE-NEXT: hint: the nearest op is on line 12
// PRINTED: error: the program after the passes has {{[0-9]+}} lines when it is printed, found line 900
// NODE: error: the program has nothing made of a node '/layer/Conv'
// NODE-NEXT: hint: no op has the name of a node; 'stepwell import-onnx --print-debuginfo' writes them
// SPLIT: error: --became is about one program, it goes without --split-input-file
