"""What a plan has decided about a grid that another kernel may take up."""

from __future__ import annotations

from ...core.roles import TILING
from ...dialects.schedule import LeftOutAttr, OnTilesAttr
from ...dialects.tensor_loop import BlockOp


def may_take(taker: BlockOp, block: BlockOp, kind: type[OnTilesAttr | LeftOutAttr]) -> bool:
    """
    Returns whether the kernel of `taker` may take up `block`.

    It may where nothing is decided about `block`, and where an attribute of that kind names `taker`.
    """
    found = block.attributes.get(TILING)
    return found is None or (isinstance(found, kind) and found.block.data == taker.block_name.data)
