"""Following a match as it fails: what `explain` reports."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation, SSAValue

from .patterns import Pattern, Require

Bindings = dict[str, Any]
ValueMatcher = Callable[[SSAValue, Bindings], bool]


SLOTS = (".operands", ".returned", ".yielded", ".result", ".holes", "|arm", "|ops")
"""Ends of the keys under which matchers note things that are no names of a pattern."""


@dataclass(frozen=True)
class Failure:
    """How far a match came: how much was bound, where it ended and why."""

    depth: int
    reason: str
    at: Operation | None
    """The op whose operand or result did not fit."""
    operand: int | None
    bound: Bindings


class Tracer:
    """Keeps the failure of the deepest partial match; the first of equally deep ones."""

    def __init__(self) -> None:
        self.deepest: Failure | None = None
        self._places: list[tuple[Operation, int]] = []

    def _failed(
        self, bound: Bindings, reason: str, at: Operation | None, operand: int | None, further: int = 0
    ) -> None:
        depth = sum(not key.endswith(SLOTS) for key in bound) + further
        if self.deepest is None or depth > self.deepest.depth:
            self.deepest = Failure(depth, reason, at, operand, dict(bound))

    def value(self, pattern: Pattern, compiled: ValueMatcher) -> ValueMatcher:
        """`compiled`, telling when `pattern` itself is what does not fit."""
        from .explain import why_not

        def traced(value: SSAValue, bound: Bindings) -> bool:
            if compiled(value, bound):
                return True
            reason = why_not(pattern, value, bound)
            if reason is not None:
                at, operand = self._places[-1] if self._places else (None, None)
                self._failed(bound, reason, at, operand)
            return False

        return traced

    def operand(self, key: str, number: int, compiled: ValueMatcher) -> ValueMatcher:
        """`compiled`, telling that it looks at operand `number` of the op bound to `key`."""

        def traced(value: SSAValue, bound: Bindings) -> bool:
            op: Operation = bound[key]
            place = next((index for index, each in enumerate(op.operands) if each is value), number)
            self._places.append((op, place))
            try:
                return compiled(value, bound)
            finally:
                self._places.pop()

        return traced

    def condition(self, required: Require, bound: Bindings) -> None:
        """A named condition did not hold."""
        self._failed(bound, f"condition '{required.name}' does not hold", None, None)

    def structure(self, bound: Bindings, reason: str, at: Operation | None = None, further: int = 0) -> None:
        """A pattern of a larger thing did not fit at the op `at`, `further` steps beyond what is bound."""
        self._failed(bound, reason, at, None, further)

    def inside(self, matches: Callable[[], bool]) -> str | None:
        """Why a part that is tried on its own does not match; `None` when it does. Nothing else hears of it."""
        deepest, self.deepest = self.deepest, None
        places, self._places = self._places, []
        try:
            if matches():
                return None
            return "no match" if self.deepest is None else self.deepest.reason
        finally:
            self.deepest, self._places = deepest, places


TRACER: ContextVar[Tracer | None] = ContextVar("TRACER", default=None)
"""Set while patterns are compiled for `explain`."""
