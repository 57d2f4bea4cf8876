// Identities of graph ops. Each right side has fewer ops, or the same number and cheaper ones.
// docs/rewrites.md lists them. A rule that is deleted here is gone.

// Neutral elements. For floats x + 0.0 is not x (it turns -0.0 into 0.0), but x - 0.0 and x + -0.0 are.

pattern.rule "subtract-of-zero" : %x - 0 => %x
pattern.rule "add-of-negative-zero" doc "x + -0.0 = x for floats" : %x + -0.0 => %x
pattern.rule "add-of-zero-integer" : %x + 0 => %x where integer(%x)
pattern.rule "add-of-zero" fast doc "x + 0.0 = x, except for x = -0.0" : %x + 0 => %x where float(%x)
pattern.rule "multiply-by-one" : %x * 1 => %x
pattern.rule "divide-by-one" : %x / 1 => %x
pattern.rule "floor-divide-by-one" doc "x // 1 = x for integers" : floor_divide(%x, 1) => %x where integer(%x)
pattern.rule "power-of-one" doc "x to the power of 1 is x" : power(%x, 1) => %x
pattern.rule "logical-and-with-true" doc "x and true = x" : logical_and(%x, 1) => %x
pattern.rule "logical-or-with-false" doc "x or false = x xor false = x" : [logical_or, logical_xor](%x, 0) => %x
pattern.rule "bitwise-or-with-zero" doc "x | 0 = x ^ 0 = x" : [bitwise_or, bitwise_xor](%x, 0) => %x
pattern.rule "shift-by-zero" doc "x << 0 = x >> 0 = x" : [left_shift, right_shift](%x, 0) => %x

// Absorbing elements, and ops on the same value twice.

pattern.rule "multiply-by-zero-integer" : %x * 0 => 0 where integer(%x)

pattern.rule "multiply-by-zero" fast doc "x * 0.0 = 0.0, except for NaN, inf and negative x" : %x * 0 => 0.0
  where float(%x)

pattern.rule "logical-and-with-false" doc "x and false = false" : logical_and(%x, 0) => 0
pattern.rule "logical-or-with-true" doc "x or true = true" : logical_or(%x, 1) => 1
pattern.rule "bitwise-and-with-zero" doc "x & 0 = 0" : bitwise_and(%x, 0) => 0
pattern.rule "subtract-of-itself-integer" : %x - %x => 0 where integer(%x)
pattern.rule "subtract-of-itself" fast doc "x - x = 0.0, except for NaN and inf" : %x - %x => 0.0 where float(%x)
pattern.rule "xor-of-itself" doc "x xor x = 0" : [logical_xor, bitwise_xor](%x, %x) => 0
pattern.rule "less-than-itself" doc "x < x and x > x are false, for NaN too" : [less, greater](%x, %x) => 0

pattern.rule "equal-to-itself-integer" doc "x = x, x <= x and x >= x are true for integers" :
  [equal, less_equal, greater_equal](%x, %x) => 1 where integer(%x)

pattern.rule "not-equal-to-itself-integer" doc "x != x is false for integers" : not_equal(%x, %x) => 0 where integer(%x)

pattern.rule "maximum-of-itself" doc "max(x, x) = x, and so for min, and, or" :
  [maximum, minimum, logical_and, logical_or, bitwise_and, bitwise_or](%x, %x) => %x

pattern.rule "multiply-by-minus-one" doc "x * -1 = x / -1 = -x" : [multiply, divide](%x, -1) => -%x
  where same-type(%x, %root)

// Ops of one operand.

pattern.rule "negative-of-negative" : -(-%x) => %x
pattern.rule "not-of-not" doc "not not x = x" : logical_not(logical_not(%x)) => %x
pattern.rule "bitwise-not-of-not" doc "~~x = x" : bitwise_not(bitwise_not(%x)) => %x

pattern.rule "idempotent" doc "f(f(x)) = f(x) for functions that keep their own results"
  for %f in [relu, abs, sign, clip] : %f(%f(%x) as %inner) => %inner

pattern.rule "rounding-of-rounded" doc "an integer value needs no second rounding" :
  [floor, ceil, trunc, round]([floor, ceil, trunc, round](%x) as %inner) => %inner

pattern.rule "rounding-of-integer" doc "integers are rounded already" : [floor, ceil, trunc, round](%x) => %x
  where integer(%x)

pattern.rule "abs-of-unsigned" doc "unsigned integers are not negative" : [abs, relu](%x) => %x where unsigned(%x)
pattern.rule "abs-of-negative" doc "|-x| = |x|" : abs(-%x) => abs(%x) where signed(%x)

pattern.rule "not-of-equal" doc "not (x = y) is x != y, for NaN too" :
  logical_not(equal(%x, %y) as %inner) => not_equal(%x, %y) where single-use(%inner)

pattern.rule "clip-without-bounds" doc "a clip without bounds does nothing" : clip(%x) => %x where without-bounds(%root)
pattern.rule "astype-to-same" doc "a conversion to the same type does nothing" : astype(%x) => %x

pattern.rule "astype-of-astype" doc "a conversion by way of a wider type changes nothing" :
  astype(astype(%x) as %inner) => @with-operands(%root, %x) where conversion-keeps-value(%x, %inner, %root)

// Choices.

pattern.rule "where-true" doc "where(true, x, y) = x" : where(1, %x, %y) => %x where same-type(%x, %root)
pattern.rule "where-false" doc "where(false, x, y) = y" : where(0, %x, %y) => %y where same-type(%y, %root)
pattern.rule "where-same" : where(%c, %x, %x) => %x where same-type(%x, %root)
pattern.rule "where-of-booleans" doc "where(c, true, false) = c" : where(%c, 1, 0) => %c

pattern.rule "where-of-not" doc "where(not c, x, y) = where(c, y, x)" :
  where(logical_not(%c), %x, %y) => @with-operands(%root, %c, %y, %x)

// Bounds that hold anyway.

pattern.rule "clip-of-everything" doc "every value of the type is within the bounds" : clip(%x) => %x
  where within-bounds(%x, %root)

pattern.rule "clip-of-converted" doc "every value of the type before the conversion is within the bounds" :
  clip(astype(%x) as %inner) => %inner where conversion-keeps-value(%x, %inner, %x), within-bounds(%x, %root)

pattern.rule "clip-of-clip" doc "two clips after each other are one clip" :
  clip(clip(%x) as %inner) => @merged-clip(%root, %inner)

// Movement of elements.

pattern.rule "permute-to-same" doc "the permutation leaves every dimension where it is" : permute_dims(%x) => %x
  where identity-permutation(%root)

pattern.rule "permute-of-permute" doc "two permutations after each other are one" :
  permute_dims(permute_dims(%x) as %inner) => @compose-permutations(%root, %inner)

pattern.rule "reshape-to-same" doc "the tensor has that shape already" :
  [reshape, expand_dims, squeeze, broadcast_to](%x) => %x where same-type(%x, %root)

pattern.rule "reshape-there-and-back" doc "row-major order is kept, so the same shape is the same tensor" :
  [reshape, expand_dims, squeeze]([reshape, expand_dims, squeeze](%x)) => %x where same-type(%x, %root)

pattern.rule "reshape-of-reshape" doc "of two reshapes only the last shape counts" :
  reshape([reshape, expand_dims, squeeze](%x)) => @reshape-to-result(%x)

pattern.rule "squeeze-of-reshape" doc "a reshape and a squeeze are one reshape" :
  [expand_dims, squeeze](reshape(%x)) => @reshape-to-result(%x)

pattern.rule "squeeze-of-squeeze" doc "adding and removing dimensions of size 1 is one reshape" :
  [expand_dims, squeeze]([expand_dims, squeeze](%x)) => @reshape-to-result(%x)

pattern.rule "broadcast-of-broadcast" doc "of two broadcasts only the last shape counts" :
  broadcast_to(broadcast_to(%x)) => @with-operands(%root, %x) where static(%root)

pattern.rule "permute-of-ones" doc "moving dimensions of size 1 moves no element" :
  permute_dims(%x) => @reshape-to-result(%x) where moves-only-ones(%root)

pattern.rule "broadcast-by-ones" doc "new dimensions of size 1 repeat no element" :
  broadcast_to(%x) => @reshape-to-result(%x) where same-size(%x, %root)

pattern.rule "movement-of-splat" doc "equal elements stay equal wherever they move" :
  [reshape, permute_dims, expand_dims, squeeze, broadcast_to, strided_slice](constant %k) => @splat-like-result(%k)

pattern.rule "pad-by-nothing" doc "the padding adds no element" : pad(%x) => %x where pads-nothing(%root)
pattern.rule "concat-of-one" doc "a concatenation of one tensor is that tensor" : concat(%x) => %x
pattern.rule "split-into-one" doc "a split into one part is the whole" : split(%x) => %x

pattern.rule "slice-of-everything" doc "a slice that keeps the shape and reverses nothing keeps every element" :
  strided_slice(%x) => %x where steps-forward(%root), same-type(%x, %root)

// What a neighbour makes superfluous.

pattern.rule "broadcast-on-the-left" doc "an elementwise op stretches its first operand itself"
  for %f in [add, subtract, multiply, divide, power, maximum, minimum] : %f(broadcast_to(%x), %y) => %f(%x, %y)
  where same-type(%y, %root)

pattern.rule "broadcast-on-the-right" doc "an elementwise op stretches its second operand itself"
  for %f in [add, subtract, multiply, divide, power, maximum, minimum] : %f(%x, broadcast_to(%y)) => %f(%x, %y)
  where same-type(%x, %root)

pattern.rule "splat-on-the-left" doc "an elementwise op stretches a number on its left itself" :
  [add, subtract, multiply, divide, power, maximum, minimum](constant %k, %y) => @with-scalar(%root, %k)
  where same-type(%y, %root), not-literal(%y)

pattern.rule "splat-on-the-right" doc "an elementwise op stretches a number on its right itself" :
  [add, subtract, multiply, divide, power, maximum, minimum](%y, constant %k) => @with-scalar(%root, %k)
  where same-type(%y, %root), not-literal(%y)

pattern.rule "conversions-of-clip" doc "clipped integers that fit a narrow type survive the conversion to it and back" :
  astype(astype(clip(%x) as %clip) as %inner) => %clip where clipped-to-fit(%clip, %inner)

pattern.rule "position-in-converted" doc "a conversion that keeps every value keeps the order"
  for %f in [argmax, argmin] : %f(astype(%x) as %inner) => %f(%x)
  where number(%x), conversion-keeps-value(%x, %inner, %x)
