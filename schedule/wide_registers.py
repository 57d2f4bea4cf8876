"""Whether code may use the instructions of AVX-512 on numbers."""

from __future__ import annotations

from .targets import Target, host_target

WIDE = 64
"""Bytes of a register of AVX-512."""


def has_wide_registers(target: Target) -> bool:
    """Whether `target` has AVX-512 (F, DQ, BW, VL), and so has the machine that its code would run on, which is ours."""
    return target.register_bytes == WIDE and host_target().register_bytes == WIDE
