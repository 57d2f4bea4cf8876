// Reductions that join each other, run over what was moved before, or take the place of several ops.

pattern.rule "position-among-one" doc "one element is the first" : [argmax, argmin](%x) => 0 where same-size(%x, %root)

pattern.rule "reduction-of-reduction" doc "two reductions after each other are one"
  : [max, min, graph.any, graph.all]([max, min, graph.any, graph.all](%x) as %inner) => @joined-reduction(%root, %inner)
  where single-use(%inner)

pattern.rule "sum-of-sum-integer" doc "two sums after each other are one, and so for prod"
  : [sum, prod]([sum, prod](%x) as %inner) => @joined-reduction(%root, %inner)
  where integer(%x), single-use(%inner)

pattern.rule "sum-of-sum" rounding doc "two sums after each other are one, and so for prod and mean"
  : [sum, prod, mean]([sum, prod, mean](%x) as %inner) => @joined-reduction(%root, %inner)
  where float(%x), single-use(%inner)

pattern.rule "reduction-of-permuted" doc "a reduction runs along the dimensions where they were"
  : [max, min, graph.any, graph.all](permute_dims(%x) as %inner) => @reduction-of-permuted(%root, %inner)

pattern.rule "sum-of-permuted-integer" doc "a sum runs along the dimensions where they were, and so for prod"
  : [sum, prod](permute_dims(%x) as %inner) => @reduction-of-permuted(%root, %inner) where integer(%x)

pattern.rule "sum-of-permuted" rounding doc "a sum runs along the dimensions where they were, and so for prod and mean"
  : [sum, prod, mean](permute_dims(%x) as %inner) => @reduction-of-permuted(%root, %inner) where float(%x)

pattern.rule "total-of-reshaped" doc "the reduction of all elements needs no shape" :
  [max, min, graph.any, graph.all]([reshape, expand_dims, squeeze](%x)) => @total-reduction(%root, %x)
  where rank-zero(%root)

pattern.rule "sum-of-reshaped-integer" doc "the sum of all elements needs no shape, and so for prod" :
  [sum, prod]([reshape, expand_dims, squeeze](%x)) => @total-reduction(%root, %x) where integer(%x), rank-zero(%root)

pattern.rule "sum-of-reshaped" rounding doc "the sum of all elements needs no shape, and so for prod and mean" :
  [sum, prod, mean]([reshape, expand_dims, squeeze](%x)) => @total-reduction(%root, %x)
  where float(%x), rank-zero(%root)

pattern.rule "argmax-of-negatives" doc "argmax(-x) = argmin(x) for floats" :
  argmax(-%x, axis = %a, keepdims = %k) => argmin(%x, axis = %a, keepdims = %k) where float(%x)

pattern.rule "argmin-of-negatives" doc "argmin(-x) = argmax(x) for floats" :
  argmin(-%x, axis = %a, keepdims = %k) => argmax(%x, axis = %a, keepdims = %k) where float(%x)

pattern.rule "any-of-nots" doc "any(not x) = not all(x)" :
  graph.any(logical_not(%x) as %inner, axis = %a, keepdims = %k) => logical_not(all(%x, axis = %a, keepdims = %k))
  where single-use(%inner)

pattern.rule "all-of-nots" doc "all(not x) = not any(x)" :
  all(logical_not(%x) as %inner, axis = %a, keepdims = %k) => logical_not(graph.any(%x, axis = %a, keepdims = %k))
  where single-use(%inner)

pattern.rule "mean-of-sum" rounding doc "sum(x) / n = sum(x) * (1 / n) = mean(x) for n elements" :
  [divide, multiply](sum(%x) as %sum, constant %n) => @mean-of-sum(%sum, %n) where single-use(%sum)

pattern.rule "softmax-of-parts" rounding doc "exp(x - max(x)) / sum(exp(x - max(x))) = softmax(x)" :
  (exp(%x - (max(%x) as %m)) as %e) / (sum(%e) as %s) => @softmax-along(%m, %x) where one-axis-kept(%m, %s)

pattern.rule "softmax-of-centred" rounding doc "softmax(x - max(x)) = softmax(x)" :
  softmax(%x - (max(%x) as %m), axis = %a) => softmax(%x, axis = %a) where along-axis-of(%m, %root)
