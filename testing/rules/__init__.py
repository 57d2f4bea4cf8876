"""
Rules that prove themselves: random instances of a rule's pattern, run before and after the rule in the reference.

`check_rules(rules, settings)` tests rules, `check_mutants` the tests themselves: it changes the rules and looks whether
that is noticed. `docs/rewrites.md` describes both.
"""
