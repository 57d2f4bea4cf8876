// RUN: stepwell-opt --check-rules=%s --cases 4 | filecheck %s

/// |-(-x)| becomes |-x| or |x|, and |x| in the end.
pattern.rule "abs-of-negative" : abs(-%x) => abs(%x) where signed(%x)
pattern.rule "abs-of-abs" : abs(abs(%x) as %inner) => %inner
pattern.rule "negative-of-negative" : -(-%x) => %x

// CHECK-NOT: warning:
// CHECK: note: pairs of rules that apply to one program: {{[1-9]}}
// CHECK: 3 rules, 0 warnings
