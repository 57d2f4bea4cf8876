// Identities of sums, products and quotients. Each right side has fewer ops, cheaper ones, or brings constants together,
// which `fold-constant` then computes. `simplify.mlir` has the other identities; `simplify-expr` runs both.

// Signs.

pattern.rule "add-of-negative" : %x + -%y => %x - %y
pattern.rule "subtract-of-negative" : %x - -%y => %x + %y
pattern.rule "product-of-negatives" : -%x * -%y => %x * %y

pattern.rule "subtract-from-negative-zero" doc "-0.0 - x = -x for floats" : -0.0 - %x => -%x
  where equal-types(%x, %root)

pattern.rule "subtract-from-zero-integer" : 0 - %x => -%x where integer(%x), equal-types(%x, %root)

pattern.rule "subtract-from-zero" fast doc "0.0 - x = -x, except for x = 0.0" : 0 - %x => -%x
  where equal-types(%x, %root)

// The same operand twice, and divisions.

pattern.rule "add-of-itself" doc "x + x = x * 2, a factor that joins other constants" : %x + %x => %x * 2

pattern.rule "divide-by-power-of-two" doc "x / 2^n = x * 2^-n for floats, as 2^-n is exact" :
  %x / constant %k => @times-reciprocal(%x, %k) where power-of-two(%k)

pattern.rule "zero-divided-by-literal" doc "0 / y = 0, and so for // and mod, for integers y that are known and not 0" :
  [divide, floor_divide, mod](0, constant %y) => 0 where integer(%y), nonzero-literal(%y)

pattern.rule "zero-divided" fast doc "0 / y = 0, and so for // and mod, except for y = 0 and NaN" :
  [divide, floor_divide, mod](0, %y) => 0

pattern.rule "mod-of-one" doc "x mod 1 = 0 for integers" : mod(%x, 1) => 0 where integer(%x)

pattern.rule "divide-by-sqrt" fast doc "x / sqrt(y) = x * rsqrt(y)" : %x / (sqrt(%y) as %inner) => %x * rsqrt(%y)
  where single-use(%inner)

// Constants that meet, and squares of sums: exact for integers.

pattern.define "twice-product"(%x, %y) : %x * %y * 2 or %x * 2 * %y

pattern.rule "multiply-by-constants-integer" doc "(x * k) * l = x * (k * l) for integers, which wrap" :
  (%x * constant %k as %inner) * constant %l => %x * (%k * %l) where integer(%x), not-literal(%x), single-use(%inner)

pattern.rule "add-of-constants-integer" doc "(x + k) + l = x + (k + l) for integers, which wrap" :
  (%x + constant %k as %inner) + constant %l => %x + (%k + %l) where integer(%x), not-literal(%x), single-use(%inner)

pattern.rule "subtract-of-constants-integer" doc "(x - k) - l = x - (k + l) for integers, which wrap" :
  (%x - constant %k as %inner) - constant %l => %x - (%k + %l) where integer(%x), not-literal(%x), single-use(%inner)

pattern.rule "subtract-after-add-integer" doc "(x + k) - l = x + (k - l) for integers, which wrap" :
  (%x + constant %k as %inner) - constant %l => %x + (%k - %l) where integer(%x), not-literal(%x), single-use(%inner)

pattern.rule "add-after-subtract-integer" doc "(x - k) + l = x + (l - k) for integers, which wrap" :
  (%x - constant %k as %inner) + constant %l => %x + (%l - %k) where integer(%x), not-literal(%x), single-use(%inner)

pattern.rule "multiply-of-sum-integer" doc "(x + k) * l = x * l + k * l for integers, which wrap" :
  (%x + constant %k as %inner) * constant %l => %x * %l + %k * %l where integer(%x), not-literal(%x), single-use(%inner)

pattern.rule "binomial-integer" doc "x * x + 2 * x * y + y * y = (x + y) * (x + y), for integers" :
  (%x * %x + @twice-product(%x, %y) as %inner) + %y * %y => (%x + %y as %s) * %s
  where integer(%x), combined-type(%root, %x, %y), single-use(%inner)

pattern.rule "binomial-product-last-integer" doc "x * x + y * y + 2 * x * y = (x + y) * (x + y), for integers" :
  (%x * %x + %y * %y as %inner) + @twice-product(%x, %y) => (%x + %y as %s) * %s
  where integer(%x), combined-type(%root, %x, %y), single-use(%inner)

// The same for floats, where products overflow and sums cancel.

pattern.rule "multiply-by-constants" fast : (%x * constant %k as %inner) * constant %l => %x * (%k * %l)
  where not-literal(%x), single-use(%inner)

pattern.rule "add-of-constants" fast : (%x + constant %k as %inner) + constant %l => %x + (%k + %l)
  where not-literal(%x), single-use(%inner)

pattern.rule "subtract-of-constants" fast : (%x - constant %k as %inner) - constant %l => %x - (%k + %l)
  where not-literal(%x), single-use(%inner)

pattern.rule "subtract-after-add" fast : (%x + constant %k as %inner) - constant %l => %x + (%k - %l)
  where not-literal(%x), single-use(%inner)

pattern.rule "add-after-subtract" fast : (%x - constant %k as %inner) + constant %l => %x + (%l - %k)
  where not-literal(%x), single-use(%inner)

pattern.rule "multiply-of-sum" fast : (%x + constant %k as %inner) * constant %l => %x * %l + %k * %l
  where not-literal(%x), single-use(%inner)

pattern.rule "binomial" fast doc "x * x + 2 * x * y + y * y = (x + y) * (x + y)" :
  (%x * %x + @twice-product(%x, %y) as %inner) + %y * %y => (%x + %y as %s) * %s
  where combined-type(%root, %x, %y), single-use(%inner)

pattern.rule "binomial-product-last" fast doc "x * x + y * y + 2 * x * y = (x + y) * (x + y)" :
  (%x * %x + %y * %y as %inner) + @twice-product(%x, %y) => (%x + %y as %s) * %s
  where combined-type(%root, %x, %y), single-use(%inner)

pattern.rule "divide-by-constants" fast : (%x / constant %k as %inner) / constant %l => %x / (%k * %l)
  where float(%x), not-literal(%x), single-use(%inner)

pattern.rule "divide-after-multiply" fast : (%x * constant %k as %inner) / constant %l => %x * (%k / %l)
  where float(%x), not-literal(%x), single-use(%inner)

pattern.rule "multiply-after-divide" fast : (%x / constant %k as %inner) * constant %l => %x * (%l / %k)
  where float(%x), not-literal(%x), single-use(%inner)
