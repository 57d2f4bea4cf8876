"""The parts that rules, group rules and patterns with a name share in their text."""

from __future__ import annotations

from typing import TypeVar

from xdsl.dialects.builtin import DictionaryAttr, StringAttr, UnitAttr
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.printer import Printer

Op = TypeVar("Op", bound=Operation)


def parse_doc(parser: Parser) -> StringAttr | None:
    """Parses `doc "…"`, if it is there."""
    if parser.parse_optional_keyword("doc") is None:
        return None
    return StringAttr(parser.parse_str_literal(" for a line about the rule"))


def with_attributes(op: Op, attributes: DictionaryAttr | None) -> Op:
    """Returns `op` with the attributes that stand before its region."""
    if attributes is not None:
        op.attributes |= attributes.data
    return op


def print_named(printer: Printer, op: Operation, name: StringAttr, **words: StringAttr | UnitAttr | None) -> None:
    """Prints the name of `op`, each word with its string if it has one, the attributes and the region."""
    printer.print_string(" ")
    printer.print_string_literal(name.data)
    for word, value in words.items():
        if value is not None:
            printer.print_string(f" {word}")
        if isinstance(value, StringAttr):
            printer.print_string(" ")
            printer.print_string_literal(value.data)
    printer.print_op_attributes(op.attributes, print_keyword=True)
    printer.print_string(" ")
    printer.print_region(op.regions[0])
