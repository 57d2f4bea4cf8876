"""References to symbols: a net has a call per kernel and layer, and making an attribute takes as long as making an op."""

from __future__ import annotations

from functools import lru_cache

from xdsl.dialects.builtin import SymbolRefAttr


@lru_cache(maxsize=4096)
def symbol(name: str) -> SymbolRefAttr:
    """`@name`; attributes never change, so that one serves all who ask."""
    return SymbolRefAttr(name)
