// RUN: stepwell-opt --list-passes | filecheck %s --check-prefix=PASSES
// RUN: stepwell-opt --list-dialects | filecheck %s --check-prefix=DIALECTS
// RUN: stepwell-opt --list-plugins | filecheck %s --check-prefix=PLUGINS
// RUN: stepwell-opt --explain-op arith.addi | filecheck %s --check-prefix=OP
// RUN: not stepwell-opt --explain-op arith.adi 2>&1 | filecheck %s --check-prefix=NOOP
// RUN: stepwell-opt --show-pipeline 'cse, canonicalize' | filecheck %s --check-prefix=PIPELINE

// PASSES: passes of xdsl:
// PASSES: canonicalize {{.*}}Applies all canonicalization patterns
// PASSES: named pipelines
// DIALECTS: dialects of stepwell:
// DIALECTS-NEXT: graph
// DIALECTS: dialects of xdsl:
// DIALECTS: arith
// PLUGINS: {{.+}}
// OP: arith.addi
// OP: operands:
// OP-NEXT: lhs
// OP-NEXT: rhs
// OP: attributes:
// OP-NEXT: overflowFlags
// OP: traits:
// OP: Commutative
// NOOP: error: op 'arith.adi' is unknown
// PIPELINE: cse,
// PIPELINE-NEXT: canonicalize
