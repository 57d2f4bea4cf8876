// RUN: not stepwell-opt --check-rules=%s --cases 6 | filecheck %s

pattern.rule "relu-of-anything" : relu(%x) => abs(%x)

/// Wherever there is a relu of a relu, there is a relu. The results differ too, which are the other warnings.
// CHECK: rule_sets_shadowed.mlir:[[# @LINE + 3]]:1: warning: rule 'relu-of-relu' is shadowed: in all 120 examples the earlier rule 'relu-of-anything' applies at the same op
// CHECK-NEXT: example:
// CHECK: graph.relu
pattern.rule "relu-of-relu" : relu(relu(%x) as %inner) => %inner

// CHECK: 2 rules, 3 warnings
