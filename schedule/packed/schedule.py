"""Products with packed weights as loops over register tiles."""

from __future__ import annotations

from xdsl.ir import Block, SSAValue

from ...dialects.schedule import PackedAttr
from ...machine.machine import Machine
from ..kernels.epilogue import epilogue_of, replace_grids
from ..kernels.scheduled_nest import ScheduledNest
from .as_bytes import BytesNest
from .as_floats import FloatsNest
from .product import PackedProduct


def tile_packed(p: PackedProduct, chosen: PackedAttr, target: Machine, panels: tuple[SSAValue, ...]) -> None:
    """
    Replaces the grid of `p` by loops over register tiles. `panels` are the weights, scales, and the zero points where
    there is one for each scale, as `panels.py` lays them out.

    Before:

        tensor_loop.grid (%m, %n, %k) in (1, 4096, 4096) { <product with packed weights> }

    After nests that make the parts of x, on a machine with AVX-512:

        tensor_loop.for %p in 64 {
          %0 = <loop over steps, carried> {
            <tile.mma ... groups nibbles right_unsigned using "vpdpbusd", one for each part>
            <tile.map that scales their sums and adds them> }
          tile.store %0, ... }

    With no parts, of 128 rows:

        tensor_loop.for %p in 128 {
          <loop over k that writes floats: tile.store (number - zero point) * scale, %floats[...]>
          tensor_loop.for %m0 in 11 {
            %0 = <loop over k, carried> { tile.mma ..., %floats[...] }
            tile.store %0, ... } }
    """
    block = Block()
    epilogue = epilogue_of(p.c)
    nest = BytesNest if chosen.parts.data else FloatsNest
    nest(ScheduledNest(block, p.c.block), p, chosen, target, panels, epilogue).run()
    replace_grids(p.c, epilogue, block)
