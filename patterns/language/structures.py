"""Patterns of larger things: dominating values, functions, calls and branches."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

from ...lazy_dataclass import dataclass
from .patterns import Pattern, Result, fresh_key
from .registry import RuleError


@dataclass(frozen=True, repr=False)
class Dominates(Pattern):
    """
    A value that `child` matches, all of whose inputs come from one value that `parent` matches.

    Upwards from the op that defines the value, every operand is that parent or is matched by `path`. In the second case
    the same holds of the operands of its op. Arguments, constants, weights and values of enclosing blocks are ignored,
    but an op without other operands has no way to the parent. No value on the way, nor the parent, is used elsewhere.
    The nearest such parent is taken. A name inside `path` stands for many values, which `Match.all` returns.
    """

    levels: ClassVar[int] = 1
    far_reaching: ClassVar[bool] = True

    parent: Pattern
    path: Pattern
    child: Pattern
    key: str = field(default_factory=fresh_key)

    def parts(self) -> tuple[Pattern, ...]:
        return (self.parent, self.path, self.child)

    def certain_parts(self) -> tuple[Pattern, ...]:
        return (self.parent, self.child)


def dominates(parent: Pattern, path: Pattern, child: Pattern) -> Dominates:
    """Returns the pattern of `child` computed from `parent` alone, over ops that `path` matches."""
    return Dominates(parent, path, child)


@dataclass(frozen=True, repr=False)
class Function(Pattern):
    """
    A function with one block that returns what `body` matches. That is one value or several.

    As a root it matches a `func.func`. `parameters` holds a pattern per parameter, or is `None` for any number.
    `attributes` are those of `Op`. A name that stands only in `body` is any value inside the function, however it is
    computed.
    """

    levels: ClassVar[int] = 1
    far_reaching: ClassVar[bool] = True

    parameters: tuple[Pattern, ...] | None
    body: Pattern | tuple[Pattern, ...]
    attributes: tuple[tuple[str, Any], ...] = ()
    key: str = field(default_factory=fresh_key)

    def parts(self) -> tuple[Pattern, ...]:
        return (*(self.parameters or ()), *self.returned)

    @property
    def returned(self) -> tuple[Pattern, ...]:
        """Returns the pattern of each value that the function returns."""
        return self.body if isinstance(self.body, tuple) else (self.body,)


@dataclass(frozen=True, repr=False)
class Call(Pattern):
    """
    The result of a call (`func.call`, `graph.call_kernel`) of `callee`: a name, a `Function`, or `None` for any.

    `operands` are those of `Op`.
    """

    levels: ClassVar[int] = 1
    far_reaching: ClassVar[bool] = True

    callee: str | Function | None
    operands: tuple[Pattern, ...] | None = None
    key: str = field(default_factory=fresh_key)

    def parts(self) -> tuple[Pattern, ...]:
        below = (self.callee,) if isinstance(self.callee, Function) else ()
        return (*below, *(self.operands or ()))

    def result(self, index: int) -> Result:
        """Returns the pattern of result `index` of a call that has several."""
        return Result(self, index)


def call(callee: str | Function | None, *operands: Pattern) -> Call:
    """Returns a call with these operands. Without operands it is a call of any arity."""
    return Call(callee, operands or None)


CALLS = ("func.call", "graph.call_kernel")


@dataclass(frozen=True, repr=False)
class If(Pattern):
    """
    The result of an `scf.if`, by its condition and by the values that its two branches yield for it.

    Tuples of patterns for `then` and `otherwise`, one per result, stand for an `scf.if` of as many results. `result`
    picks one.
    """

    levels: ClassVar[int] = 1
    far_reaching: ClassVar[bool] = True

    condition: Pattern
    then: Pattern | tuple[Pattern, ...]
    otherwise: Pattern | tuple[Pattern, ...]
    key: str = field(default_factory=fresh_key)

    def __post_init__(self) -> None:
        super().__post_init__()
        then, otherwise = self.branches
        if len(then) != len(otherwise):
            raise RuleError(f"the branches of an if yield {len(then)} and {len(otherwise)} values")

    @property
    def branches(self) -> tuple[tuple[Pattern, ...], tuple[Pattern, ...]]:
        """Returns the patterns of the values that both branches yield."""
        then = self.then if isinstance(self.then, tuple) else (self.then,)
        return then, self.otherwise if isinstance(self.otherwise, tuple) else (self.otherwise,)

    @property
    def has_all_results(self) -> bool:
        """Returns whether there is a pattern for each result, not only for the one that is used."""
        return isinstance(self.then, tuple)

    def parts(self) -> tuple[Pattern, ...]:
        then, otherwise = self.branches
        return (self.condition, *then, *otherwise)

    def result(self, index: int) -> Result:
        """Returns the pattern of result `index` of an `scf.if` that has several."""
        return Result(self, index)


__all__ = ["CALLS", "Call", "Dominates", "Function", "If", "call", "dominates"]
