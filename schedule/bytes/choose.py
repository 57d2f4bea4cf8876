"""Decides which products of bytes, or of bf16, get new layouts for instructions of a machine."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import bf16, f32, i8, i32
from xdsl.utils.exceptions import PassFailedException

from ...core.roles import TILING
from ...dialects.schedule import DotsAttr, TileRegistersAttr, TilingAttr
from ...machine.machine import Machine
from ..kernels.contraction import Contraction
from .amx_products import fits_tile_registers
from .dots import dots_of, shared_rows
from .images import has_rows, is_image

LEAST = 16
"""
The rows, columns and steps of the sum from which new layouts of operands pay off. Rows and columns do not count where b
has its layout already.
"""


MOST_TAPS = 64
"""The most taps of a window. With more, products on tile registers would be long code."""


FLUSHED = ("none", "weights", "all")
"""What `flush` may be: none, those with constant right operands, or all products of bf16 may take numbers below 2**-126
for zeros."""


def check_flush(flush: str, pass_name: str) -> None:
    """Raises `PassFailedException` for a word that is none of `FLUSHED`."""
    if flush not in FLUSHED:
        raise PassFailedException(f"'{pass_name}': 'flush' is '{flush}', expected one of {', '.join(FLUSHED)}")


def is_byte_product(c: Contraction, target: Machine, prepacked: bool = False, flush: str = "none") -> bool:
    """
    Returns whether `c` is a product of matrices of bytes, or as `flush` says of bf16, that is worth new layouts.

    It must be large enough to be laid out for instructions that `target` has. `prepacked` tells that its right operand
    is constant, and is laid out once.
    """
    types = (c.a.type.element_type, c.b.type.element_type, c.tile_element)
    halves = types == (bf16, bf16, f32) and _may_flush(c, prepacked, flush)
    if (types != (i8, i8, i32) and not halves) or not _may_be(c, target, halves):
        return False
    if is_image(c) and (not has_rows(c) or (halves and on_tile_registers(c, target))):
        return False
    sizes = [c.extent(c.k), *([] if prepacked else [c.extent(c.n), shared_rows(c)])]
    return min(sizes) >= LEAST and (on_tile_registers(c, target) or dots_of(c, target) is not None)


def is_product_of_halves(c: Contraction, target: Machine, prepacked: bool, flush: str) -> bool:
    """Returns whether `c` is a product of bf16 for which `is_byte_product` holds."""
    return c.a.type.element_type == bf16 and is_byte_product(c, target, prepacked, flush)


def _may_flush(c: Contraction, prepacked: bool, flush: str) -> bool:
    """Returns whether numbers below 2**-126 may count as zeros. Batches of weights have no layout for it."""
    one_matrix = all(axis not in c.b.axes() for axis in c.outer)
    return flush == "all" or (flush == "weights" and prepacked and one_matrix)


def _may_be(c: Contraction, target: Machine, halves: bool) -> bool:
    """
    Returns whether the block asks for nothing else.

    A request for a product in single precision does not count where `flush` has bf16 computed by instructions of their
    own, since the default is another one there.
    """
    found = c.block.attributes.get(TILING)
    if isinstance(found, TileRegistersAttr):
        return on_tile_registers(c, target)
    if isinstance(found, DotsAttr):
        return dots_of(c, target) is not None
    own = halves and (on_tile_registers(c, target) or dots_of(c, target) is not None)
    return found is None or (isinstance(found, TilingAttr) and own)


def on_tile_registers(c: Contraction, target: Machine) -> bool:
    """Returns whether `c` is computed on tile registers, where the taps of a window are spelt out."""
    if isinstance(c.block.attributes.get(TILING), DotsAttr):
        return False
    taps = prod(c.extents[axis] for axis in c.reduce)
    return taps <= MOST_TAPS and fits_tile_registers(c, target)
