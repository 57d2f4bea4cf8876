"""A hash of all that a program says, for what is kept of it: the machine code in the compile cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from xdsl.dialects.builtin import FileLineColLoc, NameLoc
from xdsl.ir import Attribute, Operation

from ..messages.origins import first_origin
from .structural_hash import Texts
from .walk import walk

# pyright: reportPrivateUsage=false
# Each property of xDSL costs a call.


def exact_hash(op: Operation, told: Mapping[str, str] | None = None) -> str:
    """
    The hash of `op` with all it contains: it is another one wherever the printed text is another one.

    Counted in are, beyond `structural_hash`, the names of values, whether an attribute is a property, and the first
    place that each location names, since messages hold both. An attribute of `op` whose name is in `told` counts with
    the text there. It takes a third of the time of printing.
    """
    return sha256("\x1e".join(_Lines(told or {}).of(op)).encode("utf-8", "surrogatepass")).hexdigest()


class _Lines:
    """Writes a line per op, in the order of `walk`. Values and blocks are numbered where they are first met."""

    def __init__(self, told: Mapping[str, str]):
        self._told = told
        self._text = Texts().text
        self._numbers: dict[int, str] = {}

    def of(self, op: Operation) -> Iterator[str]:
        yield "\x1f".join([text for name, text in self._told.items() if name in op.attributes])
        for each in walk(op):
            yield "\x1f".join(self._parts(each, self._told if each is op else {}))

    def _number(self, thing: Any) -> str:
        """Returns the number of a value or block, which is known by identity."""
        found = self._numbers.get(id(thing))
        if found is None:
            found = self._numbers[id(thing)] = str(len(self._numbers))
        return found

    def _parts(self, op: Operation, told: Mapping[str, str]) -> list[str]:
        number, text = self._number, self._text
        parent = op.parent
        parts = [op.name, _place(op.location), "-" if parent is None else number(parent)]
        parts += map(number, op._operands)
        for result in op.results:
            parts += ("=", number(result), result._name or "", text(result._type))
        for name, attribute in op.properties.items():
            parts += ("property", name, text(attribute))
        for name, attribute in op.attributes.items():
            if name not in told:
                parts += ("attribute", name, text(attribute))
        if op.successors:
            parts += ("to", *map(number, op.successors))
        for region in op.regions:
            parts.append("region")
            for block in region.blocks:
                parts += ("block", number(block))
                for argument in block.args:
                    parts += (number(argument), argument._name or "", text(argument.type))
        return parts


def _place(location: Attribute) -> str:
    """The first thing with a place that a location names, as text."""
    names: list[str] = []
    each: Any = location
    while each.__class__ is NameLoc:
        names.append(each.desc.data)
        each = each.location
    if each.__class__ is FileLineColLoc:  # Most are of this form, and are told apart at a fraction of the time.
        return f"{'@'.join(names)}@{each.filename.data}:{each.line.data}:{each.column.data}"
    return str(first_origin(location))
