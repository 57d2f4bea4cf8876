pattern.rule "batch-norm" numerics "rounding" doc "gamma * (x - mean) / sqrt(var + eps) + beta is a batch_norm" {
  %x = pattern.any
  %gamma = pattern.any
  %beta = pattern.any
  %mean = pattern.any
  %var = pattern.any
  %eps = pattern.constant
  %centred = pattern.op "graph.subtract"(%x, %mean)
  %scaled = pattern.op "graph.multiply"(%gamma, %centred)
  %sum = pattern.op "graph.add"(%var, %eps)
  %deviation = pattern.op "graph.sqrt"(%sum)
  %quotient = pattern.op "graph.divide"(%scaled, %deviation)
  %normal = pattern.assoc %quotient
  %root = pattern.op "graph.add"(%normal, %beta)
  pattern.rewrite %root {
    %y = pattern.build "batch-norm-of-arithmetic"(%x, %gamma, %beta, %mean, %var, %eps)
    pattern.yield %y
  }
}
