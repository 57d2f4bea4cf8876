"""The conditions and builders that rules call by name, and their registries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Literal

from xdsl.ir import Attribute, Operation, SSAValue

from ...core.messages.diagnostics import did_you_mean
from ...core.plugins import registry
from ...lazy_dataclass import dataclass
from .signatures import RuleError as RuleError
from .signatures import Thing as Thing
from .signatures import check_taken
from .signatures import plain_parameters as plain_parameters

ConditionFunction = Callable[..., bool]
BuilderFunction = Callable[..., Sequence[SSAValue] | None]


Protects = Literal["value", "cost", "structure"]
"""What a condition protects: the value of the program, its cost (single use), or the place of its ops (same block)."""


@dataclass(frozen=True)
class Condition:
    """
    A predicate `function(match, *bound, **parameters)`.

    `candidates(match, *bound[1:])` yields the ops that the first argument may be when the root does not reach it.
    """

    name: str
    function: ConditionFunction
    candidates: Callable[..., Iterable[Operation]] | None = None
    protects: Protects = "value"
    otherwise: str | None = None
    """The sentence of a remark about things for which it does not hold. `{0}` is the name of the first in the rule."""


CONDITIONS: dict[str, Condition] = {}
BUILDERS: dict[str, BuilderFunction] = {}


def condition(
    name: str,
    candidates: Callable[..., Iterable[Operation]] | None = None,
    *,
    protects: Protects = "value",
    otherwise: str | None = None,
) -> Callable[[ConditionFunction], ConditionFunction]:
    """
    Registers a condition under `name`. A rule is still right without a condition that protects no value.

    `otherwise` is what a remark with `{why}` says where the condition does not hold: `"the {0} is not known"`.
    """

    def register(function: ConditionFunction) -> ConditionFunction:
        CONDITIONS[name] = Condition(name, function, candidates, protects, otherwise)
        return function

    return register


def builder(name: str) -> Callable[[BuilderFunction], BuilderFunction]:
    """
    Registers a builder under `name`: `function(match, *bound, **parameters)`.

    It makes ops by `match.create` and returns the values that replace the results of the root. It returns `None` when
    there is nothing to do after all.
    """

    def register(function: BuilderFunction) -> BuilderFunction:
        BUILDERS[name] = function
        return function

    return register


# Names in rules

RULE_FUNCTIONS = "rule-functions"
"""The extension kind of modules that register conditions and builders when they are imported."""


@cache
def load_rule_functions() -> None:
    """Imports what Stepwell and other packages register for rules: their conditions and builders."""
    registry().load_extensions(RULE_FUNCTIONS, "rule functions")


def unknown_name(kind: str, name: str, known: dict[str, Any]) -> str:
    """Returns the message for a name that is not among the known ones."""
    hint = did_you_mean(name, known)
    return f"unknown {kind} '{name}'" + (f", {hint}" if hint else f"; known: {', '.join(sorted(known))}")


def known_condition(name: str, number: int, parameters: Sequence[tuple[str, Attribute]] = ()) -> Condition:
    """Returns the condition `name`. Raises `RuleError` when there is none, or when it cannot take `number` things."""
    if name not in CONDITIONS:
        load_rule_functions()
    found = CONDITIONS.get(name)
    if found is None:
        raise RuleError(unknown_name("condition", name, CONDITIONS))
    check_taken(f"condition '{name}'", found.function, number, parameters)
    return found


def known_builder(name: str, number: int, parameters: Sequence[tuple[str, Attribute]] = ()) -> BuilderFunction:
    """Returns the builder `name`. Raises `RuleError` when there is none, or when it cannot take `number` things."""
    if name not in BUILDERS:
        load_rule_functions()
    found = BUILDERS.get(name)
    if found is None:
        raise RuleError(unknown_name("builder", name, BUILDERS))
    check_taken(f"builder '{name}'", found, number, parameters)
    return found
