// Factors per channel go into the weights of a convolution or matrix product. The right side has one multiplication of
// data less, or has it one op nearer to the contraction that takes it. The conditions `reaches-…` ensure that it arrives.

// Backward: a factor after the contraction.

pattern.rule "backward-scale-of-contraction" numerics "rounding" doc "conv(x, w) * s = conv(x, w * s) for s per output channel" {
  %x = pattern.any
  %w = pattern.any
  %s = pattern.any
  %inner = pattern.op "graph.conv2d | graph.matmul"(%x, %w)
  %root = pattern.op "graph.multiply"(%inner, %s)
  pattern.require "equal-types"(%inner, %root)
  pattern.require "scales-outputs"(%inner, %s)
  pattern.require "single-use"(%inner) remark "not folded: {name} has {users} users"
  pattern.require "same-block"(%inner, %root)
  pattern.rewrite %root {
    %v = pattern.build "contraction-with-scaled-outputs"(%inner, %s)
    pattern.yield %v
  }
}

pattern.rule "backward-scale-of-relu" numerics "rounding" doc "relu(y) * s = relu(y * s) for positive s" {
  %y = pattern.any
  %s = pattern.any
  %inner = pattern.op "graph.relu"(%y)
  %root = pattern.op "graph.multiply"(%inner, %s)
  pattern.require "equal-types"(%inner, %root)
  pattern.require "positive-literal"(%s)
  pattern.require "reaches-contraction-above"(%inner, %s)
  pattern.rewrite %root {
    %m = pattern.create "graph.multiply"(%y, %s)
    %v = pattern.create "graph.relu"(%m)
    pattern.yield %v
  }
}

pattern.rule "backward-scale-of-sum" numerics "rounding" doc "(y + b) * s = y * s + b * s" {
  %y = pattern.any
  %b = pattern.any
  %s = pattern.any
  %inner = pattern.op "graph.add"(%y, %b)
  %root = pattern.op "graph.multiply"(%inner, %s)
  pattern.require "equal-types"(%inner, %root)
  pattern.require "smaller-summand"(%inner, %b)
  pattern.require "reaches-contraction-above"(%inner, %s)
  pattern.rewrite %root {
    %m = pattern.create "graph.multiply"(%y, %s)
    %n = pattern.create "graph.multiply"(%b, %s)
    %v = pattern.create "graph.add"(%m, %n)
    pattern.yield %v
  }
}

pattern.rule "backward-scale-of-difference" numerics "rounding" doc "(y - b) * s = y * s - b * s" {
  %y = pattern.any
  %b = pattern.any
  %s = pattern.any
  %inner = pattern.op "graph.subtract"(%y, %b)
  %root = pattern.op "graph.multiply"(%inner, %s)
  pattern.require "equal-types"(%inner, %root)
  pattern.require "smaller-summand"(%inner, %b)
  pattern.require "reaches-contraction-above"(%inner, %s)
  pattern.rewrite %root {
    %m = pattern.create "graph.multiply"(%y, %s)
    %n = pattern.create "graph.multiply"(%b, %s)
    %v = pattern.create "graph.subtract"(%m, %n)
    pattern.yield %v
  }
}

// Forward: a factor before the contraction.

pattern.rule "forward-contraction-of-scale" numerics "rounding" doc "conv(x * s, w) = conv(x, w * s) for s per input channel" {
  %x = pattern.any
  %w = pattern.any
  %s = pattern.any
  %inner = pattern.op "graph.multiply"(%x, %s)
  %root = pattern.op "graph.conv2d | graph.matmul"(%inner, %w)
  pattern.require "equal-types"(%inner, %x)
  pattern.require "scales-inputs"(%root, %s)
  pattern.require "single-use"(%inner) remark "not folded: {name} has {users} users"
  pattern.require "same-block"(%inner, %root)
  pattern.rewrite %root {
    %v = pattern.build "contraction-with-scaled-inputs"(%root, %x, %s)
    pattern.yield %v
  }
}

pattern.rule "forward-relu-of-scale" numerics "rounding" doc "relu(x * s) = relu(x) * s for positive s" {
  %x = pattern.any
  %s = pattern.any
  %inner = pattern.op "graph.multiply"(%x, %s)
  %root = pattern.op "graph.relu"(%inner)
  pattern.require "equal-types"(%inner, %x)
  pattern.require "positive-literal"(%s)
  pattern.require "reaches-contraction-below"(%inner, %s)
  pattern.rewrite %root {
    %r = pattern.create "graph.relu"(%x)
    %v = pattern.create "graph.multiply"(%r, %s)
    pattern.yield %v
  }
}

pattern.rule "forward-pool-of-scale" numerics "rounding" doc "pool(x * s) = pool(x) * s, for a maximum where s is positive" {
  %x = pattern.any
  %s = pattern.any
  %inner = pattern.op "graph.multiply"(%x, %s)
  %root = pattern.op "graph.max_pool2d | graph.avg_pool2d"(%inner)
  pattern.require "equal-types"(%inner, %x)
  pattern.require "reaches-contraction-below"(%inner, %s)
  pattern.rewrite %root {
    %p = pattern.build "with-operands"(%root, %x)
    %v = pattern.create "graph.multiply"(%p, %s)
    pattern.yield %v
  }
}

pattern.rule "forward-sum-of-scale" numerics "rounding" doc "x * s + b = (x + b / s) * s" {
  %x = pattern.any
  %b = pattern.any
  %s = pattern.any
  %inner = pattern.op "graph.multiply"(%x, %s)
  %root = pattern.op "graph.add"(%inner, %b)
  pattern.require "equal-types"(%inner, %x)
  pattern.require "smaller-summand"(%root, %b)
  pattern.require "nonzero-literal"(%s)
  pattern.require "reaches-contraction-below"(%inner, %s)
  pattern.rewrite %root {
    %q = pattern.create "graph.divide"(%b, %s)
    %a = pattern.create "graph.add"(%x, %q)
    %v = pattern.create "graph.multiply"(%a, %s)
    pattern.yield %v
  }
}
