"""Chooses the instruction of a machine that adds dot products of bytes, or of bf16, in vector registers."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import bf16

from ...dialects.tile.instructions import (
    BFDOT,
    SDOT,
    UDOT,
    USDOT,
    VDPBF16PS,
    VEX_VPDPBUSD,
    VPDPBUSD,
)
from ...machine.machine import Machine
from ..kernels.contraction import Contraction
from ..kernels.words import word_instruction


class Dots(NamedTuple):
    """An instruction of `tile.mma`, and whether the sign bits of the left operand are flipped for it."""

    instruction: str
    flip: bool = False
    words: bool = False
    """Says that bytes are extended to 16 bits first, in registers."""


def dots_of(c: Contraction, target: Machine) -> Dots | None:
    """Returns how `target` adds dot products of the elements of `c`, or `None` where it has no instruction for that."""
    if c.a.type.element_type == bf16:
        if not target.has_half_dots:
            return None
        return Dots(VDPBF16PS if target.code_target.is_x86_64 else BFDOT)
    if not target.has_byte_dots:
        return Dots(word_instruction(target), words=True) if target.code_target.is_x86_64 else None
    same = c.a.unsigned == c.b.unsigned
    if target.code_target.is_x86_64:
        return Dots(VPDPBUSD if target.has_wide_registers else VEX_VPDPBUSD, flip=same)
    if not same and target.has_mixed_byte_dots:
        return Dots(USDOT)
    return Dots(UDOT if c.b.unsigned else SDOT, flip=not same)


def multiplies_words(c: Contraction, target: Machine) -> bool:
    """Returns whether `target` multiplies the bytes of `c` as numbers of 16 bits."""
    dots = dots_of(c, target)
    return dots is not None and dots.words
