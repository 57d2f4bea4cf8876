// Functions of neural networks, as they are exported in parts. docs/rewrites_elsewhere.md says where the forms come
// from.

pattern.rule "sigmoid-of-parts" rounding doc "1 / (1 + exp(-x)) = sigmoid(x)" :
  1 / (1 + (exp(-%x) as %e) as %inner) => sigmoid(%x) where single-use(%inner), single-use(%e), same-type(%x, %root)

pattern.rule "silu-of-parts" rounding doc "x / (1 + exp(-x)) = silu(x)" :
  %x / (1 + (exp(-%x) as %e) as %inner) => silu(%x) where single-use(%inner), single-use(%e), same-type(%x, %root)

pattern.rule "silu-of-sigmoid" rounding doc "x * sigmoid(x) = silu(x)" : %x * (sigmoid(%x) as %inner) => silu(%x)
  where single-use(%inner)

pattern.rule "one-minus-sigmoid" rounding doc "1 - sigmoid(x) = sigmoid(-x)" :
  1 - (sigmoid(%x) as %inner) => sigmoid(-%x) where single-use(%inner), same-type(%x, %root)

pattern.rule "sigmoid-of-tanh" rounding doc "(tanh(x / 2) + 1) / 2 = sigmoid(x)" :
  0.5 * ((tanh(%x * 0.5) as %t) + 1 as %inner) => sigmoid(%x)
  where single-use(%inner), single-use(%t), same-type(%x, %root)

pattern.rule "tanh-of-exps" fast doc "(exp(x) - exp(-x)) / (exp(x) + exp(-x)) = tanh(x)" :
  ((exp(%x) as %e) - (exp(-%x) as %n)) / (%e + %n) => tanh(%x)

pattern.rule "sinh-of-exps" rounding doc "(exp(x) - exp(-x)) * 0.5 = sinh(x)" :
  (exp(%x) - exp(-%x) as %inner) * 0.5 => sinh(%x) where single-use(%inner), same-type(%x, %root)

pattern.rule "cosh-of-exps" rounding doc "(exp(x) + exp(-x)) * 0.5 = cosh(x)" :
  (exp(%x) + exp(-%x) as %inner) * 0.5 => cosh(%x) where single-use(%inner), same-type(%x, %root)

pattern.rule "tan-of-quotient" rounding doc "sin(x) / cos(x) = tan(x)" : (sin(%x) as %p) / (cos(%x) as %q) => tan(%x)
  where single-use(%p), single-use(%q)

pattern.define "one-plus-erf"(%x) : 1 + erf(%x * 0.7071067811865476 or %x / 1.4142135623730951)

pattern.rule "gelu-of-parts" rounding doc "x * (1 + erf(x / sqrt(2))) * 0.5 = gelu(x)" :
  (%x * (@one-plus-erf(%x) as %s) as %inner) * 0.5 => gelu(%x)
  where single-use(%inner), single-use(%s), same-type(%x, %root)

pattern.rule "gelu-of-half" rounding doc "x * 0.5 * (1 + erf(x / sqrt(2))) = gelu(x)" :
  (%x * 0.5 as %inner) * (@one-plus-erf(%x) as %s) => gelu(%x)
  where single-use(%inner), single-use(%s), same-type(%x, %root)

pattern.rule "gelu-of-factor" rounding doc "x * ((1 + erf(x / sqrt(2))) * 0.5) = gelu(x)" :
  %x * ((@one-plus-erf(%x) as %s) * 0.5 as %inner) => gelu(%x)
  where single-use(%inner), single-use(%s), same-type(%x, %root)

pattern.rule "log-of-softmax" rounding doc "log(softmax(x)) = log_softmax(x)" :
  log(softmax(%x, axis = %axis) as %inner) => log_softmax(%x, axis = %axis) where single-use(%inner)

pattern.rule "exp-of-log-softmax" rounding doc "exp(log_softmax(x)) = softmax(x)" :
  exp(log_softmax(%x, axis = %axis) as %inner) => softmax(%x, axis = %axis) where single-use(%inner)
