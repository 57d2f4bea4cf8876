// RUN: stepwell-opt %s --explain-match=subtract-of-zero@%%y -o %t 2>&1 | filecheck %s --check-prefix=VALUE
// RUN: stepwell-opt %s --explain-match=idempotent -o %t 2>&1 | filecheck %s --check-prefix=ROOTS
// RUN: stepwell-opt %s -p cse,simplify-expr --explain-match=idempotent -o %t 2>&1 | filecheck %s --check-prefix=LATER
// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/rules_explained.mlir"}' --explain-match=own-rule@%%w -o %t 2>&1 | filecheck %s --check-prefix=OWN
// RUN: not stepwell-opt %s --explain-match=idempotant 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not stepwell-opt %s --explain-match=idempotent@%%ww 2>&1 | filecheck %s --check-prefix=NAME
// RUN: stepwell-opt %s -p simplify-expr --pattern-stats -o %t 2>&1 | filecheck %s --check-prefix=STATS

// VALUE: explain_match.mlir:[[#]]:3: rule 'subtract-of-zero' at %y = 'graph.subtract': no match: 'graph.subtract', operand 1: expected a constant of 0.0, found 1.0 (%one)
// VALUE-NEXT: bound so far:
// VALUE-NEXT: %root = 'graph.subtract'
// VALUE-NEXT: %x = %x

// ROOTS: rule 'idempotent' at %z = 'graph.relu': no match: 'graph.relu', operand 0: expected 'graph.relu' or 'graph.abs'{{.*}}, found 'graph.subtract'
// ROOTS: rule 'idempotent' at %w = 'graph.relu': matches
// ROOTS: rule 'idempotent' at %w2 = 'graph.relu': matches

/// What the pass is given: one of two equal ops is gone.
// LATER: at %w = 'graph.relu': matches
// LATER-NOT: at %w2

// OWN: rule 'own-rule' at %w = 'graph.relu': no match: {{.*}}condition 'integer' does not hold

// UNKNOWN: error: unknown rule 'idempotant'
// UNKNOWN-NEXT: hint: did you mean 'idempotent'?
// NAME: error: no op has a result called %ww

// STATS: tries hits ms rule
// STATS: {{^ +[1-9][0-9]* +2 +[0-9.]+  idempotent}}

func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %one = graph.full 1.0 : tensor<4xf32>
  %y = graph.subtract %x, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = graph.relu %y : (tensor<4xf32>) -> tensor<4xf32>
  %w = graph.relu %z : (tensor<4xf32>) -> tensor<4xf32>
  %w2 = graph.relu %z : (tensor<4xf32>) -> tensor<4xf32>
  func.return %w, %w2 : tensor<4xf32>, tensor<4xf32>
}
