// One rounding instead of two: x * y + z.

pattern.rule "add-of-multiply" numerics "rounding" doc "x * y + z = ewise_fma(x, y, z)" {
  %x = pattern.any
  %y = pattern.any
  %z = pattern.any
  %product = pattern.op "graph.multiply"(%x, %y)
  %root = pattern.op "graph.add"(%product, %z)
  pattern.require "same-block"(%product, %root)
  pattern.require "absorbable"(%product) remark "not fused: {name} has {users} users"
  pattern.rewrite %root {
    %fma = pattern.create "graph.ewise_fma"(%x, %y, %z)
    pattern.yield %fma
  }
}
