"""
The instructions that a `tile.mma` of groups may name (`using`), and which operands they take.

Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2 (VPDPBUSD, VPMADDUBSW, VPMADDWD,
VDPBF16PS) and
volume 1, chapter 18 (AMX); Arm Architecture Reference Manual for A-profile, C7.2 (SDOT, UDOT, USDOT, BFDOT).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...lazy_dataclass import dataclass

VPDPBUSD, VEX_VPDPBUSD, VDPBF16PS, AMX = "vpdpbusd", "vex.vpdpbusd", "vdpbf16ps", "amx"
VPMADDUBSW = "vpmaddubsw"
VPMADDWD, VEX_VPMADDWD, PMADDWD = "vpmaddwd", "vex.vpmaddwd", "pmaddwd"
SDOT, UDOT, USDOT, BFDOT = "sdot", "udot", "usdot", "bfdot"


@dataclass(frozen=True)
class Instruction:
    """An instruction that adds dot products of groups to the lanes of a vector."""

    elements: tuple[str, ...] = ("i8",)
    """The types of elements that groups may have: four bytes, or pairs of 16 bits."""
    nibbles: bool = False
    """True where it multiplies numbers of 4 bits only."""
    unsigned: int | None = None
    """The number of operands without a sign. `None` where any may have none."""

    @property
    def signs(self) -> str:
        """What is said of the groups that the instruction multiplies."""
        words = {0: "which all have signs", 1: "of which one is unsigned, the left or the right ones"}
        return words.get(self.unsigned or 0, "which are all unsigned")


INSTRUCTIONS: Final[Mapping[str, Instruction]] = {
    VPDPBUSD: Instruction(unsigned=1),
    VEX_VPDPBUSD: Instruction(unsigned=1),
    VPMADDUBSW: Instruction(nibbles=True, unsigned=1),
    **dict.fromkeys((VPMADDWD, VEX_VPMADDWD, PMADDWD), Instruction(("i8", "i16"))),
    VDPBF16PS: Instruction(("bf16",)),
    SDOT: Instruction(unsigned=0),
    UDOT: Instruction(unsigned=2),
    USDOT: Instruction(unsigned=1),
    BFDOT: Instruction(("bf16",)),
    AMX: Instruction(("i8", "bf16")),
}
"""
All of them by name. `amx` takes groups of both kinds. `vpmaddwd` (AVX-512), `vex.vpmaddwd` (AVX2) and `pmaddwd` (SSE2)
multiply numbers of 16 bits, two at a time, to which the bytes are extended first.
"""

WORDS: Final = frozenset((VPMADDWD, VEX_VPMADDWD, PMADDWD))
"""The instructions that multiply numbers of 16 bits."""

IN_STEPS: Final = frozenset((VPMADDUBSW, *WORDS))
"""The instructions after which others add the dot product to its sum."""
