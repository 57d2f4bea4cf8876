// Functions that undo each other, functions of sums and products, and powers. Most of these are other real functions
// where a step overflows or is not defined, so they are `fast`. The ones that are `rounding` say the same for every
// number.

pattern.rule "log-of-exp" fast doc "log(exp(x)) = x" : log(exp(%x)) => %x
pattern.rule "exp-of-log" fast doc "exp(log(x)) = x for x at least 0" : exp(log(%x)) => %x
pattern.rule "log2-of-exp2" fast doc "log2(2^x) = x" : log2(exp2(%x)) => %x
pattern.rule "exp2-of-log2" fast doc "2^log2(x) = x for x at least 0" : exp2(log2(%x)) => %x
pattern.rule "log1p-of-expm1" fast doc "log(1 + (e^x - 1)) = x" : log1p(expm1(%x)) => %x
pattern.rule "expm1-of-log1p" fast doc "e^log(1 + x) - 1 = x for x at least -1" : expm1(log1p(%x)) => %x
pattern.rule "square-of-sqrt" fast doc "sqrt(x) * sqrt(x) = x for x at least 0" : square(sqrt(%x)) => %x
pattern.rule "product-of-sqrt" fast doc "sqrt(x) * sqrt(x) = x for x at least 0" : (sqrt(%x) as %s) * %s => %x
pattern.rule "sqrt-of-square" fast doc "sqrt(x * x) = |x|" : sqrt(square(%x)) => abs(%x)
pattern.rule "sqrt-of-product" fast doc "sqrt(x * x) = |x|" : sqrt(%x * %x) => abs(%x)
pattern.rule "tan-of-atan" fast doc "tan(atan(x)) = x" : tan(atan(%x)) => %x
pattern.rule "sin-of-asin" fast doc "sin(asin(x)) = x for |x| at most 1" : sin(asin(%x)) => %x
pattern.rule "cos-of-acos" fast doc "cos(acos(x)) = x for |x| at most 1" : cos(acos(%x)) => %x
pattern.rule "sinh-of-asinh" fast doc "sinh(asinh(x)) = x" : sinh(asinh(%x)) => %x
pattern.rule "asinh-of-sinh" fast doc "asinh(sinh(x)) = x" : asinh(sinh(%x)) => %x
pattern.rule "cosh-of-acosh" fast doc "cosh(acosh(x)) = x for x at least 1" : cosh(acosh(%x)) => %x
pattern.rule "acosh-of-cosh" fast doc "acosh(cosh(x)) = |x|" : acosh(cosh(%x)) => abs(%x)
pattern.rule "tanh-of-atanh" fast doc "tanh(atanh(x)) = x for |x| at most 1" : tanh(atanh(%x)) => %x

// Exponentials and logarithms.

pattern.rule "log-of-one-plus" rounding doc "log(1 + x) = log1p(x)" : log(1 + %x as %inner) => log1p(%x)
  where single-use(%inner), same-type(%x, %root)

pattern.rule "exp-minus-one" rounding doc "exp(x) - 1 = expm1(x)" : (exp(%x) as %inner) - 1 => expm1(%x)
  where single-use(%inner), same-type(%x, %root)

pattern.rule "exp-plus-minus-one" rounding doc "exp(x) + -1 = expm1(x)" : (exp(%x) as %inner) + -1 => expm1(%x)
  where single-use(%inner), same-type(%x, %root)

pattern.rule "expm1-plus-one" rounding doc "expm1(x) + 1 = exp(x)" : (expm1(%x) as %inner) + 1 => exp(%x)
  where single-use(%inner), same-type(%x, %root)

pattern.rule "log1p-of-minus-one" rounding doc "log1p(x - 1) = log(x)" : log1p(%x - 1 as %inner) => log(%x)
  where single-use(%inner), same-type(%x, %root)

pattern.rule "product-of-exps" fast doc "exp(x) * exp(y) = exp(x + y)" :
  (exp(%x) as %p) * (exp(%y) as %q) => exp(%x + %y) where single-use(%p), single-use(%q)

pattern.rule "quotient-of-exps" fast doc "exp(x) / exp(y) = exp(x - y)" :
  (exp(%x) as %p) / (exp(%y) as %q) => exp(%x - %y) where single-use(%p), single-use(%q)

pattern.rule "reciprocal-of-exp" fast doc "1 / exp(x) = exp(-x)" : 1 / (exp(%x) as %inner) => exp(-%x)
  where single-use(%inner), same-type(%x, %root)

pattern.rule "sum-of-logs" fast doc "log(x) + log(y) = log(x * y)" : (log(%x) as %p) + (log(%y) as %q) => log(%x * %y)
  where single-use(%p), single-use(%q)

pattern.rule "difference-of-logs" fast doc "log(x) - log(y) = log(x / y)" :
  (log(%x) as %p) - (log(%y) as %q) => log(%x / %y) where single-use(%p), single-use(%q)

pattern.rule "log-of-sqrt" fast doc "log(sqrt(x)) = log(x) * 0.5" : log(sqrt(%x) as %inner) => log(%x) * 0.5
  where single-use(%inner)

pattern.rule "log-of-product-with-exp" fast doc "log(x * exp(y)) = log(x) + y" :
  log(%x * (exp(%y) as %e) as %inner) => log(%x) + %y where single-use(%inner), single-use(%e)

// Powers and roots.

pattern.rule "power-of-zero" doc "x^0 = 1, for NaN too" : power(%x, 0) => 1
pattern.rule "one-to-a-power" doc "1^x = 1, for NaN too" : power(1, %x) => 1
pattern.rule "power-of-two" rounding doc "x^2 = x * x" : power(%x, 2) => square(%x) where same-type(%x, %root)

pattern.rule "power-of-two-integer" doc "x^2 = x * x for integers, which wrap" : power(%x, 2) => square(%x)
  where integer(%x), same-type(%x, %root)

pattern.rule "power-of-three" rounding doc "x^3 = x * x * x" : power(%x, 3) => %x * square(%x)
  where same-type(%x, %root)

pattern.rule "power-of-four" rounding doc "x^4 = (x * x) * (x * x)" : power(%x, 4) => square(square(%x))
  where same-type(%x, %root)

pattern.rule "power-of-minus-one" rounding doc "x^-1 = 1 / x for floats" : power(%x, -1) => 1 / %x
  where float(%x), same-type(%x, %root)

pattern.rule "power-of-minus-two" fast doc "x^-2 = 1 / (x * x), except where x * x overflows" :
  power(%x, -2) => 1 / square(%x) where float(%x), same-type(%x, %root)

pattern.rule "power-of-half" fast doc "x^0.5 = sqrt(x), except for -0 and -inf" : power(%x, 0.5) => sqrt(%x)
  where same-type(%x, %root)

pattern.rule "power-of-minus-half" fast doc "x^-0.5 = 1 / sqrt(x), except for -0 and -inf" :
  power(%x, -0.5) => rsqrt(%x) where same-type(%x, %root)

pattern.rule "power-of-three-halves" fast doc "x^1.5 = x * sqrt(x)" : power(%x, 1.5) => %x * sqrt(%x)
  where same-type(%x, %root)

pattern.rule "two-to-a-power" rounding doc "2^x = exp2(x)" : power(2, %x) => exp2(%x)
  where float(%x), same-type(%x, %root)

pattern.rule "power-of-exp" fast doc "exp(x)^y = exp(x * y)" : power(exp(%x) as %inner, %y) => exp(%x * %y)
  where single-use(%inner)

pattern.rule "product-of-powers" fast doc "x^k * x^l = x^(k + l)" :
  (power(%x, constant %k) as %p) * (power(%x, constant %l) as %q) => power(%x, %k + %l)
  where float(%x), not-literal(%x), single-use(%p), single-use(%q)

pattern.rule "reciprocal-of-sqrt" rounding doc "1 / sqrt(x) = rsqrt(x)" : 1 / (sqrt(%x) as %inner) => rsqrt(%x)
  where single-use(%inner), same-type(%x, %root)

pattern.rule "reciprocal-of-rsqrt" rounding doc "1 / rsqrt(x) = sqrt(x)" : 1 / (rsqrt(%x) as %inner) => sqrt(%x)
  where single-use(%inner), same-type(%x, %root)

pattern.rule "sqrt-of-reciprocal" fast doc "sqrt(1 / x) = rsqrt(x), except for -0 and denormals" :
  sqrt(1 / %x as %inner) => rsqrt(%x) where single-use(%inner), same-type(%x, %root)

pattern.rule "times-rsqrt" fast doc "x * rsqrt(x) = sqrt(x), except for 0 and inf" : %x * rsqrt(%x) => sqrt(%x)
pattern.rule "divide-by-own-sqrt" fast doc "x / sqrt(x) = sqrt(x), except for 0 and inf" : %x / (sqrt(%x) as %s) => %s

pattern.rule "divide-by-rsqrt" fast doc "x / rsqrt(y) = x * sqrt(y)" : %x / (rsqrt(%y) as %inner) => %x * sqrt(%y)
  where single-use(%inner)

pattern.rule "product-of-sqrts" fast doc "sqrt(x) * sqrt(y) = sqrt(x * y)" :
  (sqrt(%x) as %p) * (sqrt(%y) as %q) => sqrt(%x * %y) where single-use(%p), single-use(%q)
