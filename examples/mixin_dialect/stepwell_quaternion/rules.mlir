// A product of negated quaternions: the signs cancel, and negation never rounds, so the bits are the same.

pattern.rule "mul-of-two-negatives" doc "(-a)(-b) = a b" {
  %a = pattern.any
  %b = pattern.any
  %na = pattern.op "graph.negative"(%a)
  %nb = pattern.op "graph.negative"(%b)
  %root = pattern.op "quaternion.mul"(%na, %nb)
  pattern.rewrite %root {
    %new = pattern.create "quaternion.mul"(%a, %b)
    pattern.yield %new
  }
}
