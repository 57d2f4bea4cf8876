// Ops that are short for others become those ops. So every rule about `add` serves `bias_add` too.

pattern.rule "bias-add-to-add" doc "bias_add(x, b) = x + b, where b gets dimensions of size 1 after its own" :
  bias_add(%x, %bias) => @bias-add-arithmetic(%root)
