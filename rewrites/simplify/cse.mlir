// Common subexpressions: what has been computed already is not computed again.

pattern.rule "reuse-equivalent" doc "an op equal to one computed before becomes that one" {
  %first = pattern.any_op
  %second = pattern.any_op
  pattern.require "equivalent"(%first, %second)
  pattern.require "available"(%first, %second)
  pattern.replace %second with %first
}
