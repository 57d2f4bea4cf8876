// RUN: not stepwell-opt --check-rules=%s --cases 6 | filecheck %s

/// The general rule comes last, and a rule that may lose NaN is not there for the exact one in strict numerics.
pattern.rule "relu-of-relu" : relu(relu(%x) as %inner) => %inner
pattern.rule "fast-negative" fast : negative(%x) => 0.0 - %x
pattern.rule "negative-of-negative" : -(-%x) => %x

// CHECK-NOT: is shadowed
// CHECK: 3 rules, 1 warning
