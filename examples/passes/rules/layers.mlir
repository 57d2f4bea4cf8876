pattern.rule "npu.dense_relu" doc "a product, a bias and a relu" {
  %x = pattern.any
  %w = pattern.any
  %b = pattern.any
  %product = pattern.op "graph.matmul"(%x, %w)
  %sum = pattern.op "graph.add"(%product, %b)
  %active = pattern.op "graph.relu"(%sum)
  pattern.partition %active
}

pattern.rule "npu.dense" doc "a product and a bias" {
  %x = pattern.any
  %w = pattern.any
  %b = pattern.any
  %product = pattern.op "graph.matmul"(%x, %w)
  %sum = pattern.op "graph.add"(%product, %b)
  pattern.partition %sum
}
