"""Chooses the instruction of a machine of x86-64 that adds products of 16 bits, to which bytes are extended."""

from __future__ import annotations

from ...dialects.tile.instructions import PMADDWD, VEX_VPMADDWD, VPMADDWD
from ...machine.machine import Machine


def word_instruction(target: Machine) -> str:
    """Returns the instruction for the widest registers of a machine of x86-64. All of those have one."""
    if target.has_wide_registers:
        return VPMADDWD
    return VEX_VPMADDWD if target.spreads_words else PMADDWD
