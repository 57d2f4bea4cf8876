// RUN: stepwell-opt --check-rules=%s --cases 4 | filecheck %s

/// The second rule makes two products of one, and still lowers a sum below a product.
// CHECK-NOT: warning:
// CHECK: note: every rule lowers this measure on its examples: {{.*}}multiply {{[0-9]+}} (factor 2)
// CHECK: 2 rules, 0 warnings
pattern.rule "abs-of-abs" : abs(abs(%x) as %inner) => %inner
pattern.rule "multiply-of-sum" : (%x + constant %k as %inner) * constant %l => %x * %l + %k * %l
  where integer(%x), not-literal(%x), single-use(%inner)
