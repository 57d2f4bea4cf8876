pattern.rule "add-of-product" numerics "rounding" doc "x * y + z rounds once as ewise_fma(x, y, z)" {
  %x = pattern.any
  %y = pattern.any
  %z = pattern.any
  %product = pattern.op "graph.multiply"(%x, %y)
  %sum = pattern.op "graph.add"(%product, %z)
  pattern.rewrite %sum {
    %fma = pattern.create "graph.ewise_fma"(%x, %y, %z)
    pattern.yield %fma
  }
}
