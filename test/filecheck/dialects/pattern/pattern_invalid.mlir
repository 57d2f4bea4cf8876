// RUN: %invalid

// CHECK: rule 'a' has numerics 'loose', expected one of exact, rounding, quantised, fast
pattern.rule "a" numerics "loose" {
  %x = pattern.any
  %root = pattern.op "graph.relu"(%x)
  pattern.replace %root with %x
}

// -----
// CHECK: // -----

// CHECK: rule 'b' does not end in 'pattern.replace', 'pattern.rewrite', 'pattern.partition' or 'pattern.decide'
pattern.rule "b" {
  %x = pattern.any
}

// -----
// CHECK: // -----

// CHECK: expects parent op to be one of 'pattern.rule', 'pattern.define'
%x = pattern.any

// -----
// CHECK: // -----

// CHECK: has operands and takes any operands
pattern.rule "c" {
  %x = pattern.any
  %c = pattern.call any(%x)
  %root = pattern.op "graph.relu"(%x)
  pattern.replace %root with %x
}

// -----
// CHECK: // -----

// CHECK: names a function and has a pattern of one
pattern.rule "c" {
  %x = pattern.any
  %f = pattern.function(%x) returns %x
  %c = pattern.call named "f" to %f()
  %root = pattern.op "graph.relu"(%x)
  pattern.replace %root with %x
}

// -----
// CHECK: // -----

// CHECK: has parameters and takes any parameters
pattern.rule "c" {
  %x = pattern.any
  %c = pattern.function any(%x) returns %x
  %root = pattern.op "graph.relu"(%x)
  pattern.replace %root with %x
}

// -----
// CHECK: // -----

// CHECK: expected at least one pattern
pattern.rule "c" {
  %x = pattern.any
  %c = "pattern.and"() : () -> !pattern.value
  %root = pattern.op "graph.relu"(%x)
  pattern.replace %root with %x
}

// -----
// CHECK: // -----

// CHECK: expected at least two patterns
pattern.rule "c" {
  %x = pattern.any
  %c = pattern.together %x
  %root = pattern.op "graph.relu"(%x)
  pattern.replace %root with %x
}

// -----
// CHECK: // -----

// CHECK: the body has 0 arguments for 1 patterns
pattern.rule "c" {
  %x = pattern.any
  %e = pattern.expression (%x) {
    %k = graph.full 0.0 : tensor<4xf32>
    pattern.returns %k : tensor<4xf32>
  }
  %root = pattern.op "graph.relu"(%x)
  pattern.replace %root with %x
}

// -----
// CHECK: // -----

// CHECK: the body does not end in 'pattern.returns'
pattern.rule "c" {
  %e = pattern.expression () {
    llvm.unreachable
  }
  %root = pattern.op "graph.relu"(%e)
  pattern.replace %root with %e
}

// -----
// CHECK: // -----

// CHECK: the branches yield 2 and 1 values, expected as many, at least one
pattern.rule "c" {
  %x = pattern.any
  %i = pattern.if %x then %x, %x else %x
  %root = pattern.op "graph.relu"(%x)
  pattern.replace %root with %x
}

// -----
// CHECK: // -----

// CHECK: expects parent op 'pattern.expression'
%k = graph.full 0.0 : tensor<4xf32>
pattern.returns %k : tensor<4xf32>
