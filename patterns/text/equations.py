"""Rule files with their rules as equations: `stepwell-opt rules.mlir -t equations`."""

from __future__ import annotations

from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.target import Target

from ...dialects.pattern.equations.groups import group_equation_of
from ...dialects.pattern.equations.printing import equation_of
from ...dialects.pattern.groups import GroupRuleOp
from ...dialects.pattern.rules import FLAGS, NUMERICS, RuleOp
from ...lazy_dataclass import dataclass


def text_of_rule(rule: Operation) -> str:
    """
    Returns a `pattern.rule` or `pattern.group_rule` with its equation in one line, as it may stand in a rule file.

    A rule that has no equation, since it has functions, calls, branches or expressions, is in normal form. So is any
    other op.
    """
    equation = group_equation_of(rule) if isinstance(rule, GroupRuleOp) else None
    if isinstance(rule, RuleOp):
        equation = equation_of(rule)
    if equation is None or rule.attributes or not isinstance(rule, RuleOp | GroupRuleOp):
        return str(rule)
    words = [rule.name, str(rule.rule_name)]
    if isinstance(rule, RuleOp) and rule.numerics.data != NUMERICS[0]:
        words.append(rule.numerics.data)
    if isinstance(rule, RuleOp):
        words += [flag for flag in FLAGS if flag in rule.properties]
    if rule.doc is not None and rule.doc.data != equation.removeprefix(": ").partition(" where ")[0]:
        words.append(f"doc {rule.doc}")
    return " ".join([*words, equation])


@dataclass(frozen=True)
class EquationsTarget(Target):
    """`-t equations`: a rule file with each rule in one line. What is no rule is printed as it is."""

    name = "equations"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        for op in module.ops:
            output.write(f"{text_of_rule(op)}\n")
