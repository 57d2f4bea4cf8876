// Movements that join each other, or move past an op so that they do.

pattern.rule "slice-of-slice" doc "two slices after each other are one" :
  strided_slice(strided_slice(%x) as %inner) => @composed-slices(%root, %inner)

pattern.rule "slice-of-concat" doc "a slice of one part needs no concatenation" :
  strided_slice(concat(%x, %others...) as %parts) => @slice-of-part(%root, %parts)

pattern.rule "slice-of-pad" doc "a slice within the middle needs no padding" :
  strided_slice(pad(%x) as %padded) => @slice-of-middle(%root, %padded)

pattern.rule "take-of-neighbours" doc "constant indices that are equally far apart take a slice" :
  take(%x, constant %i) => @slice-in-place-of-take(%root, %i)

pattern.rule "pad-of-pad" doc "two paddings with one value are one" :
  pad(pad(%x, value = %v) as %inner, value = %w) => @joined-pads(%root, %inner) where equal-attributes(%v, %w)

pattern.rule "concat-of-concat" doc "a concatenation that comes first gives its operands" :
  concat(concat(%x, %parts...) as %inner, %others...) => @joined-concats(%root, %inner) where single-use(%inner)

pattern.rule "concat-of-concat-second" doc "a concatenation that comes second gives its operands" :
  concat(%first, concat(%x, %parts...) as %inner, %others...) => @joined-concats(%root, %inner) where single-use(%inner)

pattern.rule "concat-of-halves" doc "the two parts of a split, joined again, are the whole" :
  concat((split(%x) as %parts) #0, %parts #1) => %x where static(%x), same-type(%x, %root)

pattern.rule "concat-of-thirds" doc "the three parts of a split, joined again, are the whole" :
  concat((split(%x) as %parts) #0, %parts #1, %parts #2) => %x where static(%x), same-type(%x, %root)

pattern.rule "permute-around-function" doc "permutations around an elementwise op are one before it"
  : permute_dims([relu, abs, negative, exp, log, sqrt, rsqrt, square, sigmoid, silu, gelu, tanh, erf, clip, floor, ceil,
  sin, cos, logical_not, astype](permute_dims(%x) as %first) as %inner) => @moved-before(%inner, %root, %first)
  where single-use(%inner), single-use(%first)

pattern.rule "reshape-around-function" doc "reshapes around an elementwise op are one before it"
  : [reshape, expand_dims, squeeze]([relu, abs, negative, exp, log, sqrt, rsqrt, square, sigmoid, silu, gelu, tanh, erf,
  clip, floor, ceil, sin, cos, logical_not, astype]([reshape, expand_dims, squeeze](%x) as %first) as %inner)
  => @reshaped-before(%inner, %x) where single-use(%inner), single-use(%first)

pattern.rule "permutes-before-function" doc "two operands with one permutation are permuted as one result"
  : [add, subtract, multiply, divide, power, maximum, minimum, equal, not_equal, less,
  less_equal, greater, greater_equal, logical_and, logical_or](permute_dims(%x) as %first, permute_dims(%y) as %second)
  => @moved-once(%root, %first, %x, %y)
  where same-op(%first, %second), same-shape(%x, %y), single-use(%first), single-use(%second)
