// RUN: not stepwell-opt --check-rules=%s --cases 4 | filecheck %s

/// Each rule undoes the other.
// CHECK: rule_sets_cycle.mlir:[[# @LINE + 3]]:1: warning: after rule 'add-of-negative' there is no end: 'graph.subtract': no fixed point after 60 rewrites of one op; the last ones were by {{.*}}'subtract-to-add'
// CHECK-NEXT: example:
// CHECK: note: no measure falls with every rule, for some undo each other
pattern.rule "add-of-negative" : %x + -%y => %x - %y
pattern.rule "subtract-to-add" : %x - %y => %x + -%y
