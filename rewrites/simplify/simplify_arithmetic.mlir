// Identities of sums, products and quotients. Each right side has fewer ops, cheaper ones, or brings constants together,
// which `fold-constant` then computes. `simplify.mlir` has the other identities; `simplify-expr` runs both.

// Signs.

pattern.rule "add-of-negative" doc "x + -y = x - y" {
  %x = pattern.any
  %y = pattern.any
  %inner = pattern.op "graph.negative"(%y)
  %root = pattern.op "graph.add"(%x, %inner)
  pattern.rewrite %root {
    %z = pattern.create "graph.subtract"(%x, %y)
    pattern.yield %z
  }
}

pattern.rule "subtract-of-negative" doc "x - -y = x + y" {
  %x = pattern.any
  %y = pattern.any
  %inner = pattern.op "graph.negative"(%y)
  %root = pattern.op "graph.subtract"(%x, %inner)
  pattern.rewrite %root {
    %z = pattern.create "graph.add"(%x, %y)
    pattern.yield %z
  }
}

pattern.rule "product-of-negatives" doc "-x * -y = x * y" {
  %x = pattern.any
  %y = pattern.any
  %a = pattern.op "graph.negative"(%x)
  %b = pattern.op "graph.negative"(%y)
  %root = pattern.op "graph.multiply"(%a, %b)
  pattern.rewrite %root {
    %z = pattern.create "graph.multiply"(%x, %y)
    pattern.yield %z
  }
}

pattern.rule "subtract-from-negative-zero" doc "-0.0 - x = -x for floats" {
  %x = pattern.any
  %k = pattern.splat -0.0
  %root = pattern.op "graph.subtract"(%k, %x)
  pattern.require "equal-types"(%x, %root)
  pattern.rewrite %root {
    %y = pattern.create "graph.negative"(%x)
    pattern.yield %y
  }
}

pattern.rule "subtract-from-zero-integer" doc "0 - x = -x for integers" {
  %x = pattern.any
  %k = pattern.splat 0.0
  %root = pattern.op "graph.subtract"(%k, %x)
  pattern.require "integer"(%x)
  pattern.require "equal-types"(%x, %root)
  pattern.rewrite %root {
    %y = pattern.create "graph.negative"(%x)
    pattern.yield %y
  }
}

pattern.rule "subtract-from-zero" numerics "fast" doc "0.0 - x = -x, except for x = 0.0" {
  %x = pattern.any
  %k = pattern.splat 0.0
  %root = pattern.op "graph.subtract"(%k, %x)
  pattern.require "equal-types"(%x, %root)
  pattern.rewrite %root {
    %y = pattern.create "graph.negative"(%x)
    pattern.yield %y
  }
}

// The same operand twice, and divisions.

pattern.rule "add-of-itself" doc "x + x = x * 2, a factor that joins other constants" {
  %x = pattern.any
  %root = pattern.op "graph.add"(%x, %x)
  pattern.rewrite %root {
    %k = pattern.build "scalar"() with {value = 2 : i64}
    %y = pattern.create "graph.multiply"(%x, %k)
    pattern.yield %y
  }
}

pattern.rule "divide-by-power-of-two" doc "x / 2^n = x * 2^-n for floats, as 2^-n is exact" {
  %x = pattern.any
  %k = pattern.constant
  %root = pattern.op "graph.divide"(%x, %k)
  pattern.require "power-of-two"(%k)
  pattern.rewrite %root {
    %y = pattern.build "times-reciprocal"(%x, %k)
    pattern.yield %y
  }
}

pattern.rule "zero-divided-by-literal" doc "0 / y = 0, and so for // and mod, for integers y that are known and not 0" {
  %y = pattern.constant
  %k = pattern.splat 0.0
  %root = pattern.op "graph.divide | graph.floor_divide | graph.mod"(%k, %y)
  pattern.require "integer"(%y)
  pattern.require "nonzero-literal"(%y)
  pattern.rewrite %root {
    %v = pattern.build "full"() with {value = 0 : i64}
    pattern.yield %v
  }
}

pattern.rule "zero-divided" numerics "fast" doc "0 / y = 0, and so for // and mod, except for y = 0 and NaN" {
  %y = pattern.any
  %k = pattern.splat 0.0
  %root = pattern.op "graph.divide | graph.floor_divide | graph.mod"(%k, %y)
  pattern.rewrite %root {
    %v = pattern.build "full"() with {value = 0 : i64}
    pattern.yield %v
  }
}

pattern.rule "mod-of-one" doc "x mod 1 = 0 for integers" {
  %x = pattern.any
  %k = pattern.splat 1.0
  %root = pattern.op "graph.mod"(%x, %k)
  pattern.require "integer"(%x)
  pattern.rewrite %root {
    %v = pattern.build "full"() with {value = 0 : i64}
    pattern.yield %v
  }
}

pattern.rule "divide-by-sqrt" numerics "fast" doc "x / sqrt(y) = x * rsqrt(y)" {
  %x = pattern.any
  %y = pattern.any
  %inner = pattern.op "graph.sqrt"(%y)
  %root = pattern.op "graph.divide"(%x, %inner)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %r = pattern.create "graph.rsqrt"(%y)
    %z = pattern.create "graph.multiply"(%x, %r)
    pattern.yield %z
  }
}

// Constants that meet, and squares of sums: exact for integers.

pattern.rule "multiply-by-constants-integer" doc "(x * k) * l = x * (k * l) for integers, which wrap" {
  %x = pattern.any
  %k = pattern.constant
  %l = pattern.constant
  %inner = pattern.op "graph.multiply"(%x, %k)
  %root = pattern.op "graph.multiply"(%inner, %l)
  pattern.require "integer"(%x)
  pattern.require "not-literal"(%x)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %m = pattern.create "graph.multiply"(%k, %l)
    %y = pattern.create "graph.multiply"(%x, %m)
    pattern.yield %y
  }
}

pattern.rule "add-of-constants-integer" doc "(x + k) + l = x + (k + l) for integers, which wrap" {
  %x = pattern.any
  %k = pattern.constant
  %l = pattern.constant
  %inner = pattern.op "graph.add"(%x, %k)
  %root = pattern.op "graph.add"(%inner, %l)
  pattern.require "integer"(%x)
  pattern.require "not-literal"(%x)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %m = pattern.create "graph.add"(%k, %l)
    %y = pattern.create "graph.add"(%x, %m)
    pattern.yield %y
  }
}

pattern.rule "subtract-of-constants-integer" doc "(x - k) - l = x - (k + l) for integers, which wrap" {
  %x = pattern.any
  %k = pattern.constant
  %l = pattern.constant
  %inner = pattern.op "graph.subtract"(%x, %k)
  %root = pattern.op "graph.subtract"(%inner, %l)
  pattern.require "integer"(%x)
  pattern.require "not-literal"(%x)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %m = pattern.create "graph.add"(%k, %l)
    %y = pattern.create "graph.subtract"(%x, %m)
    pattern.yield %y
  }
}

pattern.rule "subtract-after-add-integer" doc "(x + k) - l = x + (k - l) for integers, which wrap" {
  %x = pattern.any
  %k = pattern.constant
  %l = pattern.constant
  %inner = pattern.op "graph.add"(%x, %k)
  %root = pattern.op "graph.subtract"(%inner, %l)
  pattern.require "integer"(%x)
  pattern.require "not-literal"(%x)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %m = pattern.create "graph.subtract"(%k, %l)
    %y = pattern.create "graph.add"(%x, %m)
    pattern.yield %y
  }
}

pattern.rule "add-after-subtract-integer" doc "(x - k) + l = x + (l - k) for integers, which wrap" {
  %x = pattern.any
  %k = pattern.constant
  %l = pattern.constant
  %inner = pattern.op "graph.subtract"(%x, %k)
  %root = pattern.op "graph.add"(%inner, %l)
  pattern.require "integer"(%x)
  pattern.require "not-literal"(%x)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %m = pattern.create "graph.subtract"(%l, %k)
    %y = pattern.create "graph.add"(%x, %m)
    pattern.yield %y
  }
}

pattern.rule "multiply-of-sum-integer" doc "(x + k) * l = x * l + k * l for integers, which wrap" {
  %x = pattern.any
  %k = pattern.constant
  %l = pattern.constant
  %inner = pattern.op "graph.add"(%x, %k)
  %root = pattern.op "graph.multiply"(%inner, %l)
  pattern.require "integer"(%x)
  pattern.require "not-literal"(%x)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %m = pattern.create "graph.multiply"(%k, %l)
    %p = pattern.create "graph.multiply"(%x, %l)
    %y = pattern.create "graph.add"(%p, %m)
    pattern.yield %y
  }
}

pattern.rule "binomial-integer" doc "x * x + 2 * x * y + y * y = (x + y) * (x + y), for integers" {
  %x = pattern.any
  %y = pattern.any
  %a = pattern.op "graph.multiply"(%x, %x)
  %b = pattern.op "graph.multiply"(%y, %y)
  %two = pattern.splat 2.0
  %xy = pattern.op "graph.multiply"(%x, %y)
  %twice = pattern.op "graph.multiply"(%xy, %two)
  %doubled = pattern.op "graph.multiply"(%x, %two)
  %product = pattern.op "graph.multiply"(%doubled, %y)
  %p = pattern.or %twice, %product
  %inner = pattern.op "graph.add"(%a, %p)
  %root = pattern.op "graph.add"(%inner, %b)
  pattern.require "integer"(%x)
  pattern.require "combined-type"(%root, %x, %y)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %s = pattern.create "graph.add"(%x, %y)
    %z = pattern.create "graph.multiply"(%s, %s)
    pattern.yield %z
  }
}

pattern.rule "binomial-product-last-integer" doc "x * x + y * y + 2 * x * y = (x + y) * (x + y), for integers" {
  %x = pattern.any
  %y = pattern.any
  %a = pattern.op "graph.multiply"(%x, %x)
  %b = pattern.op "graph.multiply"(%y, %y)
  %two = pattern.splat 2.0
  %xy = pattern.op "graph.multiply"(%x, %y)
  %twice = pattern.op "graph.multiply"(%xy, %two)
  %doubled = pattern.op "graph.multiply"(%x, %two)
  %product = pattern.op "graph.multiply"(%doubled, %y)
  %p = pattern.or %twice, %product
  %inner = pattern.op "graph.add"(%a, %b)
  %root = pattern.op "graph.add"(%inner, %p)
  pattern.require "integer"(%x)
  pattern.require "combined-type"(%root, %x, %y)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %s = pattern.create "graph.add"(%x, %y)
    %z = pattern.create "graph.multiply"(%s, %s)
    pattern.yield %z
  }
}

// The same for floats, where products overflow and sums cancel.

pattern.rule "multiply-by-constants" numerics "fast" doc "(x * k) * l = x * (k * l)" {
  %x = pattern.any
  %k = pattern.constant
  %l = pattern.constant
  %inner = pattern.op "graph.multiply"(%x, %k)
  %root = pattern.op "graph.multiply"(%inner, %l)
  pattern.require "not-literal"(%x)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %m = pattern.create "graph.multiply"(%k, %l)
    %y = pattern.create "graph.multiply"(%x, %m)
    pattern.yield %y
  }
}

pattern.rule "add-of-constants" numerics "fast" doc "(x + k) + l = x + (k + l)" {
  %x = pattern.any
  %k = pattern.constant
  %l = pattern.constant
  %inner = pattern.op "graph.add"(%x, %k)
  %root = pattern.op "graph.add"(%inner, %l)
  pattern.require "not-literal"(%x)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %m = pattern.create "graph.add"(%k, %l)
    %y = pattern.create "graph.add"(%x, %m)
    pattern.yield %y
  }
}

pattern.rule "subtract-of-constants" numerics "fast" doc "(x - k) - l = x - (k + l)" {
  %x = pattern.any
  %k = pattern.constant
  %l = pattern.constant
  %inner = pattern.op "graph.subtract"(%x, %k)
  %root = pattern.op "graph.subtract"(%inner, %l)
  pattern.require "not-literal"(%x)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %m = pattern.create "graph.add"(%k, %l)
    %y = pattern.create "graph.subtract"(%x, %m)
    pattern.yield %y
  }
}

pattern.rule "subtract-after-add" numerics "fast" doc "(x + k) - l = x + (k - l)" {
  %x = pattern.any
  %k = pattern.constant
  %l = pattern.constant
  %inner = pattern.op "graph.add"(%x, %k)
  %root = pattern.op "graph.subtract"(%inner, %l)
  pattern.require "not-literal"(%x)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %m = pattern.create "graph.subtract"(%k, %l)
    %y = pattern.create "graph.add"(%x, %m)
    pattern.yield %y
  }
}

pattern.rule "add-after-subtract" numerics "fast" doc "(x - k) + l = x + (l - k)" {
  %x = pattern.any
  %k = pattern.constant
  %l = pattern.constant
  %inner = pattern.op "graph.subtract"(%x, %k)
  %root = pattern.op "graph.add"(%inner, %l)
  pattern.require "not-literal"(%x)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %m = pattern.create "graph.subtract"(%l, %k)
    %y = pattern.create "graph.add"(%x, %m)
    pattern.yield %y
  }
}

pattern.rule "multiply-of-sum" numerics "fast" doc "(x + k) * l = x * l + k * l" {
  %x = pattern.any
  %k = pattern.constant
  %l = pattern.constant
  %inner = pattern.op "graph.add"(%x, %k)
  %root = pattern.op "graph.multiply"(%inner, %l)
  pattern.require "not-literal"(%x)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %m = pattern.create "graph.multiply"(%k, %l)
    %p = pattern.create "graph.multiply"(%x, %l)
    %y = pattern.create "graph.add"(%p, %m)
    pattern.yield %y
  }
}

pattern.rule "binomial" numerics "fast" doc "x * x + 2 * x * y + y * y = (x + y) * (x + y)" {
  %x = pattern.any
  %y = pattern.any
  %a = pattern.op "graph.multiply"(%x, %x)
  %b = pattern.op "graph.multiply"(%y, %y)
  %two = pattern.splat 2.0
  %xy = pattern.op "graph.multiply"(%x, %y)
  %twice = pattern.op "graph.multiply"(%xy, %two)
  %doubled = pattern.op "graph.multiply"(%x, %two)
  %product = pattern.op "graph.multiply"(%doubled, %y)
  %p = pattern.or %twice, %product
  %inner = pattern.op "graph.add"(%a, %p)
  %root = pattern.op "graph.add"(%inner, %b)
  pattern.require "combined-type"(%root, %x, %y)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %s = pattern.create "graph.add"(%x, %y)
    %z = pattern.create "graph.multiply"(%s, %s)
    pattern.yield %z
  }
}

pattern.rule "binomial-product-last" numerics "fast" doc "x * x + y * y + 2 * x * y = (x + y) * (x + y)" {
  %x = pattern.any
  %y = pattern.any
  %a = pattern.op "graph.multiply"(%x, %x)
  %b = pattern.op "graph.multiply"(%y, %y)
  %two = pattern.splat 2.0
  %xy = pattern.op "graph.multiply"(%x, %y)
  %twice = pattern.op "graph.multiply"(%xy, %two)
  %doubled = pattern.op "graph.multiply"(%x, %two)
  %product = pattern.op "graph.multiply"(%doubled, %y)
  %p = pattern.or %twice, %product
  %inner = pattern.op "graph.add"(%a, %b)
  %root = pattern.op "graph.add"(%inner, %p)
  pattern.require "combined-type"(%root, %x, %y)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %s = pattern.create "graph.add"(%x, %y)
    %z = pattern.create "graph.multiply"(%s, %s)
    pattern.yield %z
  }
}

pattern.rule "divide-by-constants" numerics "fast" doc "(x / k) / l = x / (k * l)" {
  %x = pattern.any
  %k = pattern.constant
  %l = pattern.constant
  %inner = pattern.op "graph.divide"(%x, %k)
  %root = pattern.op "graph.divide"(%inner, %l)
  pattern.require "float"(%x)
  pattern.require "not-literal"(%x)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %m = pattern.create "graph.multiply"(%k, %l)
    %y = pattern.create "graph.divide"(%x, %m)
    pattern.yield %y
  }
}

pattern.rule "divide-after-multiply" numerics "fast" doc "(x * k) / l = x * (k / l)" {
  %x = pattern.any
  %k = pattern.constant
  %l = pattern.constant
  %inner = pattern.op "graph.multiply"(%x, %k)
  %root = pattern.op "graph.divide"(%inner, %l)
  pattern.require "float"(%x)
  pattern.require "not-literal"(%x)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %m = pattern.create "graph.divide"(%k, %l)
    %y = pattern.create "graph.multiply"(%x, %m)
    pattern.yield %y
  }
}

pattern.rule "multiply-after-divide" numerics "fast" doc "(x / k) * l = x * (l / k)" {
  %x = pattern.any
  %k = pattern.constant
  %l = pattern.constant
  %inner = pattern.op "graph.divide"(%x, %k)
  %root = pattern.op "graph.multiply"(%inner, %l)
  pattern.require "float"(%x)
  pattern.require "not-literal"(%x)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %m = pattern.create "graph.divide"(%l, %k)
    %y = pattern.create "graph.multiply"(%x, %m)
    pattern.yield %y
  }
}
