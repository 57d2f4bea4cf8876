"""
Scalar expressions, which say what one element of a tensor is. Nodes are immutable and compared by identity, so sharing
is kept.

Every node has a `dtype`. Operators on `Expr` build nodes. A Python number takes the element type of the other side.
Operators never promote: both sides must have one element type.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from numbers import Real

from ..lazy_dataclass import dataclass
from . import dtypes
from .functions import BINARY, COMPARISONS, UNARY, UNARY_TEST, Domain
from .words import SHOWN_LEVELS, SYMBOLS, Whole, shortened, whole_refused
from .words import TEError as TEError

Number = bool | int | float


@dataclass(frozen=True, eq=False, repr=False)
class Expr:
    """A scalar of type `dtype`."""

    __array_ufunc__ = None
    """Makes numbers of NumPy leave `number * expression` to this class."""

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

    def __repr__(self) -> str:
        return f"<te.{type(self).__name__} {self.dtype}: {self._text(SHOWN_LEVELS)}>"

    def _text(self, levels: int) -> str:
        """Returns the expression as it is written, down to so many levels."""
        return self._spelled([each._text(levels - 1) for each in self.operands]) if levels else "…"

    def _spelled(self, parts: Sequence[str]) -> str:
        """Returns the text of the node, given those of its operands."""
        return f"{getattr(self, 'function', type(self).__name__.lower())}({', '.join(parts)})"

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

    def __pow__(self, other: Expr | Number) -> Expr:
        return binary("pow", self, other)

    def __rpow__(self, other: Number) -> Expr:
        return binary("pow", other, self)

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

    def __eq__(self, other: object) -> bool:
        return self._is_same(other, "==", "equal")

    def __ne__(self, other: object) -> bool:
        return not self._is_same(other, "!=", "not_equal")

    __hash__ = object.__hash__

    def _is_same(self, other: object, symbol: str, function: str) -> bool:
        """Returns whether two nodes are one. A number is never a node, so that to ask about one is a mistake."""
        if isinstance(other, Real) and not _is_size(self):
            raise TEError(f"{symbol} asks whether two expressions are one node; te.{function}(x, y) compares values")
        return self is other

    def __bool__(self) -> bool:
        raise TEError("a tensor expression has no truth value; use te.if_then_else, te.all or te.any")


def _is_size(expr: Expr) -> bool:
    """Returns whether an expression is a symbolic size, without an axis or a load. Shapes have these beside numbers."""
    seen: set[Expr] = set()
    stack = [expr]
    while stack:
        node = stack.pop()
        if node.dtype != "index" or not (isinstance(node, Const | Var) or node.operands):
            return False
        stack += [each for each in node.operands if each not in seen]
        seen.update(node.operands)
    return True


@dataclass(frozen=True, eq=False, repr=False)
class Const(Expr):
    """A literal. Integers are within the range of `type`. Floats are rounded to it when lowered."""

    value: Number
    type: str

    def _text(self, levels: int) -> str:
        return str(self.value)

    @cached_property
    def dtype(self) -> str:
        return self.type


@dataclass(frozen=True, eq=False, repr=False)
class Var(Expr):
    """A free scalar, such as a symbolic size or a parameter of a reducer."""

    name: str
    type: str = "index"

    def _text(self, levels: int) -> str:
        return self.name

    @cached_property
    def dtype(self) -> str:
        return self.type


@dataclass(frozen=True, eq=False, repr=False)
class Axis(Expr):
    """An iteration variable: the integers `lower <= axis < lower + extent`."""

    name: str
    extent: int | Expr
    kind: str = "spatial"
    """`spatial` or `reduce`."""
    lower: int = 0

    def _text(self, levels: int) -> str:
        return self.name

    @cached_property
    def dtype(self) -> str:
        return "index"


@dataclass(frozen=True, eq=False, repr=False)
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
        as_expr(self.operand, "f32")
        if not isinstance(self.operand, Expr):
            raise TEError(f"'{self.function}' takes an expression, found the number {self.operand!r}")
        _check_defined("unary", self.function, UNARY.get(self.function), self.operand.dtype)


@dataclass(frozen=True, eq=False, repr=False)
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

    def _spelled(self, parts: Sequence[str]) -> str:
        symbol = SYMBOLS.get(self.function)
        return super()._spelled(parts) if symbol is None else f"({parts[0]} {symbol} {parts[1]})"

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


@dataclass(frozen=True, eq=False, repr=False)
class Compare(Expr):
    """A comparison, of type i1. Every one but `ne` is false when an operand is NaN."""

    function: str
    lhs: Expr
    rhs: Expr

    def _spelled(self, parts: Sequence[str]) -> str:
        symbol = SYMBOLS.get(self.function)
        return super()._spelled(parts) if symbol is None else f"({parts[0]} {symbol} {parts[1]})"

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


def _check_defined(what: str, function: str, domain: Domain | None, dtype: str) -> None:
    if domain is None:
        raise TEError(f"unknown {what} function '{function}'")
    if not domain(dtype):
        raise TEError(f"'{function}' is not defined on {dtype}")


def as_expr(value: Expr | Number, dtype: str) -> Expr:
    """
    Returns `value` as an expression. A number becomes a constant of type `dtype`.

    Raises TEError for what is neither.
    """
    if isinstance(value, Expr):
        return value
    if isinstance(value, Whole):
        raise TEError(whole_refused(value.name))
    if not isinstance(value, Real):
        raise TEError(f"found {shortened(value)}, expected an expression or a number")
    return const(value, dtype)


def const(value: Number, dtype: str) -> Const:
    """
    Returns the literal `value` of type `dtype`.

    Raises TEError when the type cannot hold it, and for an element type that there is not.
    """
    if (reason := dtypes.unknown_type(dtype)) is not None:
        raise TEError(reason)
    if dtypes.is_float(dtype):
        return Const(_float(value, dtype), dtype)
    if dtype == "i1":
        if value not in (0, 1):
            raise TEError(f"{value!r} is not a value of i1, which holds False and True")
        return Const(bool(value), dtype)
    low, high = dtypes.integer_range(dtype)
    if not hasattr(value, "__index__") or not low <= value <= high:
        raise TEError(f"{value!r} is not a value of {dtype}, which holds the integers {low} to {high}")
    return Const(int(value), dtype)


def _float(value: Number, dtype: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise TEError(f"{shortened(value)} is not a value of {dtype}, expected a number that f64 can hold") from None


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
