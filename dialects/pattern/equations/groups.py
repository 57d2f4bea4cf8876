"""A group rule in short: `elementwise %a into reduction %b through injective %c where …`, and its text."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.utils.mlir_lexer import MLIRTokenKind

from .printing_texts import NoEquation, conditions_text
from .rule import read_conditions
from .scope import Scope, Tokens, end_of_equation


def parse_group_equation(parser: Parser) -> Region:
    """
    Reads `: kinds %producer into kinds %consumer (through kinds %between)* (where conditions)?`.

    Kinds are a word, or words in brackets. Returns the body of the rule in its normal form.
    """
    tokens = Tokens(parser)
    scope = Scope(tokens)
    tokens.expect(":", "before the groups")
    at = tokens.position
    producer = _read_group(scope)
    tokens.expect("into", "after the group of the producer")
    consumer = _read_group(scope)
    while tokens.take_if("through"):
        _read_group(scope)
    read_conditions(scope, "require_groups")
    end_of_equation(tokens, "rule")
    scope.add("merge_groups", at, [producer, consumer], results=0)
    return Region(scope.block)


def _read_group(scope: Scope) -> SSAValue:
    tokens = scope.tokens
    at = tokens.position
    if tokens.is_kind(MLIRTokenKind.L_SQUARE):
        kinds = tokens.listed("[", "]", lambda: tokens.word("the kind of a group"), "the kinds of a group")
    else:
        kinds = [tokens.word("the kind of a group, or kinds in brackets")]
    value = scope.add("group", at, (), {"kinds": StringAttr(" | ".join(kinds))}).results[0]
    scope.bind(tokens.variable("the name of the group"), value, at)
    return value


def group_equation_of(rule: Operation) -> str | None:
    """Returns the text that `parse_group_equation` reads into the body of `rule`, or `None` where it has none."""
    *parts, merge = rule.regions[0].block.ops
    groups: list[Any] = [op for op in parts if op.name == "pattern.group"]
    names = {op.results[0]: op.results[0].name_hint or f"g{number}" for number, op in enumerate(groups)}
    if len(set(names.values())) < len(names):
        return None
    texts = {op.results[0]: f"{_kinds_text(op.kinds.data)} %{names[op.results[0]]}" for op in groups}
    producer, consumer = (texts.pop(operand) for operand in merge.operands)
    through = "".join(f" through {text}" for text in texts.values())
    try:
        required = [op for op in parts if op.name == "pattern.require_groups"]
        conditions = conditions_text(required, lambda value: f"%{names[value]}")
    except NoEquation:
        return None
    return f": {producer} into {consumer}{through}{conditions}"


def _kinds_text(kinds: str) -> str:
    names = [name.strip() for name in kinds.split("|")]
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"
