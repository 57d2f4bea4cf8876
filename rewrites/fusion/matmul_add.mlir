// A matrix product and the addition of its bias are one group.

pattern.rule "add-of-matmul" doc "x @ w + b becomes one fused function" {
  %x = pattern.any
  %w = pattern.any
  %b = pattern.any
  %product = pattern.op "graph.matmul"(%x, %w)
  %root = pattern.op "graph.add"(%product, %b)
  pattern.require "same-block"(%product, %root)
  pattern.require "equal-types"(%product, %root)
  pattern.require "single-use"(%product) remark "not fused: {name} has {users} users"
  pattern.rewrite %root {
    %call = pattern.build "outline-primitive"(%product, %root) with {name = "fused_matmul_add"}
    pattern.yield %call
  }
}
