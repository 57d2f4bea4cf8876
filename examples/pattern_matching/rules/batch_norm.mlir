pattern.rule "batch-norm" rounding doc "gamma * (x - mean) / sqrt(var + eps) + beta is a batch_norm" :
  pattern.assoc(%gamma * (%x - %mean) / sqrt(%var + constant %eps)) + %beta
    => @batch-norm-of-arithmetic(%x, %gamma, %beta, %mean, %var, %eps)
