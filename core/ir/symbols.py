"""
References to symbols, and new names for them.

A net has a call per kernel and layer, and making an attribute takes as long as making an op.
"""

from __future__ import annotations

from functools import lru_cache

from xdsl.dialects.builtin import SymbolRefAttr


@lru_cache(maxsize=4096)
def symbol(name: str) -> SymbolRefAttr:
    """Returns `@name`. Attributes never change, so that one serves all who ask."""
    return SymbolRefAttr(name)


def fresh_name(wish: str, taken: set[str]) -> str:
    """Returns `wish`, or `wish_1` and so on where that is taken, and adds it to `taken`."""
    name, number = wish, 1
    while name in taken:
        name, number = f"{wish}_{number}", number + 1
    taken.add(name)
    return name
