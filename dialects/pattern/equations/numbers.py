"""Formulas over sizes and attributes in equations, read into formulas over what a condition is about."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

from ..formulas import OF_VALUES, Formula, FormulaError, begins_formula, formula_text, parse_formula, placed_text
from .scope import Scope, Size


def is_formula(scope: Scope) -> bool:
    """Returns whether a formula stands here and no name of a condition."""
    tokens = scope.tokens
    return begins_formula(tokens.parser.lexer.input.content, tokens.position)


def formula_of(scope: Scope) -> Formula | None:
    """Returns the formula that stands here, without going on. It is `None` where none does."""
    if not is_formula(scope):
        return None
    try:
        return parse_formula(scope.tokens.parser.lexer.input.content, scope.tokens.position, comparison=False)[0]
    except FormulaError:
        return None


def read_numbers(scope: Scope, *, comparison: bool) -> tuple[StringAttr, list[SSAValue]]:
    """Returns the formula that stands here, and what its places `$0`, `$1` … stand for."""
    formula = read_formula(scope, comparison=comparison)
    values: list[SSAValue] = []
    return StringAttr(placed_text(_placed(scope, formula, values))), values


def read_formula(scope: Scope, *, comparison: bool = False) -> Formula:
    """Returns the formula that stands here, with the names that the equation has for things."""
    source = scope.tokens.parser.lexer.input
    try:
        formula, end = parse_formula(source.content, scope.tokens.position, comparison=comparison)
    except FormulaError as error:
        raise ParseError(Span(error.at, error.end, source), error.message) from None
    _check_sizes(scope, formula)
    for name in formula.names():
        if name.text not in scope.sizes:
            _bound(scope, name)
    scope.tokens.parser._resume_from(end)  # pyright: ignore[reportPrivateUsage]
    return formula


def read_size(scope: Scope, size: Size, at: int, what: str = "a size, a name or '?'") -> int | None:
    """
    Reads what stands for a size: a number, a name, or a formula over names that are known.

    Returns a number. A name that is new stands for the size from here on. What is known must be equal to it.
    """
    tokens = scope.tokens
    formula = formula_of(scope)
    if formula is None or formula.kind == "negative" or (formula.kind == "number" and "." not in formula.text):
        return tokens.integer(what)
    known = scope.names.get(formula.text) if formula.kind == "name" else None
    if formula.kind == "name" and (known is None or not scope.is_attribute(known)):
        scope.bind_size(tokens.variable("a size"), size, at)
    else:
        require_equal(scope, size.at("0"), size.value, read_formula(scope), at)
    return None


def require_equal(scope: Scope, subject: Formula, value: SSAValue, formula: Formula, at: int) -> None:
    """Requires that `subject`, in which `$0` stands for `value`, is equal to `formula`."""
    values = [value]
    equal = Formula("==", (subject, _placed(scope, formula, values)))
    scope.require_later(at, values, equal)


def _placed(scope: Scope, formula: Formula, values: list[SSAValue]) -> Formula:
    """Returns a formula with places in the place of names. What they stand for is added to `values`."""

    def placed(name: Formula) -> Formula:
        of_size = scope.sizes.get(name.text)
        value = of_size.value if of_size else _bound(scope, name)
        if value not in values:
            values.append(value)
        place = str(values.index(value))
        return Formula("name", text=place) if of_size is None else of_size.at(place)

    return formula.renamed(placed)


def _check_sizes(scope: Scope, formula: Formula) -> None:
    """Fails where a function of values, such as `rank`, is given a size."""
    first = formula.parts[0] if formula.kind in OF_VALUES else None
    if first is not None and first.kind == "name" and first.text in scope.sizes:
        span = Span(first.at, first.at + len(first.text) + 1, scope.tokens.parser.lexer.input)
        raise ParseError(span, f"%{first.text} is a size, where a value stands")
    for part in formula.parts:
        _check_sizes(scope, part)


def _bound(scope: Scope, name: Formula) -> SSAValue:
    if name.text not in scope.names:
        span = Span(name.at, name.at + len(name.text) + 1, scope.tokens.parser.lexer.input)
        raise ParseError(span, scope.not_bound(name.text))
    return scope.names[name.text]


def computed_property(scope: Scope) -> SSAValue | None:
    """
    Reads the value of a property that depends on the match: a name, or a formula with names in it.

    Returns `None` where an attribute stands here that does not.
    """
    tokens = scope.tokens
    at, content = tokens.position, tokens.parser.lexer.input.content
    if not is_formula(scope):
        return None
    try:
        formula, _ = parse_formula(content, at, comparison=False)
    except FormulaError:
        if not tokens.is_variable():
            return None
        formula = Formula("number")
    names = list(formula.names())
    if formula.kind == "name" and names[0].text not in scope.sizes:
        value = scope.bound(tokens.variable("a name"), at)
        if not scope.is_attribute(value):
            tokens.fail(f"%{names[0].text} is a value, where an attribute stands", at)
        return value
    if not names and not tokens.is_variable():
        return None
    text, values = read_numbers(scope, comparison=False)
    return scope.add("compute", at, values, {"formula": text}).results[0]


def written_formula(text: str, names: Sequence[str]) -> str:
    """Returns a formula with names in its places."""
    formula, _ = parse_formula(text)
    return formula_text(formula, lambda place: names[int(place)])
