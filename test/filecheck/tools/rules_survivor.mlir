// RUN: not stepwell-opt --mutate-rules=%s --cases 20 | filecheck %s

/// Fewer than 90 % of the faults are noticed: the rule holds for either op.
// CHECK: survived   rules_survivor: x-minus-zero: %root matches graph.add instead of graph.subtract
// CHECK: caught ({{[0-8]?[0-9]}}.{{[0-9]}}%), {{[1-9]}} survived
pattern.rule "x-minus-zero" numerics "fast" {
  %x = pattern.any
  %k = pattern.splat 0.0
  %root = pattern.op "graph.subtract"(%x, %k)
  pattern.replace %root with %x
}
