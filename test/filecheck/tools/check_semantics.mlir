// RUN: not stepwell-opt %s -p 'apply-patterns{file="%S/wrong.rules" rules="add-of-zero"}' --check-semantics --save-inputs %t.npz 2>&1 | filecheck %s --check-prefix=ZERO
// RUN: not stepwell-opt %s -p 'apply-patterns{file="%S/wrong.rules" rules="add-of-zero"}' --check-semantics --inputs %t.npz 2>&1 | filecheck %s --check-prefix=GIVEN
// RUN: not stepwell-opt %s -p 'cse,apply-patterns{file="%S/wrong.rules" rules="abs-is-nothing"},canonicalize-ops' --check-semantics --seed 4 2>&1 | filecheck %s --check-prefix=ABS
// RUN: stepwell-opt %s -p 'O3' --check-semantics --remarks 2>&1 | filecheck %s --check-prefix=RIGHT
// RUN: not stepwell-opt %s -p 'cse' --inputs %t.npz 2>&1 | filecheck %s --check-prefix=ALONE
// RUN: not stepwell-opt %s -p 'cse' --check-semantics --seed -1 2>&1 | filecheck %s --check-prefix=SEED
// RUN: not stepwell-opt %s -p 'cse' --check-semantics --shapes 4,3 2>&1 | filecheck %s --check-prefix=SHAPES

// ZERO: check_semantics.mlir:{{[0-9]+}}:3: error: pass 'apply-patterns{{.*}}' changes a result of @main: result 0 at [{{[0-9]}}] is -0.0, before it 0.0 (tolerance 0, the same bits)
// ZERO: note: number 1 of the pipeline, class exact, inputs '{{.*}}' of seed 0; before it was run by the reference interpreter, after it by the reference interpreter
// ZERO-NEXT: note: the inputs are in {{.*}}.npz: repeat with --inputs

// GIVEN: error: pass 'apply-patterns{{.*}}' changes a result of @main: result 0
// GIVEN: note: number 1 of the pipeline, class exact, inputs of the user

// ABS: error: pass 'apply-patterns{{.*}}' changes a result of @main: result 1 at
// ABS: note: number 2 of the pipeline, class rounding, inputs 'random' of seed 4

// RIGHT: check-semantics: {{[0-9]+}} passes changed the program, {{[0-9]+}} runs by the reference interpreter, 5 natively; 0 elements and 0 runs left open
// RIGHT: remark: 'func.func': @silent is not checked: it returns nothing

// ALONE: error: --inputs is for --check-semantics, which is not given
// SEED: error: the seed is -1, expected a number that is not negative
// SHAPES: error: 2 shapes are given for the check of @main, expected 1
func.func @silent(%x: tensor<4xf32>) {
  func.return
}

func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.constant dense<0.0> : tensor<4xf32>
  %1 = graph.add %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
