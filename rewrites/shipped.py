"""The rule files that Stepwell ships, by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..core.ir.walk import walk
from ..core.messages.diagnostics import remarks_wanted
from ..patterns.language.functions import is_open
from ..patterns.language.rules import Rule
from ..patterns.matching.compiled_rule import keep_compiled
from ..patterns.matching.tracing import TRACER
from ..patterns.running.probe import matches_anywhere
from ..patterns.running.selection import CLASSES_OF
from ..patterns.running.statistics import statistics_wanted
from ..patterns.text.loading import rules_of_valid_text
from .rule_texts import RuleText, excerpt, rule_texts

SHIPPED: Final[dict[str, str]] = {
    "cse": "simplify",
    "simplify": "simplify",
    "simplify_arithmetic": "simplify",
    "logic": "simplify",
    "comparisons": "simplify",
    "choices": "simplify",
    "cancelling": "simplify",
    "signs": "simplify",
    "composites": "simplify",
    "functions": "simplify",
    "reductions": "simplify",
    "movement": "simplify",
    "products": "simplify",
    "ewise_fma": "fusion",
    "matmul_add": "fusion",
    "simplify_inference": "inference",
    "canonicalize_ops": "simplify",
    "fold_scale_axis": "inference",
    "integer_arithmetic": "quantised",
}
"""The name of each rule file, without `.mlir`, and the theme whose folder holds it."""


def shipped_rules(name: str) -> tuple[Rule, ...]:
    """
    Returns the rules of a shipped file, which the tests verify.

    Raises `KeyError` for a name that is not in `SHIPPED`.
    """
    _WHOLE.add(name)
    return _rules(name, _texts(name))


_WHOLE: Final[set[str]] = set()
"""The files that have been read as a whole."""

_READ: Final[dict[tuple[str, str], Rule]] = {}
"""The rules that have been read, by the names of file and rule."""


def _rules(file: str, chosen: Sequence[RuleText]) -> tuple[Rule, ...]:
    """Returns some rules of a file, and reads those of them that have not been read yet."""
    new = [each for each in chosen if (file, each.name) not in _READ]
    if any(each.name for each in new):
        rules = rules_of_valid_text(excerpt(_text(file), new), f"{file}.mlir")
        keep_compiled(rules)
        _READ.update(((file, rule.name), rule) for rule in rules)
    return tuple(_READ[file, each.name] for each in chosen if each.name)


@cache
def _text(name: str) -> str:
    return (Path(__file__).parent / SHIPPED[name] / f"{name}.mlir").read_text(encoding="utf-8")


@cache
def _texts(name: str) -> tuple[RuleText, ...]:
    return tuple(rule_texts(_text(name)))


def rule_names(name: str) -> frozenset[str]:
    """Returns the names of the rules of a shipped file, without reading what they say."""
    return frozenset(each.name for each in _texts(name) if each.name)


def nothing_matches(
    ctx: Context,
    module: ModuleOp,
    names: Iterable[str],
    numerics: str,
    enter: Callable[[Operation], bool] = is_open,
) -> bool:
    """
    Returns whether no rule of the files `names` matches in `module`, which is then left alone by all of them.

    Only the rules that may match by the names of their ops are read for that. The answer is `False` where all of them
    have been read, so that nothing is gained, and where remarks, statistics or traces are to be had of each.
    """
    if remarks_wanted() or statistics_wanted() or TRACER.get() is not None or numerics not in CLASSES_OF:
        return False
    if _WHOLE.issuperset(names := tuple(names)):
        return False
    present = {op.name for op in walk(module)}
    rules: list[Rule] = []
    for name in names:
        chosen = [each for each in _texts(name) if _is_wanted(each, numerics) and each.may_match(present)]
        rules += _rules(name, chosen)
    return not matches_anywhere(ctx, rules, module, enter)


def rules_that_may_match(present: Collection[str], names: Iterable[str], numerics: str) -> list[Rule]:
    """
    Returns the rules of the files `names` that may match among ops with the names `present`, in their order.

    Others need not be read. It is all rules where statistics or a trace are to be had of each, and where `numerics` is
    no class.
    """
    if statistics_wanted() or TRACER.get() is not None or numerics not in CLASSES_OF:
        return [rule for name in names for rule in shipped_rules(name)]
    found: list[Rule] = []
    for name in names:
        found += _rules(name, [each for each in _texts(name) if _is_wanted(each, numerics) and each.may_match(present)])
    return found


def _is_wanted(rule: RuleText, numerics: str) -> bool:
    return rule.numerics in CLASSES_OF[numerics] or not rule.name
