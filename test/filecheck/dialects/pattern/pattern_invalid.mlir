// RUN: %invalid

// CHECK: rule 'a' has numerics 'loose', expected one of exact, rounding, fast
pattern.rule "a" numerics "loose" {
  %x = pattern.any
  %root = pattern.op "graph.relu"(%x)
  pattern.replace %root with %x
}

// -----
// CHECK: // -----

// CHECK: rule 'b' does not end in 'pattern.replace' or 'pattern.rewrite'
pattern.rule "b" {
  %x = pattern.any
}

// -----
// CHECK: // -----

// CHECK: expects parent op 'pattern.rule'
%x = pattern.any
