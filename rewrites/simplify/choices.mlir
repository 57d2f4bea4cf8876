// Choices between two values, and the larger or smaller of two. A maximum or minimum with NaN is NaN. A choice by a
// comparison with NaN takes the second value, so most of these are `fast` for floats.

pattern.rule "where-within-else" doc "where(c, x, where(c, y, z)) = where(c, x, z)" :
  where(%c, %x, where(%c, %y, %z)) => @with-operands(%root, %c, %x, %z) where combined-type(%root, %c, %x, %z)

pattern.rule "where-within-then" doc "where(c, where(c, x, y), z) = where(c, x, z)" :
  where(%c, where(%c, %x, %y), %z) => @with-operands(%root, %c, %x, %z) where combined-type(%root, %c, %x, %z)

pattern.rule "where-of-false-and-true" doc "where(c, false, true) = not c" : where(%c, 0, 1) => logical_not(%c)
  where same-type(%c, %root)

pattern.rule "where-else-false" doc "where(c, x, false) = c and x" : where(%c, %x, 0) => logical_and(%c, %x)
  where boolean(%x), combined-type(%root, %c, %x)

pattern.rule "where-then-true" doc "where(c, true, x) = c or x" : where(%c, 1, %x) => logical_or(%c, %x)
  where boolean(%x), combined-type(%root, %c, %x)

pattern.rule "where-equal" doc "where(x = y, x, y) = y for integers" : where(equal(%x, %y), %x, %y) => %y
  where integer(%x)

pattern.rule "where-not-equal" doc "where(x != y, x, y) = x for integers" : where(not_equal(%x, %y), %x, %y) => %x
  where integer(%x)

pattern.rule "where-less-integer" doc "where(x < y, x, y) = min(x, y) for integers" :
  where([less, less_equal](%x, %y), %x, %y) => minimum(%x, %y) where integer(%x), number(%x)

pattern.rule "where-greater-integer" doc "where(x > y, x, y) = max(x, y) for integers" :
  where([greater, greater_equal](%x, %y), %x, %y) => maximum(%x, %y) where integer(%x), number(%x)

pattern.rule "where-less-other-integer" doc "where(x < y, y, x) = max(x, y) for integers" :
  where([less, less_equal](%x, %y), %y, %x) => maximum(%x, %y) where integer(%x), number(%x)

pattern.rule "where-greater-other-integer" doc "where(x > y, y, x) = min(x, y) for integers" :
  where([greater, greater_equal](%x, %y), %y, %x) => minimum(%x, %y) where integer(%x), number(%x)

pattern.rule "where-less" fast doc "where(x < y, x, y) = min(x, y), except for NaN and signs of zero" :
  where([less, less_equal](%x, %y), %x, %y) => minimum(%x, %y) where number(%x)

pattern.rule "where-greater" fast doc "where(x > y, x, y) = max(x, y), except for NaN and signs of zero" :
  where([greater, greater_equal](%x, %y), %x, %y) => maximum(%x, %y) where number(%x)

pattern.rule "where-less-other" fast doc "where(x < y, y, x) = max(x, y), except for NaN and signs of zero" :
  where([less, less_equal](%x, %y), %y, %x) => maximum(%x, %y) where number(%x)

pattern.rule "where-greater-other" fast doc "where(x > y, y, x) = min(x, y), except for NaN and signs of zero" :
  where([greater, greater_equal](%x, %y), %y, %x) => minimum(%x, %y) where number(%x)

pattern.rule "larger-of-opposites" doc "max(x, -x) = |x|" : maximum(%x, -%x) => abs(%x) where signed(%x)

pattern.rule "max-of-negatives" doc "max(-x, -y) = -min(x, y) for floats" :
  maximum(-%x as %p, -%y as %q) => -minimum(%x, %y) where float(%x), single-use(%p), single-use(%q)

pattern.rule "min-of-negatives" doc "min(-x, -y) = -max(x, y) for floats" :
  minimum(-%x as %p, -%y as %q) => -maximum(%x, %y) where float(%x), single-use(%p), single-use(%q)

pattern.rule "max-within-min" doc "max(x, min(x, y)) = x for integers" : maximum(%x, minimum(%x, %y)) => %x
  where integer(%x)

pattern.rule "min-within-max" doc "min(x, max(x, y)) = x for integers" : minimum(%x, maximum(%x, %y)) => %x
  where integer(%x)

pattern.rule "max-within-min-float" fast doc "max(x, min(x, y)) = x" : maximum(%x, minimum(%x, %y)) => %x
pattern.rule "min-within-max-float" fast doc "min(x, max(x, y)) = x" : minimum(%x, maximum(%x, %y)) => %x
pattern.rule "maximum-with-zero" doc "max(x, 0) = relu(x)" : maximum(%x, 0) => relu(%x) where same-type(%x, %root)
