// RUN: not stepwell-opt --check-rules=%s --cases 4 | filecheck %s

/// Both rules take the logarithm, and no third one brings the results together.
// CHECK: rule_sets_overlap.mlir:[[# @LINE + 13]]:1: warning: rules 'exp-of-log' and 'log-of-sqrt' apply to one program, and the result depends on which is first; the values agree
// CHECK-NEXT: program:
// CHECK: graph.sqrt
// CHECK-NEXT: graph.log
// CHECK-NEXT: graph.exp
// CHECK: first 'exp-of-log':
// CHECK: graph.sqrt
// CHECK-NOT: graph.exp
// CHECK: first 'log-of-sqrt':
// CHECK: graph.log
// CHECK: graph.multiply
// CHECK: graph.exp
// CHECK: 2 rules, 1 warning
pattern.rule "exp-of-log" fast : exp(log(%x)) => %x
pattern.rule "log-of-sqrt" fast : log(sqrt(%x)) => log(%x) * 0.5
