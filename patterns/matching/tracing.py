"""Records where a match fails, for `explain`."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

from xdsl.ir import Operation, OpResult, SSAValue

from ...lazy_dataclass import dataclass
from ..language.numbers import shown_condition
from ..language.rules import Require

Bindings = dict[str, Any]
ValueMatcher = Callable[[SSAValue, Bindings], bool]
Next = Callable[[Bindings], bool]

MATCH: Final = ""
"""The key under which the bindings hold the `Match` itself."""

SLOTS = (
    ".operands",
    ".returned",
    ".yielded",
    ".result",
    ".holes",
    ".arguments",
    ".arguments.body",
    ".arguments.at",
    "|arm",
    "|ops",
)
"""The ends of keys under which matchers note things that are no names of a pattern."""


def value_name(value: SSAValue) -> str:
    """Returns `%name`, or a description of what defines the value."""
    if value.name_hint is not None:
        return f"%{value.name_hint}"
    return f"the result of '{value.op.name}'" if isinstance(value, OpResult) else f"argument {value.index}"  # pyright: ignore


@dataclass(frozen=True)
class Failure:
    """The progress of a match that failed: how much was bound, where it ended and why."""

    depth: int
    reason: str
    at: Operation | None
    """The op whose operand or result did not fit."""
    operand: int | None
    bound: Bindings


class Tracer:
    """Keeps the failure of the deepest partial match. Of equally deep ones it keeps the first."""

    def __init__(self) -> None:
        self.deepest: Failure | None = None
        self._places: list[tuple[Operation, int]] = []

    def _failed(
        self, bound: Bindings, reason: str, at: Operation | None, operand: int | None, further: int = 0
    ) -> None:
        depth = sum(not key.endswith(SLOTS) for key in bound) + further
        if self.deepest is None or depth > self.deepest.depth:
            self.deepest = Failure(depth, reason, at, operand, dict(bound))

    def value(self, compiled: ValueMatcher, why_not: Callable[[SSAValue, Bindings], str | None]) -> ValueMatcher:
        """Returns `compiled`, which now records when its pattern itself does not fit, with the reason of `why_not`."""

        def traced(value: SSAValue, bound: Bindings) -> bool:
            if compiled(value, bound):
                return True
            reason = why_not(value, bound)
            if reason is not None:
                at, operand = self._places[-1] if self._places else (None, None)
                self._failed(bound, reason, at, operand)
            return False

        return traced

    def operand(self, key: str, number: int, compiled: ValueMatcher) -> ValueMatcher:
        """Returns `compiled`, which now records that it looks at operand `number` of the op bound to `key`."""

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
        """Records that a named condition did not hold."""
        self._failed(bound, f"condition '{shown_condition(required)}' does not hold", None, None)

    def structure(self, bound: Bindings, reason: str, at: Operation | None = None, further: int = 0) -> None:
        """Records that a larger pattern did not fit at the op `at`, `further` steps beyond what is bound."""
        self._failed(bound, reason, at, None, further)

    def inside(self, matches: Callable[[], bool]) -> str | None:
        """Returns why a part that is tried on its own does not match, or `None` when it does. Nothing is recorded."""
        deepest, self.deepest = self.deepest, None
        places, self._places = self._places, []
        try:
            if matches():
                return None
            return "no match" if self.deepest is None else self.deepest.reason
        finally:
            self.deepest, self._places = deepest, places


TRACER: ContextVar[Tracer | None] = ContextVar("TRACER", default=None)
"""The tracer while patterns are compiled for `explain`."""
