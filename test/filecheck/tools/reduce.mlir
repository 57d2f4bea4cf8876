// RUN: stepwell reduce %s --wrong -p 'apply-patterns{file="%S/wrong.rules"}' --jobs 1 --test %t.mlir | filecheck %s
// RUN: filecheck %s --check-prefix=TEST < %t.mlir
// RUN: stepwell reduce %s --command 'grep -q graph.tanh {}' --jobs 2 | filecheck %s --check-prefix=COMMAND
// RUN: not stepwell reduce %s --wrong -p cse 2>&1 | filecheck %s --check-prefix=RIGHT
// RUN: not stepwell reduce %s --wrong 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not stepwell reduce %s --command true -o %s 2>&1 | filecheck %s --check-prefix=SAME

// CHECK: func.func @main(%[[X:.*]]: tensor<1x1xf32>) -> tensor<1x1xf32> {
// CHECK-NEXT: graph.abs %[[X]]
// CHECK-NEXT: func.return

// TEST: // {{R}}UN: stepwell-opt %s -p 'apply-patterns{{.*}}' --check-semantics | filecheck %s
// TEST: // {{C}}HECK: @main
// TEST: graph.abs

// COMMAND-NOT: graph.{{exp|abs|add|matmul}}
// COMMAND: graph.tanh
// COMMAND-NOT: graph.

// RIGHT: reduce.mlir' is not interesting: the passes 'cse' change no result
// RIGHT-NEXT: hint: reduce needs a program that fails before it shrinks
// NONE: error: --wrong needs the passes that change a result
// SAME: reduce.mlir' is the program itself
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = graph.matmul %x, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.tanh %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.abs %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = graph.add %2, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = graph.exp %3 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %4, %0 : tensor<4x4xf32>, tensor<4x4xf32>
}
