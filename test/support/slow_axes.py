"""Axes of blocks and variables of loops as programs print them, for `slow_matcher.py`."""

from __future__ import annotations

from typing import Any

from stepwell.patterns.language.loops import Axis
from xdsl.ir import Block, SSAValue


def axis_of(value: SSAValue) -> tuple[str, int] | None:
    """The kind and the extent of an axis or loop variable, -1 where the extent is not known."""
    holder: Any = value.owner.parent_op() if isinstance(value.owner, Block) else None
    if holder is None or "static_extents" not in holder.properties:
        return None
    number: int = value.index  # type: ignore[attr-defined]
    extent = int(holder.properties["static_extents"].get_values()[number])
    extent = -1 if extent < 0 else extent
    if "axis_kinds" in holder.properties:
        return holder.properties["axis_kinds"].data[number].data, extent
    kind = holder.properties.get("kind")
    return "serial" if kind is None else kind.data, extent


def axis_fits(pattern: Axis, value: SSAValue) -> bool:
    """Whether a value is such an axis."""
    found = axis_of(value)
    return found is not None and pattern.kind in (None, found[0]) and pattern.extent in (None, found[1])


def extent(value: SSAValue) -> int:
    """The extent of an axis. Raises where it is not known."""
    found = axis_of(value)
    assert found is not None and found[1] >= 0
    return found[1]
