"""Expressions that choose, convert, check and fuse. Those of arithmetic are in `expr.py`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ..lazy_dataclass import dataclass
from . import dtypes
from .expr import Expr, TEError


@dataclass(frozen=True, eq=False, repr=False)
class Select(Expr):
    """
    `if_true` where `condition` holds, else `if_false`. With `lazy` only the chosen side is evaluated, so the other one
    may load out of bounds. Without it both sides are evaluated.
    """

    condition: Expr
    if_true: Expr
    if_false: Expr
    lazy: bool = False

    @cached_property
    def dtype(self) -> str:
        return self.if_true.dtype

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.condition, self.if_true, self.if_false)

    def check(self) -> None:
        if self.condition.dtype != "i1":
            raise TEError(f"the condition of a selection has type {self.condition.dtype}, expected i1")
        if self.if_true.dtype != self.if_false.dtype:
            raise TEError(f"a selection takes one element type, found {self.if_true.dtype} and {self.if_false.dtype}")


@dataclass(frozen=True, eq=False, repr=False)
class FusedMultiplyAdd(Expr):
    """`a * b + c` with a single rounding (floats only)."""

    a: Expr
    b: Expr
    c: Expr

    @cached_property
    def dtype(self) -> str:
        return self.a.dtype

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.a, self.b, self.c)

    def check(self) -> None:
        found = {operand.dtype for operand in self.operands}
        if len(found) != 1 or not dtypes.is_float(self.a.dtype):
            raise TEError(f"'fma' takes one float element type, found {', '.join(sorted(found))}")


@dataclass(frozen=True, eq=False, repr=False)
class Cast(Expr):
    """
    `operand` converted to `type`. Integers wrap. A float becomes an integer by truncation towards zero and saturation,
    and NaN gives 0. Conversion to i1 is `!= 0`. Conversion to float rounds to nearest even.
    """

    type: str
    operand: Expr
    implied: bool = False
    """
    True where an op rounds its own result, which was computed in a wider type, or extends its operand to that type. The
    op may then take the number that was not rounded yet, as far as the numerics of the program allow. False where the
    program asks for the type.
    """

    def _spelled(self, parts: Sequence[str]) -> str:
        return f"cast({parts[0]}, {self.type})"

    @cached_property
    def dtype(self) -> str:
        return self.type

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.operand,)

    def check(self) -> None:
        if (reason := dtypes.unknown_type(self.type)) is not None:
            raise TEError(reason)


@dataclass(frozen=True, eq=False, repr=False)
class BitCast(Expr):
    """The bits of `operand` read as `type`, which has the same width. Neither type is i1 or index."""

    type: str
    operand: Expr

    def _spelled(self, parts: Sequence[str]) -> str:
        return f"bitcast({parts[0]}, {self.type})"

    @cached_property
    def dtype(self) -> str:
        return self.type

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.operand,)

    def check(self) -> None:
        found = self.operand.dtype
        for dtype in (found, self.type):
            if dtype not in dtypes.NUMERIC:
                raise TEError(f"'bitcast' is not defined on {dtype}")
        if dtypes.bit_width(found) != dtypes.bit_width(self.type):
            raise TEError(f"the bits of {found} are not as many as those of {self.type}")


@dataclass(frozen=True, eq=False, repr=False)
class Check(Expr):
    """`value`, once `condition` is known to hold. Where it does not, the program fails with `message`."""

    condition: Expr
    value: Expr
    message: str
    """`<op name>: <reason>`, for instance `graph.take: index out of range`."""

    @cached_property
    def dtype(self) -> str:
        return self.value.dtype

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.condition, self.value)

    def check(self) -> None:
        if self.condition.dtype != "i1":
            raise TEError(f"the condition of a check has type {self.condition.dtype}, expected i1")
