"""
Scalar expressions, which say what one element of a tensor is. Nodes are immutable and compared by identity, so sharing
is kept.

Every node has a `dtype`. Operators on `Expr` build nodes. A Python number takes the element type of the other side.
Operators never promote: both sides must have one element type.
"""

from __future__ import annotations

from functools import cached_property

from ..lazy_dataclass import dataclass
from . import dtypes
from .functions import BINARY, COMPARISONS, UNARY, UNARY_TEST, Domain

Number = bool | int | float


class TEError(ValueError):
    """Raised for a tensor expression that has no meaning. The message says what was found and what was expected."""


@dataclass(frozen=True, eq=False)
class Expr:
    """A scalar of type `dtype`."""

    def __post_init__(self) -> None:
        self.check()

    @cached_property
    def dtype(self) -> str:
        """The element type. Nodes that take it from an operand keep it, so that deep expressions need no recursion."""
        raise NotImplementedError

    @property
    def operands(self) -> tuple[Expr, ...]:
        """Returns the expressions that this one is computed from, in order."""
        return ()

    def check(self) -> None:
        """Raises TEError when the operands do not fit the node."""

    def __add__(self, other: Expr | Number) -> Expr:
        return binary("add", self, other)

    def __radd__(self, other: Number) -> Expr:
        return binary("add", other, self)

    def __sub__(self, other: Expr | Number) -> Expr:
        return binary("sub", self, other)

    def __rsub__(self, other: Number) -> Expr:
        return binary("sub", other, self)

    def __mul__(self, other: Expr | Number) -> Expr:
        return binary("mul", self, other)

    def __rmul__(self, other: Number) -> Expr:
        return binary("mul", other, self)

    def __truediv__(self, other: Expr | Number) -> Expr:
        return binary("div", self, other)

    def __rtruediv__(self, other: Number) -> Expr:
        return binary("div", other, self)

    def __floordiv__(self, other: Expr | Number) -> Expr:
        return binary("floordiv", self, other)

    def __mod__(self, other: Expr | Number) -> Expr:
        return binary("floormod", self, other)

    def __neg__(self) -> Expr:
        return Unary("neg", self)

    def __lt__(self, other: Expr | Number) -> Expr:
        return compare("lt", self, other)

    def __le__(self, other: Expr | Number) -> Expr:
        return compare("le", self, other)

    def __gt__(self, other: Expr | Number) -> Expr:
        return compare("gt", self, other)

    def __ge__(self, other: Expr | Number) -> Expr:
        return compare("ge", self, other)

    def __bool__(self) -> bool:
        raise TEError("a tensor expression has no truth value; use te.if_then_else, te.all or te.any")


@dataclass(frozen=True, eq=False)
class Const(Expr):
    """A literal. Integers are within the range of `type`. Floats are rounded to it when lowered."""

    value: Number
    type: str

    @cached_property
    def dtype(self) -> str:
        return self.type


@dataclass(frozen=True, eq=False)
class Var(Expr):
    """A free scalar, such as a symbolic size or a parameter of a reducer."""

    name: str
    type: str = "index"

    @cached_property
    def dtype(self) -> str:
        return self.type


@dataclass(frozen=True, eq=False)
class Axis(Expr):
    """An iteration variable: the integers `lower <= axis < lower + extent`."""

    name: str
    extent: int | Expr
    kind: str = "spatial"
    """`spatial` or `reduce`."""
    lower: int = 0

    @cached_property
    def dtype(self) -> str:
        return "index"


@dataclass(frozen=True, eq=False)
class Unary(Expr):
    """
    `function(operand)`.

    * On numbers: `neg abs`. Integers wrap.
    * On i1 and integers: `not`, bitwise.
    * On floats: the functions of `te.functions`. `round` is half to even.
    * From float to i1: `isnan isinf isfinite`.
    """

    function: str
    operand: Expr

    @cached_property
    def dtype(self) -> str:
        return "i1" if self.function in UNARY_TEST else self.operand.dtype

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.operand,)

    def check(self) -> None:
        _check_defined("unary", self.function, UNARY.get(self.function), self.operand.dtype)


@dataclass(frozen=True, eq=False)
class Binary(Expr):
    """
    `function(lhs, rhs)`, where both sides have one element type.

    * `add sub mul` wrap on integers.
    * `max min` of floats propagate NaN and order -0 < +0.
    * `div fmod pow atan2 copysign` are for floats. `fmod` truncates and is exact.
    * `truncdiv truncmod floordiv floormod shl shr` are for integers. The divisor must not be zero, the quotient must
      not overflow, and the shift count must be below the bit width. The library guards all three. `shr` is arithmetic
      on signed types.
    * `and or xor` are for i1 and integers.
    """

    function: str
    lhs: Expr
    rhs: Expr

    @cached_property
    def dtype(self) -> str:
        return self.lhs.dtype

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.lhs, self.rhs)

    def check(self) -> None:
        left, right = self.lhs.dtype, self.rhs.dtype
        if left != right:
            raise TEError(f"'{self.function}' takes one element type, found {left} and {right}")
        _check_defined("binary", self.function, BINARY.get(self.function), left)


@dataclass(frozen=True, eq=False)
class Compare(Expr):
    """A comparison, of type i1. Every one but `ne` is false when an operand is NaN."""

    function: str
    lhs: Expr
    rhs: Expr

    @cached_property
    def dtype(self) -> str:
        return "i1"

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.lhs, self.rhs)

    def check(self) -> None:
        if self.function not in COMPARISONS:
            raise TEError(f"unknown comparison '{self.function}', expected one of {', '.join(COMPARISONS)}")
        if self.lhs.dtype != self.rhs.dtype:
            raise TEError(f"'{self.function}' compares one element type, found {self.lhs.dtype} and {self.rhs.dtype}")


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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

    @cached_property
    def dtype(self) -> str:
        return self.type

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.operand,)

    def check(self) -> None:
        if (reason := dtypes.unknown_type(self.type)) is not None:
            raise TEError(reason)


@dataclass(frozen=True, eq=False)
class BitCast(Expr):
    """The bits of `operand` read as `type`, which has the same width. Neither type is i1 or index."""

    type: str
    operand: Expr

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


@dataclass(frozen=True, eq=False)
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


def _check_defined(what: str, function: str, domain: Domain | None, dtype: str) -> None:
    if domain is None:
        raise TEError(f"unknown {what} function '{function}'")
    if not domain(dtype):
        raise TEError(f"'{function}' is not defined on {dtype}")


def as_expr(value: Expr | Number, dtype: str) -> Expr:
    """Returns `value` as an expression. A Python number becomes a constant of type `dtype`."""
    if isinstance(value, Expr):
        return value
    return const(value, dtype)


def const(value: Number, dtype: str) -> Const:
    """Returns the literal `value` of type `dtype`. Raises TEError when an integer type cannot hold it."""
    if dtypes.is_float(dtype):
        return Const(float(value), dtype)
    if dtype == "i1":
        return Const(bool(value), dtype)
    low, high = dtypes.integer_range(dtype)
    if not isinstance(value, int) or not low <= value <= high:
        raise TEError(f"{value!r} is not a value of {dtype}, which holds the integers {low} to {high}")
    return Const(int(value), dtype)


def _same_type(lhs: Expr | Number, rhs: Expr | Number) -> tuple[Expr, Expr]:
    if isinstance(lhs, Expr):
        return lhs, as_expr(rhs, lhs.dtype)
    if isinstance(rhs, Expr):
        return as_expr(lhs, rhs.dtype), rhs
    raise TEError("at least one side must be a tensor expression")


def binary(function: str, lhs: Expr | Number, rhs: Expr | Number) -> Expr:
    """
    Builds a `Binary`. Constant integer arithmetic is folded, and so are additions of 0 and products by 1 on indices.
    """
    left, right = _same_type(lhs, rhs)
    if left.dtype == "index" and (folded := _fold_index(function, left, right)) is not None:
        return folded
    return Binary(function, left, right)


def _fold_index(function: str, lhs: Expr, rhs: Expr) -> Expr | None:
    left = lhs.value if isinstance(lhs, Const) else None
    right = rhs.value if isinstance(rhs, Const) else None
    if left is not None and right is not None:
        a, b = int(left), int(right)
        match function:
            case "add":
                return Const(a + b, "index")
            case "sub":
                return Const(a - b, "index")
            case "mul":
                return Const(a * b, "index")
            case "floordiv" if b != 0:
                return Const(a // b, "index")
            case "floormod" if b != 0:
                return Const(a % b, "index")
            case _:
                return None
    if right == 0 and function in ("add", "sub"):
        return lhs
    if left == 0 and function == "add":
        return rhs
    if right == 1 and function in ("mul", "floordiv"):
        return lhs
    if left == 1 and function == "mul":
        return rhs
    if 0 in (left, right) and function == "mul":
        return Const(0, "index")
    return None


def compare(function: str, lhs: Expr | Number, rhs: Expr | Number) -> Expr:
    """Builds a `Compare`. `==` and `!=` keep their Python meaning (identity), so write te.equal and te.not_equal."""
    return Compare(function, *_same_type(lhs, rhs))
