"""Formulas over sizes and attributes in equations, read into formulas over what a condition is about."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

from ..formulas import OF_VALUES, Formula, FormulaError, begins_formula, formula_text, parse_formula, placed_text
from .scope import Scope


def is_formula(scope: Scope) -> bool:
    """Returns whether a formula stands here and no name of a condition."""
    tokens = scope.tokens
    return begins_formula(tokens.parser.lexer.input.content, tokens.position)


def read_numbers(scope: Scope, *, comparison: bool) -> tuple[StringAttr, list[SSAValue]]:
    """Returns the formula that stands here, and what its places `$0`, `$1` … stand for."""
    source = scope.tokens.parser.lexer.input
    try:
        formula, end = parse_formula(source.content, scope.tokens.position, comparison=comparison)
    except FormulaError as error:
        raise ParseError(Span(error.at, error.end, source), error.message) from None
    _check_sizes(scope, formula)
    values: list[SSAValue] = []

    def placed(name: Formula) -> Formula:
        of_size = scope.sizes.get(name.text)
        value = of_size.value if of_size else _bound(scope, name)
        if value not in values:
            values.append(value)
        place = str(values.index(value))
        return Formula("name", text=place) if of_size is None else of_size.at(place)

    formula = formula.renamed(placed)
    scope.tokens.parser._resume_from(end)  # pyright: ignore[reportPrivateUsage]
    return StringAttr(placed_text(formula)), values


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
        known = ", ".join(f"%{each}" for each in (*scope.names, *scope.sizes))
        span = Span(name.at, name.at + len(name.text) + 1, scope.tokens.parser.lexer.input)
        raise ParseError(span, f"%{name.text} is not bound by the match; bound are {known}")
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
        return scope.bound(tokens.variable("a name"), at)
    if not names and not tokens.is_variable():
        return None
    text, values = read_numbers(scope, comparison=False)
    return scope.add("compute", at, values, {"formula": text}).results[0]


def written_formula(text: str, names: Sequence[str]) -> str:
    """Returns a formula with names in its places."""
    formula, _ = parse_formula(text)
    return formula_text(formula, lambda place: names[int(place)])
