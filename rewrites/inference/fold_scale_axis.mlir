// Factors per channel go into the weights of a convolution or matrix product. The right side has one multiplication of
// data less, or has it one op nearer to the contraction that takes it. The conditions `reaches-…` ensure that it arrives.

// Backward: a factor after the contraction.

pattern.rule "backward-scale-of-contraction" rounding doc "conv(x, w) * s = conv(x, w * s) for s per output channel" :
  ([conv2d, matmul](%x, %w) as %inner) * %s => @contraction-with-scaled-outputs(%inner, %s)
  where equal-types(%inner, %root), scales-outputs(%inner, %s),
    single-use(%inner) remark "not folded: {name} has {users} users", same-block(%inner, %root)

pattern.rule "backward-scale-of-relu" rounding doc "relu(y) * s = relu(y * s) for positive s" :
  (relu(%y) as %inner) * %s => relu(%y * %s)
  where equal-types(%inner, %root), positive-literal(%s), reaches-contraction-above(%inner, %s)

pattern.rule "backward-scale-of-sum" rounding : (%y + %b as %inner) * %s => %y * %s + %b * %s
  where equal-types(%inner, %root), smaller-summand(%inner, %b), reaches-contraction-above(%inner, %s)

pattern.rule "backward-scale-of-difference" rounding : (%y - %b as %inner) * %s => %y * %s - %b * %s
  where equal-types(%inner, %root), smaller-summand(%inner, %b), reaches-contraction-above(%inner, %s)

// Forward: a factor before the contraction.

pattern.rule "forward-contraction-of-scale" rounding doc "conv(x * s, w) = conv(x, w * s) for s per input channel" :
  [conv2d, matmul](%x * %s as %inner, %w) => @contraction-with-scaled-inputs(%root, %x, %s)
  where equal-types(%inner, %x), scales-inputs(%root, %s),
    single-use(%inner) remark "not folded: {name} has {users} users", same-block(%inner, %root)

pattern.rule "forward-relu-of-scale" rounding doc "relu(x * s) = relu(x) * s for positive s" :
  relu(%x * %s as %inner) => relu(%x) * %s
  where equal-types(%inner, %x), positive-literal(%s), reaches-contraction-below(%inner, %s)

pattern.rule "forward-pool-of-scale" rounding doc "pool(x * s) = pool(x) * s, for a maximum where s is positive"
  for %f in [max_pool2d, avg_pool2d] : %f(%x * %s as %inner) => %f(%x) * %s
  where equal-types(%inner, %x), reaches-contraction-below(%inner, %s)

pattern.rule "forward-sum-of-scale" rounding : (%x * %s as %inner) + %b => (%x + %b / %s) * %s
  where equal-types(%inner, %x), smaller-summand(%root, %b), nonzero-literal(%s), reaches-contraction-below(%inner, %s)
