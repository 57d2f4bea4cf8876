"""The names of the values of a function, as its text has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects import func
from xdsl.ir import Block, SSAValue


def value_names(function: func.FuncOp) -> dict[SSAValue, str]:
    """
    Returns the name of each value in `function` without its `%`, as printing gives it.

    A name that several values would have gets numbers, and values without one are numbered.
    """
    names: dict[SSAValue, str] = {}
    taken: dict[str, int] = {}
    numbered = 0
    for value in _values(function.body.blocks):
        hint = value.name_hint
        if hint is None:
            names[value] = str(numbered)
            numbered += 1
            continue
        count = taken.get(hint, 0)
        names[value] = f"{hint}_{count}" if count else hint
        taken[hint] = count + 1
    return names


def _values(blocks: Iterable[Block]) -> Iterator[SSAValue]:
    """Yields arguments and results in the order of the text."""
    for block in blocks:
        yield from block.args
        for op in block.ops:
            yield from op.results
            for region in op.regions:
                yield from _values(region.blocks)
