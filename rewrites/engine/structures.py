"""Patterns of larger things: what dominates what, functions, calls and branches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from .patterns import Pattern, fresh_key


@dataclass(frozen=True)
class Dominates(Pattern):
    """
    A value that `child` matches, all of whose inputs come from one value that `parent` matches.

    Upwards from the op that defines the value, every operand is that parent, or is matched by `path`, and then so
    are its operands. Arguments, constants, weights and values of enclosing blocks end no path and are ignored, but
    an op with nothing else has no way to the parent. No value on the way, nor the parent, is used elsewhere.
    The nearest parent for which all holds is taken. Names inside `path` stand for many values each: `Match.all`.
    """

    levels: ClassVar[int] = 100

    parent: Pattern
    path: Pattern
    child: Pattern
    key: str = field(default_factory=fresh_key)

    def parts(self) -> tuple[Pattern, ...]:
        return (self.parent, self.path, self.child)

    def certain_parts(self) -> tuple[Pattern, ...]:
        return (self.parent, self.child)


def dominates(parent: Pattern, path: Pattern, child: Pattern) -> Dominates:
    """`child` computed from `parent` alone, over ops that `path` matches."""
    return Dominates(parent, path, child)


@dataclass(frozen=True)
class Function(Pattern):
    """
    A function with one block that returns one value, which `body` matches; as a root, of `func.func`.

    `parameters`: a pattern per parameter, or `None` for any number. `attributes` as in `Op`. A name that stands only
    in `body` is any value inside the function, however it is computed.
    """

    levels: ClassVar[int] = 1

    parameters: tuple[Pattern, ...] | None
    body: Pattern
    attributes: tuple[tuple[str, Any], ...] = ()
    key: str = field(default_factory=fresh_key)

    def parts(self) -> tuple[Pattern, ...]:
        return (*(self.parameters or ()), self.body)


@dataclass(frozen=True)
class Call(Pattern):
    """
    The result of a call (`func.call`, `graph.call_kernel`) of `callee`: a name, a `Function`, or `None` for any.

    `operands` as in `Op`.
    """

    levels: ClassVar[int] = 1

    callee: str | Function | None
    operands: tuple[Pattern, ...] | None = None
    key: str = field(default_factory=fresh_key)

    def parts(self) -> tuple[Pattern, ...]:
        below = (self.callee,) if isinstance(self.callee, Function) else ()
        return (*below, *(self.operands or ()))


def call(callee: str | Function | None, *operands: Pattern) -> Call:
    """A call with these operands; without any, a call of any arity."""
    return Call(callee, operands or None)


CALLS = ("func.call", "graph.call_kernel")


@dataclass(frozen=True)
class If(Pattern):
    """The result of an `scf.if` by its condition and by what its two branches yield in its place."""

    levels: ClassVar[int] = 1

    condition: Pattern
    then: Pattern
    otherwise: Pattern
    key: str = field(default_factory=fresh_key)

    def parts(self) -> tuple[Pattern, ...]:
        return (self.condition, self.then, self.otherwise)


__all__ = ["CALLS", "Call", "Dominates", "Function", "If", "call", "dominates"]
