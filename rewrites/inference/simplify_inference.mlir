// Normalisations become arithmetic that later passes fold and fuse. Each right side computes the same real function. It
// has as many ops as the formula has, and none of them is a normalisation.

pattern.rule "batch-norm-to-arithmetic" numerics "rounding" doc "batch_norm(x) = x * scale + shift, where scale and shift are vectors" {
  %x = pattern.any
  %gamma = pattern.any
  %beta = pattern.any
  %mean = pattern.any
  %var = pattern.any
  %root = pattern.op "graph.batch_norm"(%x, %gamma, %beta, %mean, %var)
  pattern.require "first-result-only"(%root) remark "kept: another result of batch_norm is used"
  pattern.rewrite %root {
    %v = pattern.build "batch-norm-arithmetic"(%root)
    pattern.yield %v
  }
}

pattern.rule "layer-norm-to-arithmetic" numerics "rounding" doc "layer_norm(x) = (x - mean) / sqrt(var + epsilon) * gamma + beta" {
  %x = pattern.any
  %gamma = pattern.any
  %beta = pattern.any
  %root = pattern.op "graph.layer_norm"(%x, %gamma, %beta)
  pattern.rewrite %root {
    %v = pattern.build "layer-norm-arithmetic"(%root)
    pattern.yield %v
  }
}

pattern.rule "instance-norm-to-arithmetic" numerics "rounding" doc "instance_norm is layer_norm over the spatial axes" {
  %x = pattern.any
  %gamma = pattern.any
  %beta = pattern.any
  %root = pattern.op "graph.instance_norm"(%x, %gamma, %beta)
  pattern.rewrite %root {
    %v = pattern.build "instance-norm-arithmetic"(%root)
    pattern.yield %v
  }
}

pattern.rule "group-norm-to-arithmetic" numerics "rounding" doc "group_norm is instance_norm of channels reshaped into groups" {
  %x = pattern.any
  %gamma = pattern.any
  %beta = pattern.any
  %root = pattern.op "graph.group_norm"(%x, %gamma, %beta)
  pattern.rewrite %root {
    %v = pattern.build "group-norm-arithmetic"(%root)
    pattern.yield %v
  }
}

pattern.rule "l2-normalize-to-arithmetic" numerics "rounding" doc "l2_normalize(x) = x / sqrt(max(sum of x * x, epsilon))" {
  %x = pattern.any
  %root = pattern.op "graph.l2_normalize"(%x)
  pattern.rewrite %root {
    %v = pattern.build "l2-normalize-arithmetic"(%root)
    pattern.yield %v
  }
}

pattern.rule "rms-norm-to-arithmetic" numerics "rounding" doc "rms_norm(x) = x / sqrt(mean of x * x + epsilon) * gamma" {
  %x = pattern.any
  %gamma = pattern.any
  %root = pattern.op "graph.rms_norm"(%x, %gamma)
  pattern.rewrite %root {
    %v = pattern.build "rms-norm-arithmetic"(%root)
    pattern.yield %v
  }
}

pattern.rule "dropout-to-operand" doc "dropout drops nothing in inference" {
  %x = pattern.any
  %root = pattern.op "graph.dropout"(%x)
  pattern.require "first-result-only"(%root) remark "kept: the mask of dropout is used"
  pattern.rewrite %root {
    %v = pattern.build "dropout-identity"(%root)
    pattern.yield %v
  }
}
