// RUN: not stepwell-opt %s -p 'eliminate-common-subexpr{skip="graph.ad"}' 2>&1 | filecheck %s

/// A misspelt name would skip nothing, in silence (AUDIT B3).
// CHECK: error: eliminate-common-subexpr: skip: op 'graph.ad' is unknown
// CHECK: hint: did you mean 'graph.{{.*}}ad{{.*}}'?
builtin.module {}
