// Comparisons. With NaN all but != are false, so that not (x < y) is x >= y for integers alone.

pattern.rule "not-of-not-equal" doc "not (x != y) is x = y, for NaN too" :
  logical_not(not_equal(%x, %y) as %inner) => equal(%x, %y) where single-use(%inner)

pattern.rule "not-of-less-integer" doc "not (x < y) is x >= y for integers" :
  logical_not(less(%x, %y) as %inner) => greater_equal(%x, %y) where integer(%x), single-use(%inner)

pattern.rule "not-of-less-equal-integer" doc "not (x <= y) is x > y for integers" :
  logical_not(less_equal(%x, %y) as %inner) => greater(%x, %y) where integer(%x), single-use(%inner)

pattern.rule "not-of-greater-integer" doc "not (x > y) is x <= y for integers" :
  logical_not(greater(%x, %y) as %inner) => less_equal(%x, %y) where integer(%x), single-use(%inner)

pattern.rule "not-of-greater-equal-integer" doc "not (x >= y) is x < y for integers" :
  logical_not(greater_equal(%x, %y) as %inner) => less(%x, %y) where integer(%x), single-use(%inner)

// Comparisons that say the same, or nothing.

pattern.rule "equal-to-true" doc "x = true is x" : equal(%x, 1) => %x
pattern.rule "not-equal-to-false" doc "x != false is x" : not_equal(%x, 0) => %x
pattern.rule "equal-to-false" doc "x = false is not x" : equal(%x, 0) => logical_not(%x) where same-type(%x, %root)

pattern.rule "not-equal-to-true" doc "x != true is not x" : not_equal(%x, 1) => logical_not(%x)
  where same-type(%x, %root)

pattern.rule "converted-boolean-to-boolean" doc "a boolean as a number is other than 0 when it is true" :
  not_equal(astype(%x), 0) => %x

pattern.rule "unsigned-is-not-negative" doc "x >= 0 is true for unsigned integers" : greater_equal(%x, 0) => 1
  where unsigned(%x)

pattern.rule "unsigned-below-zero" doc "x < 0 is false for unsigned integers" : less(%x, 0) => 0 where unsigned(%x)

pattern.rule "unsigned-at-most-zero" doc "x <= 0 is x = 0 for unsigned integers" :
  less_equal(%x, 0 as %zero) => equal(%x, %zero) where unsigned(%x)

pattern.rule "unsigned-above-zero" doc "x > 0 is x != 0 for unsigned integers" :
  greater(%x, 0 as %zero) => not_equal(%x, %zero) where unsigned(%x)

pattern.rule "equal-negatives" doc "-x = -y is x = y" for %f in [equal, not_equal] : %f(-%x, -%y) => %f(%x, %y)
pattern.rule "less-of-negatives" doc "-x < -y is x > y for floats" : less(-%x, -%y) => greater(%x, %y) where float(%x)

pattern.rule "less-equal-of-negatives" doc "-x <= -y is x >= y for floats" :
  less_equal(-%x, -%y) => greater_equal(%x, %y) where float(%x)

pattern.rule "greater-of-negatives" doc "-x > -y is x < y for floats" : greater(-%x, -%y) => less(%x, %y)
  where float(%x)

pattern.rule "greater-equal-of-negatives" doc "-x >= -y is x <= y for floats" :
  greater_equal(-%x, -%y) => less_equal(%x, %y) where float(%x)

pattern.rule "equal-after-add" doc "x + z = y + z is x = y for integers, which wrap" for %f in [equal, not_equal] :
  %f(%x + %z, %y + %z) => %f(%x, %y) where integer(%x), combined-type(%root, %x, %y)

pattern.rule "difference-is-zero" doc "x - y = 0 is x = y for integers" for %f in [equal, not_equal] :
  %f(%x - %y as %inner, 0) => %f(%x, %y) where integer(%x), single-use(%inner), same-shape(%inner, %root)

pattern.rule "less-or-equal" doc "x < y or x = y is x <= y" :
  logical_or(less(%x, %y) as %p, equal(%x, %y) as %q) => less_equal(%x, %y) where single-use(%p), single-use(%q)

pattern.rule "greater-or-equal" doc "x > y or x = y is x >= y" :
  logical_or(greater(%x, %y) as %p, equal(%x, %y) as %q) => greater_equal(%x, %y) where single-use(%p), single-use(%q)

pattern.rule "less-equal-and-not-equal" doc "x <= y and x != y is x < y" :
  logical_and(less_equal(%x, %y) as %p, not_equal(%x, %y) as %q) => less(%x, %y) where single-use(%p), single-use(%q)

pattern.rule "greater-equal-and-not-equal" doc "x >= y and x != y is x > y" :
  logical_and(greater_equal(%x, %y) as %p, not_equal(%x, %y) as %q) => greater(%x, %y)
  where single-use(%p), single-use(%q)

pattern.rule "equal-both-ways" doc "x <= y and x >= y is x = y" :
  logical_and(less_equal(%x, %y) as %p, greater_equal(%x, %y) as %q) => equal(%x, %y)
  where single-use(%p), single-use(%q)

pattern.rule "less-and-greater" doc "x < y excludes x > y and x = y" :
  logical_and(less(%x, %y), [greater, equal](%x, %y)) => 0

pattern.rule "greater-and-equal" doc "x > y and x = y is false" : logical_and(greater(%x, %y), equal(%x, %y)) => 0
pattern.rule "not-equal-to-itself" doc "x != x is isnan(x) for floats" : not_equal(%x, %x) => isnan(%x) where float(%x)

pattern.rule "neither-nan-nor-infinite" doc "not (isnan(x) or isinf(x)) is isfinite(x)" :
  logical_not(logical_or(isnan(%x), isinf(%x)) as %inner) => isfinite(%x) where single-use(%inner)
