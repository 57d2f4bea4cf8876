"""
Machines of 64-bit Arm.

Sources: Arm, Neoverse V2 Core Technical Reference Manual (102375) and Software Optimization Guide (109898); Amazon, AWS
Graviton Technical Guide; Linux, Documentation/arch/arm64/elf_hwcaps.rst.
"""

from __future__ import annotations

from .code_target import CodeTarget
from .machine import KIB, Family, Machine, Pause

FEATURES = {
    "dotprod": ("asimddp",),
    "i8mm": ("i8mm",),
    "bf16": ("bf16",),
    "fullfp16": ("fphp", "asimdhp"),
    "sve2": ("sve2",),
}
"""LLVM's names, and the flags of Linux that show them. Schedules use the first three, and LLVM may use all."""

_TRIPLE = "aarch64-unknown-linux-gnu"

AARCH64_NEON = Machine(
    "aarch64-neon",
    _TRIPLE,
    "generic",
    16,
    32,
    fma=True,
    l1_bytes=64 * KIB,
    l1_way_bytes=16 * KIB,
    l2_bytes=1024 * KIB,
)

NEOVERSE_V2 = Machine(
    "neoverse-v2",
    _TRIPLE,
    "neoverse-v2",
    16,
    32,
    fma=True,
    features=frozenset(FEATURES),
    multiply_adds=4,
    loads=3,
    latency=2,
    l1_bytes=64 * KIB,
    l1_way_bytes=16 * KIB,
    l2_bytes=2048 * KIB,
    l3_bytes=36 * 1024 * KIB,
)
"""
Neoverse V2 with the caches of AWS Graviton4. L2 is 1 or 2 MiB; in NVIDIA Grace it is 1 MiB.

Vectors of SVE2 have 128 bits, as those of NEON, so its registers are no wider. Four pipes multiply and add, and a sum
takes 2 cycles to the next on the same accumulator: eight accumulators keep them busy. Three pipes load.
"""


HWCAP: dict[str, tuple[tuple[int, int], ...]] = {
    "lse": ((16, 8),),
    "fullfp16": ((16, 9), (16, 10)),
    "rdm": ((16, 12),),
    "complxnum": ((16, 14),),
    "rcpc": ((16, 15),),
    "dotprod": ((16, 20),),
    "sve": ((16, 22),),
    "sve2": ((26, 1),),
    "i8mm": ((26, 13),),
    "bf16": ((26, 14),),
}
"""
The names of LLVM for features that code for a target may use, and where Linux shows each: words of the auxiliary vector
(16 is AT_HWCAP, 26 is AT_HWCAP2) and their bits.
"""

_OF_CPU = {"neoverse-v2": frozenset(HWCAP)}


def needed_features(target: CodeTarget) -> tuple[str, ...]:
    """
    Returns the features that code for `target` may use beyond those of every 64-bit Arm, sorted.

    There are none on other machines, and none where the system is not Linux, which shows them.
    """
    if target.architecture not in AARCH64.architectures or "linux" not in target.triple:
        return ()
    written = {word[1:] for word in target.written if word.startswith("+")}
    left_out = {word[1:] for word in target.written if word.startswith("-")}
    return tuple(sorted(((written | _OF_CPU.get(target.cpu, frozenset())) & HWCAP.keys()) - left_out))


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
