"""
Machines of 64-bit Arm.

Sources: Arm, Neoverse V2 Core Technical Reference Manual (102375) and Software Optimization Guide (109898); Amazon, AWS
Graviton Technical Guide; Linux, Documentation/arch/arm64/elf_hwcaps.rst.
"""

from __future__ import annotations

from .machine import KIB, Family, Machine, Pause

FEATURES = {
    "dotprod": ("asimddp",),
    "i8mm": ("i8mm",),
    "bf16": ("bf16",),
    "fullfp16": ("fphp", "asimdhp"),
    "sve2": ("sve2",),
}
"""LLVM's names, and the flags of Linux that show them. No schedule uses these yet, but LLVM may."""

_TRIPLE = "aarch64-unknown-linux-gnu"

AARCH64_NEON = Machine("aarch64-neon", _TRIPLE, "generic", 16, 32, fma=True, l1_bytes=64 * KIB, l2_bytes=1024 * KIB)

NEOVERSE_V2 = Machine(
    "neoverse-v2",
    _TRIPLE,
    "neoverse-v2",
    16,
    32,
    fma=True,
    features=frozenset(FEATURES),
    latency=4,
    l1_bytes=64 * KIB,
    l2_bytes=2048 * KIB,
    l3_bytes=36 * 1024 * KIB,
)
"""
Neoverse V2 with the caches of AWS Graviton4. L2 is 1 or 2 MiB; in NVIDIA Grace it is 1 MiB.

Vectors of SVE2 have 128 bits, as those of NEON, so its registers are no wider. Four pipes multiply and add, and a sum
takes 2 cycles to the next on the same accumulator: eight accumulators keep them busy. `latency` says the same for the
two multiply-adds a cycle that the rules assume.
"""


def of_flags(flags: frozenset[str] | None) -> Machine:
    """Returns the machine with the registers that flags of Linux show."""
    return AARCH64_NEON


AARCH64 = Family(
    ("aarch64", "arm64"),
    (AARCH64_NEON, NEOVERSE_V2),
    of_flags,
    Pause('call void asm sideeffect "isb", "~{memory}"()'),
    Pause("call void @llvm.aarch64.hint(i32 1)", "declare void @llvm.aarch64.hint(i32)\n"),
    FEATURES,
)
