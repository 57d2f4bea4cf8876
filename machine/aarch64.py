"""Machines of 64-bit Arm."""

from __future__ import annotations

from .machine import KIB, Family, Machine, Pause

AARCH64_NEON = Machine(
    "aarch64-neon", "aarch64-unknown-linux-gnu", "generic", 16, 32, fma=True, l1_bytes=64 * KIB, l2_bytes=1024 * KIB
)


def of_flags(flags: frozenset[str] | None) -> Machine:
    """Returns the machine with the registers that flags of Linux show."""
    return AARCH64_NEON


AARCH64 = Family(
    ("aarch64", "arm64"),
    (AARCH64_NEON,),
    of_flags,
    Pause('call void asm sideeffect "isb", "~{memory}"()'),
    Pause("call void @llvm.aarch64.hint(i32 1)", "declare void @llvm.aarch64.hint(i32)\n"),
)
