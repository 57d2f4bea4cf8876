"""Decides how many rows a strip has, and how threads share strips."""

from __future__ import annotations

from math import ceil, prod

from xdsl.dialects.builtin import IntegerAttr, MemRefType

from ...core.ir.element_types import element_bytes
from ...core.roles import STRIP
from ...dialects.tensor_loop import BlockOp
from ...lazy_dataclass import dataclass
from ...machine.machine import Machine
from ..bytes.choose import is_byte_product
from ..kernels.given_tiling import refuse
from .chain import Chain
from .recut import Cut

MOST_ROWS = 64
"""The most rows of a strip. More do not save work, and rows of a mask or of the result come from farther away."""

LEAST_ROWS = 8
"""The fewest rows. With less the second operands of the products are read too often from memory."""

ENOUGH = 8
"""The iterations that share well among a few threads."""


@dataclass(frozen=True)
class StripPlan:
    """A choice for a chain: the rows of a strip, and what threads share."""

    total: int
    rows: int
    outer: tuple[int, ...]
    """The other row axes, outermost first."""
    groups: int
    shared: int | None
    """The extent of the axis that threads share, `None` where there is none."""

    def cuts(self) -> list[Cut]:
        """Returns the strips of full height, and the one that is left over."""
        count = self.total // self.rows
        groups = self.groups if count % self.groups == 0 else 1
        by_group = self.groups > 1
        found = [Cut(self.outer, groups, count // groups, self.rows, 0, by_group)]
        if rest := self.total % self.rows:
            found.append(Cut(self.outer, 1, 1, rest, count * self.rows, by_group))
        return found


def plan_strips(chain: Chain, target: Machine, rows: int | None = None) -> StripPlan:
    """
    Returns the plan for a chain: strips of `rows` rows, or of about as many as the second-level cache holds, all of one
    height where a near number divides the rows.
    """
    total = chain.sizes[chain.strip]
    outer = tuple(sorted((row for row in chain.sizes if row != chain.strip), key=lambda row: -chain.sizes[row]))
    groups = 1
    if rows is None:
        most = max(LEAST_ROWS, min(MOST_ROWS, target.l2_bytes // 2 // _row_bytes(chain)))
        near = [size for size in range(most // 2, min(MOST_ROWS, most * 9 // 8) + 1) if total % size == 0]
        count = total // near[-1] if near else ceil(total / most)
        if not outer or chain.sizes[outer[0]] < ENOUGH:
            groups = max(1, min(ENOUGH, total // LEAST_ROWS))
            count = groups * ceil(count / groups) if groups > 1 else count
        rows = ceil(total / count)
    elif not outer or chain.sizes[outer[0]] < ENOUGH:
        groups = max(1, min(ENOUGH, total // rows))
    if groups > 1:
        while (total // rows) % groups:
            groups -= 1
    shared = groups if groups > 1 else (chain.sizes[outer[0]] if outer else None)
    return StripPlan(total, rows, outer, groups, shared)


def why_whole(chain: Chain, target: Machine, flush: str) -> str | None:
    """Returns why the kernels of a chain run one after the other on all rows, `None` where strips go through them."""
    if any(is_byte_product(c, target, False, flush) for c in (chain.first, chain.second)):
        return "the products have instructions of their own, which strips do not use"
    return None


def strip_rows(block: BlockOp) -> int:
    """Returns the rows of a strip that a block asks for. Fails at the block where that is no number."""
    found = block.attributes[STRIP]
    if not isinstance(found, IntegerAttr) or found.value.data < 0:
        refuse(block, found, "expected a number of rows, 0 for none", STRIP)
    return found.value.data


def check_strip(chain: Chain, rows: int) -> None:
    """Fails at the first product of a chain that has less rows than a strip is to have."""
    total = chain.sizes[chain.strip]
    if rows > total:
        refuse(chain.first.block, rows, f"the product has {total} rows", STRIP)


def _row_bytes(chain: Chain) -> int:
    """Returns the bytes of all temporaries per row."""
    found = 0
    for buffer, dimensions in chain.buffers.items():
        assert isinstance(buffer.type, MemRefType)
        sizes = zip(dimensions, buffer.type.get_shape(), strict=True)
        found += prod(size for row, size in sizes if row is None) * (element_bytes(buffer.type.element_type) or 1)
    return max(found, 1)
