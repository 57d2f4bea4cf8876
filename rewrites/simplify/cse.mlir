// Common subexpressions: what has been computed before is not computed again.

pattern.rule "reuse-equivalent" doc "an op that equals an earlier one is replaced by it" {
  %first = pattern.any_op
  %second = pattern.any_op
  pattern.require "equivalent"(%first, %second)
  pattern.require "available"(%first, %second)
  pattern.replace %second with %first
}
