"""
Rules that prove themselves: random instances of a rule's pattern, run before and after the rule in the reference.

`check_rules(rules, settings)` tests rules, `check_mutants` the tests themselves: it changes the rules and looks whether
that is noticed. `docs/rewrites.md` describes both.

```python
from stepwell.patterns import create, op, rule, wildcard

x = wildcard()
right = rule("relu-of-relu", op("graph.relu", op("graph.relu", x)), create("graph.relu", x))
assert check_rule(right, Settings(cases=4)).is_good
wrong = rule("negative-of-relu", op("graph.negative", op("graph.relu", x)), create("graph.negative", x))
assert check_rule(wrong, Settings(cases=4)).verdict == "different"
```
"""
