"""
Affine expressions of SSA values: recovered from arithmetic, put in a normal form, bounded, parsed and printed.

An expression is xDSL's `AffineExpr` over dimensions `d0, d1, ...`. The values that the dimensions stand for are a list
kept beside it. The normal form is a sum of atoms with integer coefficients. An atom is a dimension or a
`mod`/`floordiv`/`ceildiv` of a normal form by a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from io import StringIO

from xdsl.dialects import affine, arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.parser.affine_parser import AffineParser
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

Terms = dict[AffineExpr, int]
"""Maps each atom to its coefficient, none of which is 0."""

Interval = tuple[int, int]
"""The integers `low <= x <= high`. The set is empty when `high < low`."""


MAX_NODES = 200
"""The largest expression that is recovered from arithmetic. Nothing that indexes a buffer by hand is near it."""


# Normal form


def linear_terms(expr: AffineExpr) -> tuple[Terms, int]:
    """Returns `expr` as `sum(coefficient * atom) + constant`."""
    if expr.__class__ is AffineDimExpr:
        return {expr: 1}, 0
    terms: Terms = {}
    constant = _collect(expr, 1, terms)
    return {atom: factor for atom, factor in terms.items() if factor != 0}, constant


def _collect(expr: AffineExpr, factor: int, terms: Terms) -> int:
    """Adds `factor * expr` to `terms`. Returns the constant part."""
    # `match` and `isinstance` run Python code for these classes, which have abstract bases. This function is called
    # most of all.
    if type(expr) is AffineConstantExpr:
        return factor * expr.value
    if type(expr) is AffineBinaryOpExpr:
        if expr.kind is AffineBinaryOpKind.Add:
            return _collect(expr.lhs, factor, terms) + _collect(expr.rhs, factor, terms)
        if expr.kind is AffineBinaryOpKind.Mul:
            lhs, rhs = expr.lhs, expr.rhs
            if type(rhs) is AffineConstantExpr:
                return _collect(lhs, factor * rhs.value, terms)
            if type(lhs) is AffineConstantExpr:
                return _collect(rhs, factor * lhs.value, terms)
        else:
            expr = AffineBinaryOpExpr(expr.kind, normal_form(expr.lhs), normal_form(expr.rhs))
    terms[expr] = terms.get(expr, 0) + factor
    return 0


def _atom_order(item: tuple[AffineExpr, int]) -> tuple[int, int, str]:
    atom = item[0]
    return (0, atom.position, "") if isinstance(atom, AffineDimExpr) else (1, 0, str(atom))


def from_terms(terms: Mapping[AffineExpr, int], constant: int) -> AffineExpr:
    """Returns the sum of `terms` and `constant`: dimensions by position, then the other atoms, then the constant."""
    total: AffineExpr | None = None
    for atom, factor in sorted(terms.items(), key=_atom_order):
        term = atom if factor == 1 else AffineBinaryOpExpr(AffineBinaryOpKind.Mul, atom, AffineConstantExpr(factor))
        total = term if total is None else AffineBinaryOpExpr(AffineBinaryOpKind.Add, total, term)
    if total is None:
        return AffineConstantExpr(constant)
    return total if constant == 0 else total + constant


def normal_form(expr: AffineExpr) -> AffineExpr:
    """
    Returns a form that is equal for expressions that differ only in the order or grouping of sums and constant factors.
    """
    if type(expr) is AffineDimExpr or type(expr) is AffineConstantExpr:
        return expr
    return from_terms(*linear_terms(expr))


def constant_difference(lhs: AffineExpr, rhs: AffineExpr) -> int | None:
    """Returns `lhs - rhs` where it is the same for all values of the dimensions, else `None`."""
    if lhs is rhs:
        return 0
    terms, constant = linear_terms(lhs)
    other_terms, other_constant = linear_terms(rhs)
    return constant - other_constant if terms == other_terms else None


def is_linear(expr: AffineExpr) -> bool:
    """Returns whether every atom of `expr` is a dimension or symbol: no `mod`, no division."""
    if type(expr) is AffineDimExpr or type(expr) is AffineConstantExpr:
        return True
    return all(isinstance(atom, AffineDimExpr | AffineSymExpr) for atom in linear_terms(expr)[0])


def bounds(expr: AffineExpr, dims: Sequence[Interval | None]) -> Interval | None:
    """
    Returns an interval that holds `expr` while every dimension stays in its own. It is `None` when a dimension it needs
    is unknown.

    The interval is the exact range for linear expressions, and an over-approximation when there is `mod` or division.
    """
    terms, constant = linear_terms(expr)
    low = high = constant
    for atom, factor in terms.items():
        found = _atom_bounds(atom, dims)
        if found is None:
            return None
        ends = (factor * found[0], factor * found[1])
        low, high = low + min(ends), high + max(ends)
    return low, high


def _atom_bounds(atom: AffineExpr, dims: Sequence[Interval | None]) -> Interval | None:
    if isinstance(atom, AffineDimExpr):
        return dims[atom.position]
    if not isinstance(atom, AffineBinaryOpExpr) or not isinstance(atom.rhs, AffineConstantExpr):
        return None
    inner, divisor = bounds(atom.lhs, dims), atom.rhs.value
    if divisor <= 0:
        return None
    match atom.kind:
        case AffineBinaryOpKind.Mod:
            fits = inner is not None and inner[0] >= 0 and inner[1] < divisor
            return inner if fits else (0, divisor - 1)
        case AffineBinaryOpKind.FloorDiv:
            return None if inner is None else (inner[0] // divisor, inner[1] // divisor)
        case AffineBinaryOpKind.CeilDiv:
            return None if inner is None else (-(-inner[0] // divisor), -(-inner[1] // divisor))
        case _:
            return None


# Recovery from arithmetic


_MISSING = object()

Known = dict[int, AffineExpr | None]
"""What is known of values, by `id`, as the hash of a value is a call of Python code."""


def affine_of_value(value: SSAValue, dims: Mapping[SSAValue, int], known: Known | None = None) -> AffineExpr | None:
    """
    Returns `value` as a normal form over `dims` (value -> position), or `None` where it is not affine in them.

    Sees through `arith.constant addi subi muli floordivsi index_cast` on `index` and `i64`, and `affine.apply`.
    `known` keeps results between calls over one body.
    """
    known = {} if known is None else known
    if (found := known.get(id(value), _MISSING)) is not _MISSING:
        return found  # pyright: ignore[reportReturnType]
    pending = [value]
    entered: set[SSAValue] = set()
    while pending:  # A chain of integer arithmetic may be longer than Python's stack.
        current = pending[-1]
        if id(current) not in known:
            missing = _resolve(current, dims, known)
            if missing and current not in entered:
                entered.add(current)
                pending.extend(missing)
                continue
            if missing:
                known[id(current)] = None  # It is defined by itself, which the verifier of dominance will report.
        pending.pop()
    return known[id(value)]


def owner_of(value: SSAValue) -> Operation | Block | None:
    """Returns the op or block that defines `value`. It is `None` while a parser has only seen it used."""
    if value.__class__ is OpResult:
        return value.op  # pyright: ignore[reportAttributeAccessIssue]  # This is asked most of all.
    return None if isinstance(value, ForwardDeclaredValue) else value.owner


def _resolve(value: SSAValue, dims: Mapping[SSAValue, int], known: Known) -> list[SSAValue]:
    """Puts `value` into `known` and returns nothing, or returns the values that must be known first."""
    if (position := dims.get(value)) is not None:
        known[id(value)] = AffineDimExpr(position)
        return []
    op = owner_of(value)
    if op.__class__ not in _INDEX_ARITHMETIC or not isinstance(op, Operation) or not _is_wide(op):
        known[id(value)] = None
    else:
        operands = op._operands  # pyright: ignore[reportPrivateUsage]
        found = [known.get(id(operand), _MISSING) for operand in operands]
        if _MISSING in found:
            return [operand for operand, each in zip(operands, found, strict=True) if each is _MISSING]
        known[id(value)] = _affine_of_op(op, found)  # pyright: ignore[reportArgumentType]
    return []


_INDEX_ARITHMETIC = frozenset[type](
    {
        arith.ConstantOp,
        arith.AddiOp,
        arith.SubiOp,
        arith.MuliOp,
        arith.FloorDivSIOp,
        arith.IndexCastOp,
        affine.ApplyOp,
    }
)


def _wide(value: SSAValue) -> bool:
    """Returns whether arithmetic on the type of `value` cannot wrap for sizes of buffers."""
    kind = value._type  # pyright: ignore[reportPrivateUsage]
    return type(kind) is IndexType or (isinstance(kind, IntegerType) and kind.width.data >= 64)


def _is_wide(op: Operation) -> bool:
    return all(map(_wide, op._operands)) and all(map(_wide, op.results))  # pyright: ignore[reportPrivateUsage]


def _affine_of_op(op: Operation, operands: Sequence[AffineExpr | None]) -> AffineExpr | None:
    # Ops of `_INDEX_ARITHMETIC` have exactly these classes.
    if op.__class__ is arith.ConstantOp:
        value = op.properties["value"]
        return AffineConstantExpr(value.value.data) if isinstance(value, IntegerAttr) else None
    found = [operand for operand in operands if operand is not None]
    if len(found) < len(operands):
        return None
    expr = _combine(op, found)
    if expr is None:
        return None
    normal = normal_form(expr)
    if type(normal) is AffineDimExpr or type(normal) is AffineConstantExpr:
        return normal
    return normal if sum(1 for _ in normal.dfs()) <= MAX_NODES else None


def _combine(op: Operation, operands: list[AffineExpr]) -> AffineExpr | None:
    kind = op.__class__
    if kind is arith.IndexCastOp:
        return operands[0]
    if isinstance(op, affine.ApplyOp):
        mapping = op.map.data
        dims, symbols = operands[: mapping.num_dims], operands[mapping.num_dims :]
        return mapping.results[0].replace_dims_and_symbols(dims, symbols)
    if len(operands) != 2:
        return None
    lhs, rhs = operands
    if kind is arith.AddiOp:
        return lhs + rhs
    if kind is arith.SubiOp:
        return lhs + rhs * -1
    if kind is arith.MuliOp:
        if type(lhs) is AffineConstantExpr:
            lhs, rhs = rhs, lhs
        return lhs * rhs if type(rhs) is AffineConstantExpr else None
    if kind is arith.FloorDivSIOp and type(rhs) is AffineConstantExpr and rhs.value > 0:
        return lhs // rhs
    return None


# Syntax


def parse_affine(parser: Parser, dimension: Callable[[Span], AffineExpr]) -> AffineExpr:
    """Parses an affine expression whose `%names` are turned into expressions by `dimension`."""
    affine_parser = AffineParser(parser._parser_state)  # pyright: ignore[reportPrivateUsage]

    def parse_optional_name() -> AffineExpr | None:
        token = affine_parser._parse_optional_token(MLIRTokenKind.PERCENT_IDENT)  # pyright: ignore[reportPrivateUsage]
        return None if token is None else dimension(token.span)

    position = parser.pos
    try:
        expr = affine_parser._parse_affine_expr(parse_optional_name)  # pyright: ignore[reportPrivateUsage]
    except NotImplementedError:
        parser.raise_error("expression is not affine: one factor and every divisor must be an integer", position)
    except ZeroDivisionError:
        parser.raise_error("division by zero in an affine expression", position)
    if not _divisors_positive(expr):
        parser.raise_error("the divisor of mod, floordiv and ceildiv must be positive", position)
    return expr


def _divisors_positive(expr: AffineExpr) -> bool:
    dividing = (AffineBinaryOpKind.Mod, AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.CeilDiv)
    return all(
        isinstance(node.rhs, AffineConstantExpr) and node.rhs.value > 0
        for node in expr.dfs()
        if isinstance(node, AffineBinaryOpExpr) and node.kind in dividing
    )


def well_formed(expr: AffineExpr, num_dims: int) -> bool:
    """
    Returns whether `expr` uses only dimensions below `num_dims`, no symbols, constant factors and positive divisors.
    """
    return (
        expr.is_pure_affine()
        and _divisors_positive(expr)
        and not any(isinstance(node, AffineSymExpr) for node in expr.dfs())
        and all(dim < num_dims for dim in expr.used_dims())
    )


class OperandCollector:
    """Numbers the `index` values that affine expressions name, in order of first use."""

    def __init__(self, parser: Parser):
        self._parser = parser
        self._positions: dict[str, int] = {}
        self._spans: list[Span] = []
        self.operands: list[SSAValue] = []

    def first_of(self, names: Container[str]) -> Span | None:
        """Returns the place where one of `names` was read first."""
        return next((span for span in self._spans if span.text in names), None)

    def dimension(self, span: Span) -> AffineExpr:
        position = self._positions.get(span.text)
        if position is None:
            position = self._positions[span.text] = len(self.operands)
            self._spans.append(span)
            self.operands.append(self._parser.resolve_operand(UnresolvedOperand(span, 0), IndexType()))
        return AffineDimExpr(position)


class AxisNames:
    """Turns names of block axes into dimensions. Any other name is an error at its place."""

    def __init__(self, parser: Parser, names: Sequence[str]):
        self._parser = parser
        self._positions = {name: position for position, name in enumerate(names)}

    def dimension(self, span: Span) -> AffineExpr:
        position = self._positions.get(span.text)
        if position is None:
            raise ParseError(span, f"{span.text} is not an axis of this block; a region is affine in the axes")
        return AffineDimExpr(position)


_TOKENS = {
    AffineBinaryOpKind.Add: "+",
    AffineBinaryOpKind.Mul: "*",
    AffineBinaryOpKind.Mod: "mod",
    AffineBinaryOpKind.FloorDiv: "floordiv",
    AffineBinaryOpKind.CeilDiv: "ceildiv",
}


def print_affine(printer: Printer, expr: AffineExpr, dims: Sequence[SSAValue]) -> None:
    """Prints `expr` with the names of the values that its dimensions stand for."""
    match expr:
        case AffineConstantExpr():
            printer.print_string(str(expr.value))
        case AffineDimExpr():
            printer.print_ssa_value(dims[expr.position])
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
            print_affine(printer, expr.lhs, dims)
            sign, addend = _signed(expr.rhs)
            printer.print_string(f" {sign} ")
            nested = isinstance(addend, AffineBinaryOpExpr) and addend.kind is AffineBinaryOpKind.Add
            _print_operand(printer, addend, dims, parentheses=nested)
        case AffineBinaryOpExpr():
            for operand, between in ((expr.lhs, f" {_TOKENS[expr.kind]} "), (expr.rhs, "")):
                _print_operand(printer, operand, dims, isinstance(operand, AffineBinaryOpExpr))
                printer.print_string(between)
        case _:
            raise ValueError(f"expression {expr} has symbols")


def _print_operand(printer: Printer, expr: AffineExpr, dims: Sequence[SSAValue], parentheses: bool) -> None:
    if not parentheses:
        print_affine(printer, expr, dims)
        return
    with printer.in_parens():
        print_affine(printer, expr, dims)


def _signed(addend: AffineExpr) -> tuple[str, AffineExpr]:
    """Returns the sign to print before an addend, and the addend to print. `x * -3` is subtracted as `x * 3`."""
    if isinstance(addend, AffineConstantExpr) and addend.value < 0:
        return "-", AffineConstantExpr(-addend.value)
    if (
        isinstance(addend, AffineBinaryOpExpr)
        and addend.kind is AffineBinaryOpKind.Mul
        and isinstance(addend.rhs, AffineConstantExpr)
        and addend.rhs.value < 0
    ):
        factor = -addend.rhs.value
        if factor == 1:
            return "-", addend.lhs
        return "-", AffineBinaryOpExpr(addend.kind, addend.lhs, AffineConstantExpr(factor))
    return "+", addend


def show_affine(expr: AffineExpr, dims: Sequence[SSAValue]) -> str:
    """Returns `expr` as text with the name hints of its values, for messages."""
    stream = StringIO()
    printer = Printer(stream=stream)
    print_affine(printer, expr, dims)
    return stream.getvalue()
