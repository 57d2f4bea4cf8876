"""Chains: values computed by one kind of step after another, of any number."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import ClassVar

from ...lazy_dataclass import dataclass
from .patterns import Any_, Op, Operand, Pattern, Rest, all_below, as_operands, fresh_key
from .registry import RuleError


@dataclass(frozen=True)
class Chain(Pattern):
    """
    A value that steps of one form lead to from what `start` matches: `least` steps or more.

    `step` matches each value of the chain, and `link`, an `Any_` below it, stands for the value before. The longest
    chain that leads to a match is taken. Names inside `step` stand for many values, which `Match.all` returns, last
    step first, and they stand nowhere else. Other users of the values on the way do not matter.
    """

    levels: ClassVar[int] = 1
    far_reaching: ClassVar[bool] = True

    step: Pattern
    link: Any_
    start: Pattern
    least: int = 1
    key: str = field(default_factory=fresh_key)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.least < 0:
            raise RuleError(f"a chain has {self.least} steps or more, expected 0 or more")

    def parts(self) -> tuple[Pattern, ...]:
        return (self.step, self.start)

    def certain_parts(self) -> tuple[Pattern, ...]:
        return (self.start,)


Step = str | tuple[str, ...] | Callable[[Any_], Pattern]
"""A step of a chain: an op, one of several, or what a function makes of the value before."""


def chain(step: Step, start: Pattern, *others: Operand, least: int = 1) -> Chain:
    """
    Returns the pattern of a chain that begins at `start`, such as `chain("graph.relu", x)`.

    A step is an op called `step`, or one of these names, that goes through its first operand, of a commutative op
    through either one. `others` match its other operands. Or `step` is a function that makes the pattern of a step from
    that of the value before, as in `chain(lambda before: is_op("graph.relu")(before) * 2.0, x)`.
    """
    link = Any_()
    if not callable(step):
        return Chain(Op((step,) if isinstance(step, str) else step, as_operands(link, *others)), link, start, least)
    if others:
        raise RuleError(f"a step that is a function has its operands itself, found {len(others)} beside it")
    return Chain(step(link), link, start, least)


def all_key(key: str) -> str:
    """Returns the key under which all the values are bound that a name stands for in a path, a chain or a list."""
    return f"{key}|all"


def keys_of_many(roots: Iterable[Pattern]) -> set[str]:
    """Returns the names inside the steps of chains, and inside what holds for all operands that are left."""
    keys: set[str] = set()
    for root in roots:
        for part in all_below(root):
            inner = part.step if isinstance(part, Chain) else part.each if isinstance(part, Rest) else None
            if inner is not None:
                keys.update(each.key for each in all_below(inner))
    return keys


__all__ = ["Chain", "all_key", "Step", "chain", "keys_of_many"]
