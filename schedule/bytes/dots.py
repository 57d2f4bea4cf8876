"""Chooses the instruction of a machine that adds dot products of bytes, or of bf16, in vector registers."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import bf16, i16
from xdsl.ir import Attribute

from ...dialects.tile.instructions import BFDOT, SDOT, UDOT, USDOT, VDPBF16PS, VEX_VPDPBUSD, VPDPBUSD
from ...machine.machine import Machine
from ..kernels.contraction import Contraction
from ..kernels.register_tiles import IN_MEMORY, IN_REGISTERS, Words
from ..kernels.words import word_instruction

MANY_ROWS = 16
"""The rows from which operands of bytes are extended to 16 bits in memory."""


class Dots(NamedTuple):
    """An instruction of `tile.mma`, and whether the sign bits of the left operand are flipped for it."""

    instruction: str
    flip: bool = False
    words: Words | None = None
    """Says that bytes are multiplied in 16 bits, and what that takes."""
    element: Attribute | None = None
    """The elements that operands are extended to in memory before. `None` stands for their own."""


def dots_of(c: Contraction, target: Machine) -> Dots | None:
    """Returns how `target` adds dot products of the elements of `c`, or `None` where it has no instruction for that."""
    if c.a.type.element_type == bf16:
        if not target.has_half_dots:
            return None
        return Dots(VDPBF16PS if target.code_target.is_x86_64 else BFDOT)
    if not target.has_byte_dots:
        return _words(c, target) if target.code_target.is_x86_64 else None
    same = c.a.unsigned == c.b.unsigned
    if target.code_target.is_x86_64:
        return Dots(VPDPBUSD if target.has_wide_registers else VEX_VPDPBUSD, flip=same)
    if not same and target.has_mixed_byte_dots:
        return Dots(USDOT)
    return Dots(UDOT if c.b.unsigned else SDOT, flip=not same)


def _words(c: Contraction, target: Machine) -> Dots:
    """
    Returns how bytes are multiplied in 16 bits.

    Many rows are worth copies of both operands in 16 bits, which each of them reads. Few rows wait for b, which is half
    as long in bytes.
    """
    if shared_rows(c) >= MANY_ROWS:
        return Dots(word_instruction(target), words=IN_MEMORY, element=i16)
    return Dots(word_instruction(target), words=IN_REGISTERS)


def shared_rows(c: Contraction) -> int:
    """Returns the number of rows that are multiplied by the same b."""
    return c.extent(c.m) * prod(c.extents[axis] for axis in c.outer if axis not in c.b.axes())


def words_of(c: Contraction, target: Machine) -> Words | None:
    """Returns what it takes to multiply the bytes of `c` in 16 bits, or `None` where they are not."""
    dots = dots_of(c, target)
    return None if dots is None else dots.words
