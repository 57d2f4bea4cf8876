// RUN: stepwell-opt %s -p 'cse,apply-patterns{file="%S/wrong.rules" rules="abs-is-nothing"}' --bisect | filecheck %s
// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/wrong.rules" rules="abs-is-nothing"}' --rewrite-limit 1 | filecheck %s --check-prefix=LIMIT
// RUN: stepwell-opt %s -p 'cse' --bisect | filecheck %s --check-prefix=RIGHT
// RUN: stepwell-opt %s -p 'cse,apply-patterns{file="%S/wrong.rules" rules="abs-is-nothing"}' --bisect-command 'grep -q "graph.abs %0" {}' | filecheck %s --check-prefix=COMMAND
// RUN: not stepwell-opt %s -p 'cse' --rewrite-limit -1 2>&1 | filecheck %s --check-prefix=NEGATIVE

/// The absolute value of an exponential is itself, so the second application is the one that is wrong.
// CHECK: pass 'apply-patterns{{.*}}' (number 2 of the pipeline) changes a result of @main: result 0 at [
// CHECK-NEXT: application 2: rule 'abs-is-nothing' at {{.*}}bisect.mlir:{{[0-9]+}}:3 ('graph.abs'); --rewrite-limit 1 leaves it out
// CHECK: --- before
// CHECK: -{{.*}}graph.abs
// CHECK: found in {{[0-9]+}} runs

// COMMAND: makes the command 'grep -q {{.*}}' fail
// COMMAND-NEXT: application 1: rule 'abs-is-nothing'

// LIMIT: graph.exp
// LIMIT-NOT: graph.abs
// LIMIT: graph.negative
// LIMIT-NEXT: graph.abs

// RIGHT: no pass fails, and none changes a result
// NEGATIVE: error: --rewrite-limit is -1, expected a number that is not negative
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.abs %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.negative %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.abs %2 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}
