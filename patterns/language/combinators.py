"""Patterns of several things at once: re-associated forms, whole expressions, several ops that share values."""

from __future__ import annotations

from dataclasses import field, fields, replace
from typing import Any, ClassVar, Final

from xdsl.ir import OpResult, SSAValue

from ...lazy_dataclass import dataclass
from .constants import is_constant_op
from .patterns import Op, Or, Pattern, form, fresh_key
from .registry import RuleError

QUOTIENTS: Final = {"graph.divide": "graph.multiply", "arith.divf": "arith.mulf"}
"""Maps a division to the multiplication that it may be exchanged with, apart from rounding."""


# Re-associated forms


@dataclass(frozen=True, repr=False)
class Associative(Or):
    """
    A product or quotient and the other forms of the same real function, as alternatives. The written form comes first.

    The forms do not give the same bits, so a rule of class `exact` may not use it.
    """


@form
def associative(pattern: Pattern, key: str | None = None) -> Associative:
    """
    Returns a product or quotient in all its re-associated forms.

    `(a * b) / c` is also `a * (b / c)` and `b * (a / c)`, and `a * (b / c)` is also `(a * b) / c`. Raises `RuleError`
    for a pattern of another form.
    """
    forms = [*_product_forms(pattern), *_quotient_forms(pattern)] if isinstance(pattern, Op) else []
    if not forms:
        raise RuleError("only a quotient of a product, or a product with a quotient, has re-associated forms")
    return Associative((pattern, *forms), fresh_key() if key is None else key)


def _named(pattern: Pattern, name: str | None) -> Op | None:
    """Returns `pattern` when it is an op of a single name with two operands."""
    if isinstance(pattern, Op) and pattern.names == (name,) and len(pattern.operands or ()) == 2:
        return pattern
    return None


def _again(pattern: Op, *operands: Pattern) -> Op:
    return replace(pattern, operands=operands, key=fresh_key())


def _product_forms(quotient: Op) -> list[Op]:
    """Returns the forms `a * (b / c)` and `b * (a / c)` of `(a * b) / c`."""
    multiply = QUOTIENTS.get(quotient.names[0]) if len(quotient.names) == 1 else None
    if multiply is None or len(quotient.operands or ()) != 2:
        return []
    assert quotient.operands is not None
    product = _named(quotient.operands[0], multiply)
    if product is None:
        return []
    assert product.operands is not None
    (a, b), c = product.operands, quotient.operands[1]
    return [_again(product, a, _again(quotient, b, c)), _again(product, b, _again(quotient, a, c))]


def _quotient_forms(product: Op) -> list[Op]:
    """Returns the form `(a * b) / c` of `a * (b / c)`, in both orders."""
    divisions = [name for name, multiply in QUOTIENTS.items() if product.names == (multiply,)]
    operands = product.operands or ()
    forms: list[Op] = []
    for divide in divisions if len(operands) == 2 else ():
        for number in (1, 0):
            quotient = _named(operands[number], divide)
            if quotient is not None:
                assert quotient.operands is not None
                b, c = quotient.operands
                forms.append(_again(quotient, _again(product, operands[1 - number], b), c))
    return forms


# Several ops


@form
@dataclass(frozen=True, repr=False)
class Together(Pattern):
    """
    The value that the first of `patterns` matches, where each of the others matches an op of its own.

    The others are found from the values that they share with patterns before them. The first user of such a value, in
    program order, that leads to a match is taken. So `Together((q, k))` with `q = matmul(x, a)`, `k = matmul(x, b)` is
    two products of one tensor.
    """

    far_reaching: ClassVar[bool] = True

    patterns: tuple[Pattern, ...]
    key: str = field(default_factory=fresh_key)

    def parts(self) -> tuple[Pattern, ...]:
        return self.patterns


def together(*patterns: Pattern) -> Together:
    """Returns the first pattern, where all the others match other ops that share values with it."""
    return Together(patterns)


# Whole expressions


@dataclass(frozen=True, repr=False)
class Expression(Pattern):
    """
    A value computed as `value` is: the same ops with the same operands, properties, result types and regions.

    The walk ends at `holes`, values for which patterns stand, and at arguments, which must be the same values. Operands
    stand in the written order, and an op that is used twice is one op. Properties that are absent have their default.
    Discardable attributes count only where `value` has them. Constants compare by bits.
    """

    far_reaching: ClassVar[bool] = True

    value: SSAValue
    holes: tuple[tuple[SSAValue, Pattern], ...] = ()
    key: str = field(default_factory=fresh_key)

    def parts(self) -> tuple[Pattern, ...]:
        return tuple(pattern for _, pattern in self.holes)


def is_expr(value: SSAValue, holes: dict[SSAValue, Pattern] | None = None) -> Pattern:
    """Returns the expression that computes `value`, where patterns stand for the values in `holes`."""
    return Expression(value, tuple((holes or {}).items()))


def expression_names(pattern: Expression) -> frozenset[str] | None:
    """Returns the name of the op that ends the expression, or `None` where any op or any constant op may end it."""
    value = pattern.value
    if not isinstance(value, OpResult) or any(value is hole for hole, _ in pattern.holes):
        return None
    return None if is_constant_op(value.op) else frozenset({value.op.name})


# Copies


@form
def dup(pattern: Pattern) -> Pattern:
    """Returns the same pattern with other names, so that it may match other values. Shared parts stay shared."""
    return _Copier().copy(pattern)


class _Copier:
    def __init__(self) -> None:
        self._keys: dict[str, str] = {}
        self._made: dict[int, tuple[Any, Any]] = {}

    def copy(self, item: Any) -> Any:
        """Returns `item` with fresh keys, one for each old one. The recursion goes over patterns only."""
        if isinstance(item, tuple):
            return tuple(self.copy(each) for each in item)
        if not isinstance(item, Pattern):
            return item
        if id(item) not in self._made:
            changed = {each.name: self.copy(getattr(item, each.name)) for each in fields(item)}
            changed["key"] = self._keys.setdefault(item.key, fresh_key())
            self._made[id(item)] = (item, replace(item, **changed))
        return self._made[id(item)][1]


__all__ = [
    "Associative",
    "Expression",
    "Together",
    "associative",
    "dup",
    "expression_names",
    "is_expr",
    "together",
]
