"""
What a module is made of, object by object: whether a pass has changed anything.

Most passes of a pipeline find nothing to do. What the verifier has said before still holds then, and to look at the
identities of all objects takes a hundredth of the time of asking it again.
"""

from __future__ import annotations

from operator import is_
from typing import Any, Final

from xdsl.ir import Operation

from .walk import walk

_END: Final = object()
"""Stands between lists of unknown length, so that what leaves one for the next is a change."""


class Identities:
    """
    The ops of a module as they are now, with operands, results, types, attributes, properties, blocks and successors.

    Attributes count by identity: one that is replaced by an equal one has changed. Names of values and locations do not
    count. All that is compared stays alive with this object, so that nothing new gets the place of something that went.
    """

    def __init__(self, root: Operation):
        self._root = root
        self._parts = _parts(root)

    def hold(self) -> bool:
        """Returns whether nothing has changed since this object was made."""
        now = _parts(self._root)
        return len(now) == len(self._parts) and all(map(is_, now, self._parts))


def _parts(root: Operation) -> list[Any]:
    """Returns all that the verifier may look at, in the order of the walk."""
    parts: list[Any] = []
    for op in walk(root):
        parts += (op, op.parent, op._operands, op._successors, op.results)  # pyright: ignore[reportPrivateUsage]
        for result in op.results:
            parts.append(result.type)
        if op.properties:
            parts += op.properties
            parts += op.properties.values()
        parts.append(_END)
        if op.attributes:
            parts += op.attributes
            parts += op.attributes.values()
        parts.append(_END)
        if op.regions:
            _add_regions(op, parts)
    return parts


def _add_regions(op: Operation, parts: list[Any]) -> None:
    for region in op.regions:
        parts += (region, region.parent)
        for block in region.blocks:
            parts += (block, block.parent)
            for argument in block.args:
                parts += (argument, argument.type)
        parts.append(_END)
