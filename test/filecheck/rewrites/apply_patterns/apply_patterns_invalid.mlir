// RUN: not stepwell-opt %s -p 'apply-patterns{file="%S/alternating.rules"}' 2>&1 | filecheck %s --check-prefix=ALTERNATE
// RUN: not stepwell-opt %s -p 'apply-patterns{file="no_such_file.mlir"}' 2>&1 | filecheck %s --check-prefix=FILE
// RUN: not stepwell-opt %s -p 'apply-patterns{file="simplify.mlir" rules="idempotnt"}' 2>&1 | filecheck %s --check-prefix=RULE
// RUN: not stepwell-opt %s -p 'apply-patterns{file="simplify.mlir" numerics="loose"}' 2>&1 | filecheck %s --check-prefix=NUMERICS
// RUN: not stepwell-opt %s -p 'apply-patterns{file="simplify.mlir" rules="add-of-zero"}' 2>&1 | filecheck %s --check-prefix=CLASS
// RUN: not stepwell-opt %s -p 'simplify-expr{only="idempotnt"}' 2>&1 | filecheck %s --check-prefix=ONLY

// ALTERNATE: error: 'graph.subtract': no fixed point after 1000 rewrites of one op; the last ones were by 'back' and 'swap'
// FILE: error: cannot read 'no_such_file.mlir': no such file or directory
// RULE: error: 'simplify.mlir' has no rule 'idempotnt', did you mean 'idempotent'?
// NUMERICS: error: 'simplify.mlir': numerics is 'loose', expected one of strict, default, fast
// CLASS: error: 'simplify.mlir': rule 'add-of-zero' is of class fast, which numerics="default" forbids
// ONLY: error: simplify-expr has no rule 'idempotnt', did you mean 'idempotent'?
func.func @alternating(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
