// RUN: stepwell-opt --test-rules=%s --cases 12 | filecheck %s

// CHECK: ok    relu-of-relu (exact): equal bit for bit; applied 12 of [[#]], [[#]] runs
pattern.rule "relu-of-relu" doc "relu is idempotent" {
  %x = pattern.any
  %inner = pattern.op "graph.relu"(%x)
  %root = pattern.op "graph.relu"(%inner)
  pattern.replace %root with %inner
}

// CHECK-NEXT: ok    add-of-multiply (rounding): equal but for rounding; applied 12 of [[#]], [[#]] runs
pattern.rule "add-of-multiply" numerics "rounding" {
  %x = pattern.any
  %y = pattern.any
  %z = pattern.any
  %product = pattern.op "graph.multiply"(%x, %y)
  %root = pattern.op "graph.add"(%product, %z)
  pattern.rewrite %root {
    %fma = pattern.create "graph.ewise_fma"(%x, %y, %z)
    pattern.yield %fma
  }
}

// CHECK-NEXT: ok    subtract-of-itself (fast): equal where finite; applied 12 of [[#]], [[#]] runs
pattern.rule "subtract-of-itself" numerics "fast" {
  %x = pattern.any
  %root = pattern.op "graph.subtract"(%x, %x)
  pattern.rewrite %root {
    %v = pattern.build "full"() with {value = 0 : i64}
    pattern.yield %v
  }
}

// CHECK-NEXT: 3 rules: 3 right, 0 wrong, 0 not exercised
