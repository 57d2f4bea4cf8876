// Values that leave again what brought them in: sums, factors and divisors. For integers, which wrap, sums cancel
// exactly. For floats they cancel but for rounding, overflow and NaN, so these rules are `fast`.

pattern.rule "subtract-what-was-added-integer" doc "(x + y) - y = x" : (%x + %y) - %y => %x where integer(%x)
pattern.rule "add-what-was-subtracted-integer" doc "(x - y) + y = x" : (%x - %y) + %y => %x where integer(%x)
pattern.rule "subtract-a-difference-integer" doc "x - (x - y) = y" : %x - (%x - %y) => %y where integer(%x)

pattern.rule "subtract-a-sum-integer" doc "x - (x + y) = -y" : %x - (%x + %y) => -%y
  where integer(%x), equal-types(%y, %root)

pattern.rule "subtract-from-difference-integer" doc "(x - y) - x = -y" : (%x - %y) - %x => -%y
  where integer(%x), equal-types(%y, %root)

pattern.rule "difference-of-sums-integer" doc "(x + z) - (y + z) = x - y" : (%x + %z) - (%y + %z) => %x - %y
  where integer(%x), combined-type(%root, %x, %y)

pattern.rule "difference-of-differences-integer" doc "(x - z) - (y - z) = x - y" : (%x - %z) - (%y - %z) => %x - %y
  where integer(%x), combined-type(%root, %x, %y)

pattern.rule "difference-from-differences-integer" doc "(z - x) - (z - y) = y - x" : (%z - %x) - (%z - %y) => %y - %x
  where integer(%x), combined-type(%root, %x, %y)

pattern.rule "negative-of-difference-integer" doc "-(x - y) = y - x" : -(%x - %y as %inner) => %y - %x
  where integer(%x), single-use(%inner)

pattern.rule "common-factor-integer" doc "x * z + y * z = (x + y) * z" :
  (%x * %z as %p) + (%y * %z as %q) => (%x + %y) * %z
  where integer(%x), not-literal(%x), not-literal(%y), single-use(%p), single-use(%q)

pattern.rule "common-factor-of-difference-integer" doc "x * z - y * z = (x - y) * z" :
  (%x * %z as %p) - (%y * %z as %q) => (%x - %y) * %z where integer(%x), single-use(%p), single-use(%q)

pattern.rule "one-more-factor-integer" doc "x * k + x = x * (k + 1)" :
  (%x * constant %k as %inner) + %x => %x * (%k + 1) where integer(%x), not-literal(%x), single-use(%inner)

pattern.rule "one-factor-less-integer" doc "x * k - x = x * (k - 1)" :
  (%x * constant %k as %inner) - %x => %x * (%k - 1) where integer(%x), not-literal(%x), single-use(%inner)

pattern.rule "subtract-what-was-added" fast doc "(x + y) - y = x" : (%x + %y) - %y => %x
pattern.rule "add-what-was-subtracted" fast doc "(x - y) + y = x" : (%x - %y) + %y => %x
pattern.rule "subtract-a-difference" fast doc "x - (x - y) = y" : %x - (%x - %y) => %y
pattern.rule "subtract-a-sum" fast doc "x - (x + y) = -y" : %x - (%x + %y) => -%y where equal-types(%y, %root)
pattern.rule "subtract-from-difference" fast doc "(x - y) - x = -y" : (%x - %y) - %x => -%y where equal-types(%y, %root)

pattern.rule "difference-of-sums" fast doc "(x + z) - (y + z) = x - y" : (%x + %z) - (%y + %z) => %x - %y
  where combined-type(%root, %x, %y)

pattern.rule "difference-of-differences" fast doc "(x - z) - (y - z) = x - y" : (%x - %z) - (%y - %z) => %x - %y
  where combined-type(%root, %x, %y)

pattern.rule "negative-of-difference" fast doc "-(x - y) = y - x, except for the sign of zero" :
  -(%x - %y as %inner) => %y - %x where single-use(%inner)

pattern.rule "common-factor" fast doc "x * z + y * z = (x + y) * z" :
  (%x * %z as %p) + (%y * %z as %q) => (%x + %y) * %z
  where not-literal(%x), not-literal(%y), single-use(%p), single-use(%q)

pattern.rule "common-factor-of-difference" fast doc "x * z - y * z = (x - y) * z" :
  (%x * %z as %p) - (%y * %z as %q) => (%x - %y) * %z where single-use(%p), single-use(%q)

pattern.rule "common-divisor" fast doc "x / z + y / z = (x + y) / z" :
  (%x / %z as %p) + (%y / %z as %q) => (%x + %y) / %z where float(%x), single-use(%p), single-use(%q)

pattern.rule "common-divisor-of-difference" fast doc "x / z - y / z = (x - y) / z" :
  (%x / %z as %p) - (%y / %z as %q) => (%x - %y) / %z where float(%x), single-use(%p), single-use(%q)

// Quotients.

pattern.rule "divide-by-itself" fast doc "x / x = 1, except for 0, inf and NaN" : %x / %x => 1
pattern.rule "divide-a-product" fast doc "(x * y) / y = x" : (%x * %y) / %y => %x where float(%x), not-literal(%y)
pattern.rule "multiply-a-quotient" fast doc "(x / y) * y = x" : (%x / %y) * %y => %x where float(%x), not-literal(%y)

pattern.rule "divide-by-product" fast doc "x / (x * y) = 1 / y" : %x / (%x * %y) => 1 / %y
  where float(%x), same-type(%y, %root)

pattern.rule "divide-twice" fast doc "(x / y) / z = x / (y * z)" : (%x / %y as %inner) / %z => %x / (%y * %z)
  where float(%x), not-literal(%x), single-use(%inner)

pattern.rule "divide-by-quotient" fast doc "x / (y / z) = x * z / y" : %x / (%y / %z as %inner) => (%x * %z) / %y
  where float(%x), not-literal(%y), single-use(%inner)

pattern.rule "multiply-by-reciprocal" fast doc "x * (1 / y) = x / y" : %x * (1 / %y as %inner) => %x / %y
  where float(%x), not-literal(%y), single-use(%inner), combined-type(%root, %x, %y)

pattern.rule "divide-by-reciprocal" fast doc "x / (1 / y) = x * y" : %x / (1 / %y) => %x * %y
  where float(%x), combined-type(%root, %x, %y)

pattern.rule "quotient-of-products" fast doc "(x * z) / (y * z) = x / y" : (%x * %z) / (%y * %z) => %x / %y
  where float(%x), combined-type(%root, %x, %y)

pattern.rule "quotient-of-negatives" doc "-x / -y = x / y for floats" : -%x / -%y => %x / %y where float(%x)

pattern.rule "mod-of-mod" doc "(x mod y) mod y = x mod y for integers" : mod(mod(%x, %y) as %inner, %y) => %inner
  where integer(%x)
