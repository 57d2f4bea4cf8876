"""The patterns with a name that a file defines, for the equations below them."""

from __future__ import annotations

from xdsl.ir import Block, Region
from xdsl.parser import Parser

from ..values import VALUE
from .matches import Matches
from .scope import Scope, Tokens, defined_patterns, end_of_equation


def parse_definition(parser: Parser, name: str, start: int) -> Region:
    """
    Reads `(%x, %y) : pattern` behind the name of a definition, and keeps it for the equations that follow.

    Returns its body in normal form. Raises `ParseError` where the name is taken, or a parameter is not used.
    """
    tokens = Tokens(parser)
    at = tokens.position
    parameters = _read_parameters(tokens)
    scope = Scope(tokens, Block(arg_types=[VALUE] * len(parameters)))
    for parameter, value in zip(parameters, scope.block.args, strict=True):
        scope.bind(parameter, value, at)
    tokens.expect(":", "before the pattern")
    result = Matches(scope).read()
    for parameter, value in zip(parameters, scope.block.args, strict=True):
        if value.first_use is None and value is not result:
            tokens.fail(f"the pattern does not use its parameter %{parameter}", at)
    end_of_equation(tokens, "pattern")
    scope.add_required()
    scope.add("gives", at, [result], results=0)
    return keep_definition(parser, name, start, Region(scope.block))


def _read_parameters(tokens: Tokens) -> list[str]:
    tokens.expect("(", "before the parameters of the pattern")
    found: list[str] = []
    while not tokens.take_if(")"):
        if found:
            tokens.expect(",", "or ')' between parameters")
        found.append(tokens.variable("a parameter"))
    return found


def keep_definition(parser: Parser, name: str, start: int, body: Region) -> Region:
    """Keeps the body of a definition for the equations that follow. Raises `ParseError` where the name is taken."""
    known = defined_patterns(parser)
    if name in known:
        Tokens(parser).fail(f"there are two patterns called '{name}'", start)
    known[name] = body.block
    return body
