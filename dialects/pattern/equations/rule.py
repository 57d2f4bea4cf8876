"""A whole rule as an equation, `match => replacement where conditions`, read into the normal form of a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.utils.mlir_lexer import MLIRTokenKind

from .loops import read_decisions
from .matches import Matches
from .numbers import is_formula, read_numbers
from .replacements import Replacements
from .scope import COMPARE, Scope, Tokens, end_of_equation, named

SAME_OP: Final = "same-op"
"""The condition that holds between ops that are written with one name after `for`."""

NOT: Final = "not"
"""The condition that a word `not` stands for."""

ROOT: Final = "root"
"""What the root is called where it has no other name."""


def parse_equation(parser: Parser) -> tuple[Region, str]:
    """
    Reads what follows the header of a rule: `(for %f in [names])? : match => replacement (where conditions)?`.

    Conditions may stand before `=>` as well: the replacement can use what these bind. Returns the body of the rule in
    its normal form, and the text of both sides. Raises `ParseError` at the place in
    the equation.
    """
    tokens = Tokens(parser)
    scope = Scope(tokens)
    _read_functions(scope)
    tokens.expect(":", "before the equation")
    start = tokens.position
    roots = _read_roots(scope)
    read_conditions(scope)
    if tokens.take_if("=") is None or tokens.take_if(">") is None:
        tokens.fail(f"expected '=>' after the pattern, found {tokens.found()}")
    at = tokens.position
    if tokens.take_if("partition"):
        wanted = tokens.parser.parse_optional_attr_dict()
        properties: dict[str, Attribute] = {"wanted": DictionaryAttr(wanted)} if wanted else {}
        end = tokens.position
        read_conditions(scope)
        scope.add("partition", at, roots, properties, results=0)
    elif tokens.text == "decide":
        end = _read_decisions(scope)
    else:
        end = _read_replacement(scope, roots, at)
    end_of_equation(tokens, "rule")
    return Region(scope.block), _without_comments(parser.lexer.input.content[start:end])


def _read_functions(scope: Scope) -> None:
    """Reads `for %f in [add, multiply], %g in [sin, cos]`."""
    tokens = scope.tokens
    if not tokens.take_if("for"):
        return
    while True:
        at = tokens.position
        name = tokens.variable("a name after 'for'")
        if name in scope.functions:
            tokens.fail(f"%{name} has been bound before", at)
        tokens.expect("in", f"after '%{name}'")
        scope.functions[name] = tokens.op_list()
        if not tokens.take_if(","):
            return


def _read_roots(scope: Scope) -> list[SSAValue]:
    """Reads the patterns of the roots, and calls the only one `%root`."""
    tokens, matches = scope.tokens, Matches(scope)
    at = tokens.position
    roots = [matches.read()]
    while tokens.take_if(","):
        roots.append(matches.read())
    scope.add_required()
    for name in scope.functions:
        if name not in scope.matched:
            tokens.fail(f"the match has no op %{name}, which 'for' names", at)
    if len(roots) == 1 and ROOT not in scope.names and ROOT not in scope.functions:
        scope.names[ROOT] = roots[0]
        roots[0].name_hint = roots[0].name_hint or ROOT
    for ops in scope.matched.values():
        for other in ops[1:]:
            scope.add("require", at, [ops[0], other], named([SAME_OP], {}), results=0)
    return roots


def _read_replacement(scope: Scope, roots: Sequence[SSAValue], at: int) -> int:
    """Reads the right side and the conditions after it. Returns where the right side ends."""
    replacements = Replacements(scope)
    values = [replacements.read()]
    while scope.tokens.take_if(","):
        values.append(replacements.read())
    end = scope.tokens.position
    read_conditions(scope)
    if len(roots) == len(values) == 1 and not replacements.block.ops:
        scope.add("replace", at, [*roots, *values], results=0)
        return end
    scope.add("yield", at, values, into=replacements.block, results=0)
    scope.add("rewrite", at, roots, results=0, regions=[Region(replacements.block)])
    return end


def _read_decisions(scope: Scope) -> int:
    """Reads the decisions of a rule and the conditions after them. Returns where the decisions end."""
    decisions, end = read_decisions(scope)
    read_conditions(scope)
    for at, target, properties, computed in decisions:
        scope.add("decide", at, [target, *computed], properties, results=0)
    return end


def read_conditions(scope: Scope, kind: str = "require") -> None:
    """Reads `where single-use(%p) remark "…", dtype(%x, is = f32)` if it is there, into ops of the kind."""
    if not scope.tokens.take_if("where"):
        return
    _read_condition_or_group(scope, kind)
    while scope.tokens.take_if(","):
        _read_condition_or_group(scope, kind)
    scope.add_required()


def _read_condition_or_group(scope: Scope, kind: str) -> None:
    """Reads a condition with its remark, or conditions in braces, which have one remark."""
    tokens = scope.tokens
    if not tokens.is_kind(MLIRTokenKind.L_BRACE):
        found = [_read_condition(scope, kind)]
    else:
        found = tokens.listed("{", "}", lambda: _read_condition(scope, kind), "the conditions of one remark")
        if tokens.text != "remark":
            tokens.fail(f"expected 'remark' after conditions in braces, found {tokens.found()}")
    if tokens.take_if("remark"):
        remark = StringAttr(tokens.string("a remark"))
        for op in found:
            op.properties["remark"] = remark


def _read_condition(scope: Scope, kind: str) -> Operation:
    tokens = scope.tokens
    at = tokens.position
    is_negated = tokens.take_word("not")
    if is_negated and tokens.text == "not":
        tokens.fail("a condition is negated once, found 'not' again")
    fixed: Mapping[str, Attribute]
    if is_formula(scope):
        formula, values = read_numbers(scope, comparison=True)
        name, fixed = COMPARE, {"formula": formula}
    else:
        name, values, fixed = _read_named(scope, at)
    if is_negated:
        name, fixed = NOT, {"condition": StringAttr(name), **fixed}
    return scope.add(kind, at, values, named([name], fixed), results=0)


def _read_named(scope: Scope, at: int) -> tuple[str, list[SSAValue], dict[str, Attribute]]:
    tokens = scope.tokens
    name = tokens.word("the name of a condition after 'where'")
    values, parameters = Matches(scope).arguments(f"'{name}'")
    fixed: dict[str, Attribute] = {}
    for key, value in parameters.items():
        if not isinstance(value, Attribute):
            tokens.fail(f"the parameters of the condition '{name}' are attributes, not names", at)
        fixed[key] = value
    return name, values, fixed


def _without_comments(text: str) -> str:
    """Returns the words of `text` in one line."""
    return " ".join(" ".join(line.partition("//")[0] for line in text.splitlines()).split())
