"""Chooses the instruction that multiplies packed weights as bytes."""

from __future__ import annotations

from ...dialects.tile.instructions import SDOT, USDOT, VEX_VPDPBUSD, VPDPBUSD, VPMADDUBSW
from ...machine.machine import Machine
from ..kernels.words import word_instruction


def instruction_for(bits: int, target: Machine) -> str | None:
    """Returns the instruction for dot products of numbers of so many bits, `None` for those that every machine has."""
    if target.code_target.is_x86_64:
        if target.has_byte_dots:
            return VPDPBUSD if target.has_wide_registers else VEX_VPDPBUSD
        return VPMADDUBSW if bits == 4 and target.spreads_words else word_instruction(target)
    if target.has_mixed_byte_dots:
        return USDOT
    return SDOT if bits == 4 and target.has_byte_dots else None
