"""
Ops in their usual spelling, each read by one regular expression: token by token, parsing was a seventh of what another
encoder layer takes to compile.

An op class offers `parse_plain` beside `parse`. It takes over only where it is as near in the order of classes, so that
a class with a syntax of its own never inherits that of another.
"""

from __future__ import annotations

import re
from typing import Any, Final, Generic, Protocol, TypeVar

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.lexer import Span

from ..messages.locations import LocationFactory

AParser = TypeVar("AParser", bound=Parser)
ReadBy = TypeVar("ReadBy", bound=Parser, contravariant=True)

VALUE: Final = r"%(?:\d++|[A-Za-z$._-][\w$.-]*+)"
"""A value as the lexer reads it."""

_START: Final = re.compile(rf"({VALUE}) = ([A-Za-z_][\w$]*+\.[\w$.]++) ", re.ASCII)
"""The beginning of an op with one result: its value and the name of the op."""


class PlainReader(Protocol[ReadBy]):
    """
    The op whose text goes on at `offset`, after `%value = name `, and the offset at which it ends.

    None where anything is unusual or wrong: nothing has been done then, and `parse` reads it or says what is wrong.
    """

    def __call__(self, parser: ReadBy, offset: int, location: LocationAttr, /) -> tuple[Operation, int] | None: ...


class PlainOps(Generic[AParser]):
    """The ops of one text that are written in the usual way."""

    def __init__(self, locations: LocationFactory):
        self._locations = locations
        self._readers: dict[str, PlainReader[AParser] | None] = {}

    def read(self, parser: AParser, start: int) -> tuple[Operation, Span, int] | None:
        """
        Returns the op that begins at `start`, its result there, and where it ends, or `None` unless it is written so.
        Consumes nothing.
        """
        found = _START.match(parser.lexer.input.content, start)
        if found is None:
            return None
        name = found[2]
        if name not in self._readers:
            self._readers[name] = plain_reader(parser.ctx.get_optional_op(name))
        reader = self._readers[name]
        made = None if reader is None else reader(parser, found.end(), self._locations.at(start))
        return None if made is None else (made[0], Span(start, found.end(1), parser.lexer.input), made[1])


def plain_reader(op_type: type[Operation] | None) -> PlainReader[Any] | None:
    """`parse_plain` of an op class, None where it has none that stands for its `parse`."""
    for kind in () if op_type is None else op_type.__mro__:
        if "parse_plain" in kind.__dict__:
            return getattr(op_type, "parse_plain")  # noqa: B009
        if "parse" in kind.__dict__:
            return None
    return None
