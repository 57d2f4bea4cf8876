// Common subexpressions: what has been computed before is not computed again.

pattern.rule "reuse-equivalent" effects doc "an op that equals an earlier one is replaced by it" : any_op
  where equivalent(any_op %first, %root), available(%first, %root) => %first
