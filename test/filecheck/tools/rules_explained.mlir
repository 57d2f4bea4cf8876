// RUN: stepwell-opt --test-rules=%s --cases 4 | filecheck %s

/// The rule that explain_match.mlir asks about.
// CHECK: ok    own-rule (exact): equal bit for bit
pattern.rule "own-rule" {
  %x = pattern.any
  %inner = pattern.op "graph.relu"(%x)
  %root = pattern.op "graph.relu"(%inner)
  pattern.require "integer"(%x)
  pattern.replace %root with %inner
}
