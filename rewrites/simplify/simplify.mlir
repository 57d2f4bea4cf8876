// Identities of graph ops. Each right side has fewer ops, or the same number and cheaper ones.
// docs/rewrites.md lists them. A rule that is deleted here is gone.

// Neutral elements. For floats x + 0.0 is not x (it turns -0.0 into 0.0), but x - 0.0 and x + -0.0 are.

pattern.rule "subtract-of-zero" doc "x - 0 = x" {
  %x = pattern.any
  %k = pattern.splat 0.0
  %root = pattern.op "graph.subtract"(%x, %k)
  pattern.replace %root with %x
}

pattern.rule "add-of-negative-zero" doc "x + -0.0 = x for floats" {
  %x = pattern.any
  %k = pattern.splat -0.0
  %root = pattern.op "graph.add"(%x, %k)
  pattern.replace %root with %x
}

pattern.rule "add-of-zero-integer" doc "x + 0 = x for integers" {
  %x = pattern.any
  %k = pattern.splat 0.0
  %root = pattern.op "graph.add"(%x, %k)
  pattern.require "integer"(%x)
  pattern.replace %root with %x
}

pattern.rule "add-of-zero" numerics "fast" doc "x + 0.0 = x, except for x = -0.0" {
  %x = pattern.any
  %k = pattern.splat 0.0
  %root = pattern.op "graph.add"(%x, %k)
  pattern.require "float"(%x)
  pattern.replace %root with %x
}

pattern.rule "multiply-by-one" doc "x * 1 = x" {
  %x = pattern.any
  %k = pattern.splat 1.0
  %root = pattern.op "graph.multiply"(%x, %k)
  pattern.replace %root with %x
}

pattern.rule "divide-by-one" doc "x / 1 = x" {
  %x = pattern.any
  %k = pattern.splat 1.0
  %root = pattern.op "graph.divide"(%x, %k)
  pattern.replace %root with %x
}

pattern.rule "floor-divide-by-one" doc "x // 1 = x for integers" {
  %x = pattern.any
  %k = pattern.splat 1.0
  %root = pattern.op "graph.floor_divide"(%x, %k)
  pattern.require "integer"(%x)
  pattern.replace %root with %x
}

pattern.rule "power-of-one" doc "x to the power of 1 is x" {
  %x = pattern.any
  %k = pattern.splat 1.0
  %root = pattern.op "graph.power"(%x, %k)
  pattern.replace %root with %x
}

pattern.rule "logical-and-with-true" doc "x and true = x" {
  %x = pattern.any
  %k = pattern.splat 1.0
  %root = pattern.op "graph.logical_and"(%x, %k)
  pattern.replace %root with %x
}

pattern.rule "logical-or-with-false" doc "x or false = x xor false = x" {
  %x = pattern.any
  %k = pattern.splat 0.0
  %root = pattern.op "graph.logical_or | graph.logical_xor"(%x, %k)
  pattern.replace %root with %x
}

pattern.rule "bitwise-or-with-zero" doc "x | 0 = x ^ 0 = x" {
  %x = pattern.any
  %k = pattern.splat 0.0
  %root = pattern.op "graph.bitwise_or | graph.bitwise_xor"(%x, %k)
  pattern.replace %root with %x
}

pattern.rule "shift-by-zero" doc "x << 0 = x >> 0 = x" {
  %x = pattern.any
  %k = pattern.splat 0.0
  %root = pattern.op "graph.left_shift | graph.right_shift"(%x, %k)
  pattern.replace %root with %x
}

// Absorbing elements, and ops on the same value twice.

pattern.rule "multiply-by-zero-integer" doc "x * 0 = 0 for integers" {
  %x = pattern.any
  %k = pattern.splat 0.0
  %root = pattern.op "graph.multiply"(%x, %k)
  pattern.require "integer"(%x)
  pattern.rewrite %root {
    %v = pattern.build "full"() with {value = 0 : i64}
    pattern.yield %v
  }
}

pattern.rule "multiply-by-zero" numerics "fast" doc "x * 0.0 = 0.0, except for NaN, inf and negative x" {
  %x = pattern.any
  %k = pattern.splat 0.0
  %root = pattern.op "graph.multiply"(%x, %k)
  pattern.require "float"(%x)
  pattern.rewrite %root {
    %v = pattern.build "full"() with {value = 0.0 : f64}
    pattern.yield %v
  }
}

pattern.rule "logical-and-with-false" doc "x and false = false" {
  %x = pattern.any
  %k = pattern.splat 0.0
  %root = pattern.op "graph.logical_and"(%x, %k)
  pattern.rewrite %root {
    %v = pattern.build "full"() with {value = 0 : i64}
    pattern.yield %v
  }
}

pattern.rule "logical-or-with-true" doc "x or true = true" {
  %x = pattern.any
  %k = pattern.splat 1.0
  %root = pattern.op "graph.logical_or"(%x, %k)
  pattern.rewrite %root {
    %v = pattern.build "full"() with {value = 1 : i64}
    pattern.yield %v
  }
}

pattern.rule "bitwise-and-with-zero" doc "x & 0 = 0" {
  %x = pattern.any
  %k = pattern.splat 0.0
  %root = pattern.op "graph.bitwise_and"(%x, %k)
  pattern.rewrite %root {
    %v = pattern.build "full"() with {value = 0 : i64}
    pattern.yield %v
  }
}

pattern.rule "subtract-of-itself-integer" doc "x - x = 0 for integers" {
  %x = pattern.any
  %root = pattern.op "graph.subtract"(%x, %x)
  pattern.require "integer"(%x)
  pattern.rewrite %root {
    %v = pattern.build "full"() with {value = 0 : i64}
    pattern.yield %v
  }
}

pattern.rule "subtract-of-itself" numerics "fast" doc "x - x = 0.0, except for NaN and inf" {
  %x = pattern.any
  %root = pattern.op "graph.subtract"(%x, %x)
  pattern.require "float"(%x)
  pattern.rewrite %root {
    %v = pattern.build "full"() with {value = 0.0 : f64}
    pattern.yield %v
  }
}

pattern.rule "xor-of-itself" doc "x xor x = 0" {
  %x = pattern.any
  %root = pattern.op "graph.logical_xor | graph.bitwise_xor"(%x, %x)
  pattern.rewrite %root {
    %v = pattern.build "full"() with {value = 0 : i64}
    pattern.yield %v
  }
}

pattern.rule "less-than-itself" doc "x < x and x > x are false, for NaN too" {
  %x = pattern.any
  %root = pattern.op "graph.less | graph.greater"(%x, %x)
  pattern.rewrite %root {
    %v = pattern.build "full"() with {value = 0 : i64}
    pattern.yield %v
  }
}

pattern.rule "equal-to-itself-integer" doc "x = x, x <= x and x >= x are true for integers" {
  %x = pattern.any
  %root = pattern.op "graph.equal | graph.less_equal | graph.greater_equal"(%x, %x)
  pattern.require "integer"(%x)
  pattern.rewrite %root {
    %v = pattern.build "full"() with {value = 1 : i64}
    pattern.yield %v
  }
}

pattern.rule "not-equal-to-itself-integer" doc "x != x is false for integers" {
  %x = pattern.any
  %root = pattern.op "graph.not_equal"(%x, %x)
  pattern.require "integer"(%x)
  pattern.rewrite %root {
    %v = pattern.build "full"() with {value = 0 : i64}
    pattern.yield %v
  }
}

pattern.rule "maximum-of-itself" doc "max(x, x) = x, and so for min, and, or" {
  %x = pattern.any
  %root = pattern.op "graph.maximum | graph.minimum | graph.logical_and | graph.logical_or | graph.bitwise_and | graph.bitwise_or"(%x, %x)
  pattern.replace %root with %x
}

pattern.rule "multiply-by-minus-one" doc "x * -1 = x / -1 = -x" {
  %x = pattern.any
  %k = pattern.splat -1.0
  %root = pattern.op "graph.multiply | graph.divide"(%x, %k)
  pattern.require "same-type"(%x, %root)
  pattern.rewrite %root {
    %y = pattern.create "graph.negative"(%x)
    pattern.yield %y
  }
}

// Ops of one operand.

pattern.rule "negative-of-negative" doc "-(-x) = x" {
  %x = pattern.any
  %inner = pattern.op "graph.negative"(%x)
  %root = pattern.op "graph.negative"(%inner)
  pattern.replace %root with %x
}

pattern.rule "not-of-not" doc "not not x = x" {
  %x = pattern.any
  %inner = pattern.op "graph.logical_not"(%x)
  %root = pattern.op "graph.logical_not"(%inner)
  pattern.replace %root with %x
}

pattern.rule "bitwise-not-of-not" doc "~~x = x" {
  %x = pattern.any
  %inner = pattern.op "graph.bitwise_not"(%x)
  %root = pattern.op "graph.bitwise_not"(%inner)
  pattern.replace %root with %x
}

pattern.rule "idempotent" doc "f(f(x)) = f(x) for functions that keep their own results" {
  %x = pattern.any
  %inner = pattern.op "graph.relu | graph.abs | graph.sign | graph.clip"(%x)
  %root = pattern.op "graph.relu | graph.abs | graph.sign | graph.clip"(%inner)
  pattern.require "same-op"(%root, %inner)
  pattern.replace %root with %inner
}

pattern.rule "rounding-of-rounded" doc "an integer value needs no second rounding" {
  %x = pattern.any
  %inner = pattern.op "graph.floor | graph.ceil | graph.trunc | graph.round"(%x)
  %root = pattern.op "graph.floor | graph.ceil | graph.trunc | graph.round"(%inner)
  pattern.replace %root with %inner
}

pattern.rule "rounding-of-integer" doc "integers are rounded already" {
  %x = pattern.any
  %root = pattern.op "graph.floor | graph.ceil | graph.trunc | graph.round"(%x)
  pattern.require "integer"(%x)
  pattern.replace %root with %x
}

pattern.rule "abs-of-unsigned" doc "unsigned integers are not negative" {
  %x = pattern.any
  %root = pattern.op "graph.abs | graph.relu"(%x)
  pattern.require "unsigned"(%x)
  pattern.replace %root with %x
}

pattern.rule "abs-of-negative" doc "|-x| = |x|" {
  %x = pattern.any
  %inner = pattern.op "graph.negative"(%x)
  %root = pattern.op "graph.abs"(%inner)
  pattern.require "signed"(%x)
  pattern.rewrite %root {
    %y = pattern.create "graph.abs"(%x)
    pattern.yield %y
  }
}

pattern.rule "not-of-equal" doc "not (x = y) is x != y, for NaN too" {
  %x = pattern.any
  %y = pattern.any
  %inner = pattern.op "graph.equal"(%x, %y)
  %root = pattern.op "graph.logical_not"(%inner)
  pattern.require "single-use"(%inner)
  pattern.rewrite %root {
    %z = pattern.create "graph.not_equal"(%x, %y)
    pattern.yield %z
  }
}

pattern.rule "clip-without-bounds" doc "a clip without bounds does nothing" {
  %x = pattern.any
  %root = pattern.op "graph.clip"(%x)
  pattern.require "without-bounds"(%root)
  pattern.replace %root with %x
}

pattern.rule "astype-to-same" doc "a conversion to the same type does nothing" {
  %x = pattern.any
  %root = pattern.op "graph.astype"(%x)
  pattern.replace %root with %x
}

pattern.rule "astype-of-astype" doc "a conversion by way of a wider type changes nothing" {
  %x = pattern.any
  %inner = pattern.op "graph.astype"(%x)
  %root = pattern.op "graph.astype"(%inner)
  pattern.require "conversion-keeps-value"(%x, %inner, %root)
  pattern.rewrite %root {
    %y = pattern.build "with-operands"(%root, %x)
    pattern.yield %y
  }
}

// Choices.

pattern.rule "where-true" doc "where(true, x, y) = x" {
  %x = pattern.any
  %y = pattern.any
  %c = pattern.splat 1.0
  %root = pattern.op "graph.where"(%c, %x, %y)
  pattern.require "same-type"(%x, %root)
  pattern.replace %root with %x
}

pattern.rule "where-false" doc "where(false, x, y) = y" {
  %x = pattern.any
  %y = pattern.any
  %c = pattern.splat 0.0
  %root = pattern.op "graph.where"(%c, %x, %y)
  pattern.require "same-type"(%y, %root)
  pattern.replace %root with %y
}

pattern.rule "where-same" doc "where(c, x, x) = x" {
  %x = pattern.any
  %c = pattern.any
  %root = pattern.op "graph.where"(%c, %x, %x)
  pattern.require "same-type"(%x, %root)
  pattern.replace %root with %x
}

pattern.rule "where-of-booleans" doc "where(c, true, false) = c" {
  %c = pattern.any
  %t = pattern.splat 1.0
  %f = pattern.splat 0.0
  %root = pattern.op "graph.where"(%c, %t, %f)
  pattern.replace %root with %c
}

pattern.rule "where-of-not" doc "where(not c, x, y) = where(c, y, x)" {
  %c = pattern.any
  %x = pattern.any
  %y = pattern.any
  %inner = pattern.op "graph.logical_not"(%c)
  %root = pattern.op "graph.where"(%inner, %x, %y)
  pattern.rewrite %root {
    %z = pattern.build "with-operands"(%root, %c, %y, %x)
    pattern.yield %z
  }
}

// Bounds that hold anyway.

pattern.rule "clip-of-everything" doc "every value of the type is within the bounds" {
  %x = pattern.any
  %root = pattern.op "graph.clip"(%x)
  pattern.require "within-bounds"(%x, %root)
  pattern.replace %root with %x
}

pattern.rule "clip-of-converted" doc "every value of the type before the conversion is within the bounds" {
  %x = pattern.any
  %inner = pattern.op "graph.astype"(%x)
  %root = pattern.op "graph.clip"(%inner)
  pattern.require "conversion-keeps-value"(%x, %inner, %x)
  pattern.require "within-bounds"(%x, %root)
  pattern.replace %root with %inner
}

pattern.rule "clip-of-clip" doc "two clips after each other are one clip" {
  %x = pattern.any
  %inner = pattern.op "graph.clip"(%x)
  %root = pattern.op "graph.clip"(%inner)
  pattern.rewrite %root {
    %y = pattern.build "merged-clip"(%root, %inner)
    pattern.yield %y
  }
}

// Movement of elements.

pattern.rule "permute-to-same" doc "the permutation leaves every dimension where it is" {
  %x = pattern.any
  %root = pattern.op "graph.permute_dims"(%x)
  pattern.require "identity-permutation"(%root)
  pattern.replace %root with %x
}

pattern.rule "permute-of-permute" doc "two permutations after each other are one" {
  %x = pattern.any
  %inner = pattern.op "graph.permute_dims"(%x)
  %root = pattern.op "graph.permute_dims"(%inner)
  pattern.rewrite %root {
    %y = pattern.build "compose-permutations"(%root, %inner)
    pattern.yield %y
  }
}

pattern.rule "reshape-to-same" doc "the tensor has that shape already" {
  %x = pattern.any
  %root = pattern.op "graph.reshape | graph.expand_dims | graph.squeeze | graph.broadcast_to"(%x)
  pattern.require "same-type"(%x, %root)
  pattern.replace %root with %x
}

pattern.rule "reshape-there-and-back" doc "row-major order is kept, so the same shape is the same tensor" {
  %x = pattern.any
  %inner = pattern.op "graph.reshape | graph.expand_dims | graph.squeeze"(%x)
  %root = pattern.op "graph.reshape | graph.expand_dims | graph.squeeze"(%inner)
  pattern.require "same-type"(%x, %root)
  pattern.replace %root with %x
}

pattern.rule "reshape-of-reshape" doc "of two reshapes only the last shape counts" {
  %x = pattern.any
  %inner = pattern.op "graph.reshape | graph.expand_dims | graph.squeeze"(%x)
  %root = pattern.op "graph.reshape"(%inner)
  pattern.rewrite %root {
    %y = pattern.build "reshape-to-result"(%x)
    pattern.yield %y
  }
}

pattern.rule "squeeze-of-reshape" doc "a reshape and a squeeze are one reshape" {
  %x = pattern.any
  %inner = pattern.op "graph.reshape"(%x)
  %root = pattern.op "graph.expand_dims | graph.squeeze"(%inner)
  pattern.rewrite %root {
    %y = pattern.build "reshape-to-result"(%x)
    pattern.yield %y
  }
}

pattern.rule "squeeze-of-squeeze" doc "adding and removing dimensions of size 1 is one reshape" {
  %x = pattern.any
  %inner = pattern.op "graph.expand_dims | graph.squeeze"(%x)
  %root = pattern.op "graph.expand_dims | graph.squeeze"(%inner)
  pattern.rewrite %root {
    %y = pattern.build "reshape-to-result"(%x)
    pattern.yield %y
  }
}

pattern.rule "broadcast-of-broadcast" doc "of two broadcasts only the last shape counts" {
  %x = pattern.any
  %inner = pattern.op "graph.broadcast_to"(%x)
  %root = pattern.op "graph.broadcast_to"(%inner)
  pattern.require "static"(%root)
  pattern.rewrite %root {
    %y = pattern.build "with-operands"(%root, %x)
    pattern.yield %y
  }
}

pattern.rule "permute-of-ones" doc "moving dimensions of size 1 moves no element" {
  %x = pattern.any
  %root = pattern.op "graph.permute_dims"(%x)
  pattern.require "moves-only-ones"(%root)
  pattern.rewrite %root {
    %y = pattern.build "reshape-to-result"(%x)
    pattern.yield %y
  }
}

pattern.rule "broadcast-by-ones" doc "new dimensions of size 1 repeat no element" {
  %x = pattern.any
  %root = pattern.op "graph.broadcast_to"(%x)
  pattern.require "same-size"(%x, %root)
  pattern.rewrite %root {
    %y = pattern.build "reshape-to-result"(%x)
    pattern.yield %y
  }
}

pattern.rule "movement-of-splat" doc "equal elements stay equal wherever they move" {
  %k = pattern.constant
  %root = pattern.op "graph.reshape | graph.permute_dims | graph.expand_dims | graph.squeeze | graph.broadcast_to | graph.strided_slice"(%k)
  pattern.rewrite %root {
    %y = pattern.build "splat-like-result"(%k)
    pattern.yield %y
  }
}

pattern.rule "pad-by-nothing" doc "the padding adds no element" {
  %x = pattern.any
  %root = pattern.op "graph.pad"(%x)
  pattern.require "pads-nothing"(%root)
  pattern.replace %root with %x
}

pattern.rule "concat-of-one" doc "a concatenation of one tensor is that tensor" {
  %x = pattern.any
  %root = pattern.op "graph.concat"(%x)
  pattern.replace %root with %x
}

pattern.rule "split-into-one" doc "a split into one part is the whole" {
  %x = pattern.any
  %root = pattern.op "graph.split"(%x)
  pattern.replace %root with %x
}

pattern.rule "slice-of-everything" doc "a slice that keeps the shape and reverses nothing keeps every element" {
  %x = pattern.any
  %root = pattern.op "graph.strided_slice"(%x)
  pattern.require "steps-forward"(%root)
  pattern.require "same-type"(%x, %root)
  pattern.replace %root with %x
}

// What a neighbour makes superfluous.

pattern.rule "broadcast-on-the-left" doc "an elementwise op stretches its first operand itself" {
  %x = pattern.any
  %y = pattern.any
  %inner = pattern.op "graph.broadcast_to"(%x)
  %root = pattern.op "graph.add | graph.subtract | graph.multiply | graph.divide | graph.power | graph.maximum | graph.minimum"(%inner, %y)
  pattern.require "same-type"(%y, %root)
  pattern.rewrite %root {
    %z = pattern.build "with-operands"(%root, %x, %y)
    pattern.yield %z
  }
}

pattern.rule "broadcast-on-the-right" doc "an elementwise op stretches its second operand itself" {
  %x = pattern.any
  %y = pattern.any
  %inner = pattern.op "graph.broadcast_to"(%y)
  %root = pattern.op "graph.add | graph.subtract | graph.multiply | graph.divide | graph.power | graph.maximum | graph.minimum"(%x, %inner)
  pattern.require "same-type"(%x, %root)
  pattern.rewrite %root {
    %z = pattern.build "with-operands"(%root, %x, %y)
    pattern.yield %z
  }
}

pattern.rule "splat-on-the-left" doc "an elementwise op stretches a number on its left itself" {
  %y = pattern.any
  %k = pattern.constant
  %root = pattern.op "graph.add | graph.subtract | graph.multiply | graph.divide | graph.power | graph.maximum | graph.minimum"(%k, %y)
  pattern.require "same-type"(%y, %root)
  pattern.require "not-literal"(%y)
  pattern.rewrite %root {
    %z = pattern.build "with-scalar"(%root, %k)
    pattern.yield %z
  }
}

pattern.rule "splat-on-the-right" doc "an elementwise op stretches a number on its right itself" {
  %y = pattern.any
  %k = pattern.constant
  %root = pattern.op "graph.add | graph.subtract | graph.multiply | graph.divide | graph.power | graph.maximum | graph.minimum"(%y, %k)
  pattern.require "same-type"(%y, %root)
  pattern.require "not-literal"(%y)
  pattern.rewrite %root {
    %z = pattern.build "with-scalar"(%root, %k)
    pattern.yield %z
  }
}

pattern.rule "conversions-of-clip" doc "clipped integers that fit a narrow type survive the conversion to it and back" {
  %x = pattern.any
  %clip = pattern.op "graph.clip"(%x)
  %inner = pattern.op "graph.astype"(%clip)
  %root = pattern.op "graph.astype"(%inner)
  pattern.require "clipped-to-fit"(%clip, %inner)
  pattern.replace %root with %clip
}

pattern.rule "position-in-converted" doc "a conversion that keeps every value keeps the order" {
  %x = pattern.any
  %inner = pattern.op "graph.astype"(%x)
  %root = pattern.op "graph.argmax | graph.argmin"(%inner)
  pattern.require "number"(%x)
  pattern.require "conversion-keeps-value"(%x, %inner, %x)
  pattern.rewrite %root {
    %y = pattern.build "with-operands"(%root, %x)
    pattern.yield %y
  }
}
