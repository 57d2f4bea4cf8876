// Signs that meet, leave or do not matter.

pattern.rule "floor-divide-by-minus-one" doc "x // -1 = -x" : floor_divide(%x, -1) => -%x
  where integer(%x), same-type(%x, %root)

pattern.rule "negative-of-product" doc "-(x * k) = x * -k" : -(%x * constant %k as %inner) => %x * -%k
  where not-literal(%x), single-use(%inner)

pattern.rule "negative-of-quotient" doc "-(x / k) = x / -k for floats" : -(%x / constant %k as %inner) => %x / -%k
  where float(%x), not-literal(%x), single-use(%inner)

pattern.rule "product-of-negative" doc "-x * k = x * -k" : -%x * constant %k => %x * -%k where not-literal(%x)

pattern.rule "quotient-of-negative" doc "-x / k = x / -k for floats" : -%x / constant %k => %x / -%k
  where float(%x), not-literal(%x)

pattern.rule "divide-by-negative" doc "k / -x = -k / x for floats" : constant %k / -%x => -%k / %x
  where float(%x), not-literal(%x)

pattern.rule "square-of-sign" doc "(-x) * (-x) = |x| * |x| = x * x" : square([negative, abs](%x)) => square(%x)
pattern.rule "product-of-absolutes" doc "|x| * |x| = x * x" : (abs(%x) as %a) * %a => %x * %x

pattern.rule "even-of-sign" doc "f(-x) = f(|x|) = f(x) for even f" for %f in [cos, cosh] :
  %f([negative, abs](%x)) => %f(%x)

pattern.rule "odd-of-negative" doc "-f(-x) = f(x) for odd f"
  for %f in [sin, tan, tanh, sinh, asin, atan, asinh, atanh, erf] : -%f(-%x) => %f(%x)

pattern.rule "sign-of-negative" fast doc "-sign(-x) = sign(x), except for the sign of zero" : -sign(-%x) => sign(%x)
  where float(%x)

pattern.rule "sign-times-absolute-integer" doc "sign(x) * |x| = x" : sign(%x) * abs(%x) => %x where integer(%x)
pattern.rule "sign-times-absolute" fast doc "sign(x) * |x| = x" : sign(%x) * abs(%x) => %x

pattern.rule "absolute-of-positive" doc "|f(x)| = f(x) for f that is nowhere negative" :
  [abs, relu]([exp, exp2, sigmoid, cosh, softmax](%x) as %inner) => %inner

pattern.rule "absolute-of-square" doc "|x * x| = x * x for floats" : abs(square(%x) as %inner) => %inner where float(%x)
pattern.rule "absolute-of-product" doc "|x * x| = x * x for floats" : abs(%x * %x as %inner) => %inner where float(%x)

pattern.rule "absolute-of-sqrt" fast doc "|sqrt(x)| = sqrt(x), except for the sign of zero" :
  [abs, relu](sqrt(%x) as %inner) => %inner
