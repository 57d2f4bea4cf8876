// Logic, and the same on bits.

// A value and its opposite; a value within another that holds it.

pattern.rule "and-of-opposites" doc "x and not x = false" : logical_and(%x, logical_not(%x)) => 0

pattern.rule "or-of-opposites" doc "x or not x = x xor not x = true" :
  [logical_or, logical_xor](%x, logical_not(%x)) => 1

pattern.rule "bits-and-of-opposites" doc "x & ~x = 0" : bitwise_and(%x, bitwise_not(%x)) => 0

pattern.rule "bits-or-of-opposites" doc "x | ~x = x ^ ~x = -1" : [bitwise_or, bitwise_xor](%x, bitwise_not(%x)) => -1
  where signed(%x)

pattern.rule "bits-and-with-ones" doc "x & -1 = x" : bitwise_and(%x, -1) => %x
pattern.rule "bits-or-with-ones" doc "x | -1 = -1" : bitwise_or(%x, -1) => -1
pattern.rule "bits-xor-with-ones" doc "x ^ -1 = ~x" : bitwise_xor(%x, -1) => bitwise_not(%x) where same-type(%x, %root)
pattern.rule "absorbed-by-and" doc "x and (x or y) = x" : logical_and(%x, logical_or(%x, %y)) => %x
pattern.rule "absorbed-by-or" doc "x or (x and y) = x" : logical_or(%x, logical_and(%x, %y)) => %x
pattern.rule "bits-absorbed-by-and" doc "x & (x | y) = x" : bitwise_and(%x, bitwise_or(%x, %y)) => %x
pattern.rule "bits-absorbed-by-or" doc "x | (x & y) = x" : bitwise_or(%x, bitwise_and(%x, %y)) => %x

pattern.rule "and-without-opposite" doc "x and (not x or y) = x and y" :
  logical_and(%x, logical_or(logical_not(%x), %y) as %inner) => logical_and(%x, %y) where single-use(%inner)

pattern.rule "or-without-opposite" doc "x or (not x and y) = x or y" :
  logical_or(%x, logical_and(logical_not(%x), %y) as %inner) => logical_or(%x, %y) where single-use(%inner)

pattern.rule "once-is-enough" doc "f(x, f(x, y)) = f(x, y) for and, or, max and min"
  for %f in [logical_and, logical_or, bitwise_and, bitwise_or, maximum, minimum] :
  %f(%x, %f(%x, %y) as %inner) => %inner

pattern.rule "xor-there-and-back" doc "x xor (x xor y) = y" for %f in [logical_xor, bitwise_xor] :
  %f(%x, %f(%x, %y)) => %y

pattern.rule "xor-of-xors" doc "(x xor z) xor (y xor z) = x xor y" for %f in [logical_xor, bitwise_xor] :
  %f(%f(%x, %z) as %first, %f(%y, %z) as %second) => %f(%x, %y)
  where combined-type(%root, %x, %y), single-use(%first), single-use(%second)

// Negations go outwards, where two of them meet or leave.

pattern.rule "and-of-nots" doc "not x and not y = not (x or y)" :
  logical_and(logical_not(%x) as %p, logical_not(%y) as %q) => logical_not(logical_or(%x, %y))
  where single-use(%p), single-use(%q)

pattern.rule "or-of-nots" doc "not x or not y = not (x and y)" :
  logical_or(logical_not(%x) as %p, logical_not(%y) as %q) => logical_not(logical_and(%x, %y))
  where single-use(%p), single-use(%q)

pattern.rule "bits-and-of-nots" doc "~x & ~y = ~(x | y)" :
  bitwise_and(bitwise_not(%x) as %p, bitwise_not(%y) as %q) => bitwise_not(bitwise_or(%x, %y))
  where single-use(%p), single-use(%q)

pattern.rule "bits-or-of-nots" doc "~x | ~y = ~(x & y)" :
  bitwise_or(bitwise_not(%x) as %p, bitwise_not(%y) as %q) => bitwise_not(bitwise_and(%x, %y))
  where single-use(%p), single-use(%q)

pattern.rule "xor-of-nots" doc "not x xor not y = x xor y" :
  logical_xor(logical_not(%x), logical_not(%y)) => logical_xor(%x, %y)

pattern.rule "bits-xor-of-nots" doc "~x ^ ~y = x ^ y" :
  bitwise_xor(bitwise_not(%x), bitwise_not(%y)) => bitwise_xor(%x, %y)

pattern.rule "xor-with-true" doc "x xor true = not x" : logical_xor(%x, 1) => logical_not(%x) where same-type(%x, %root)
pattern.rule "negative-of-bits" doc "-(~x) = x + 1" : -(bitwise_not(%x) as %inner) => %x + 1 where single-use(%inner)
