// RUN: stepwell-opt --mutate-rules=%s --cases 20 | filecheck %s

pattern.rule "multiply-by-one" {
  %x = pattern.any
  %k = pattern.splat 1.0
  %root = pattern.op "graph.multiply"(%x, %k)
  pattern.replace %root with %x
}

pattern.rule "add-of-negative" {
  %x = pattern.any
  %y = pattern.any
  %n = pattern.op "graph.negative"(%y)
  %root = pattern.op "graph.add"(%x, %n)
  pattern.require "single-use"(%n)
  pattern.rewrite %root {
    %d = pattern.create "graph.subtract"(%x, %y)
    pattern.yield %d
  }
}

// CHECK-NOT: survived {{.*}}:
// CHECK: [[#]] mutants: [[#]] caught (100.0%), 0 survived, 0 of them without a reason; besides 0 that are the same rule, 1 of conditions on cost and structure
