"""What schedules know of a machine: its vector registers, caches and features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field, fields

from ..lazy_dataclass import dataclass
from .code_target import CodeTarget

KIB = 1024

WIDE = 64
"""Bytes of a register of AVX-512."""

LINE_BYTES = 64
"""The bytes of a line of a cache."""


@dataclass(frozen=True)
class Machine:
    """
    What a schedule needs to know of a machine. Sizes of caches are in bytes, those of one core but for `l3_bytes`.
    """

    name: str
    triple: str
    cpu: str
    """LLVM's name."""
    register_bytes: int
    registers: int
    fma: bool
    """True where a product and a sum are one instruction."""
    features: frozenset[str] = frozenset()
    """The features that the machine has, of those that its family lists."""
    multiply_adds: int = 2
    """The multiply-adds of vectors that begin in a cycle. Without FMA these are the products and the sums."""
    loads: int = 2
    """The loads of vectors that begin in a cycle."""
    latency: int = 4
    """Cycles from an accumulator to its next value. Each accumulator takes one sum at a time."""
    l1_bytes: int = 32 * KIB
    l1_way_bytes: int = 4 * KIB
    """Lines of memory this far apart go to the same set of L1. Those of x86-64 are as large as a page."""
    l2_bytes: int = 1024 * KIB
    l3_bytes: int = 8192 * KIB
    l3_is_near: bool = False
    """True where L3 belongs to few cores, and brings the next image of a batch in time while the last one is in L2."""
    sweeps_in_place: int = 3
    """The tiles of rows that read a large b up to which it is not copied into panels."""
    permutes_apart: bool = False
    """True where units that do not multiply permute vectors."""
    line_cycles: float = 0.25
    """The cycles that a line of L2 adds to the work on it, since not all of its way into L1 overlaps."""
    cores: int = 1

    @property
    def llvm_features(self) -> str:
        """The features in the form of LLVM: those of its registers on x86-64, and those that the machine lists."""
        wanted = self.features | self._features_of_registers()
        return ",".join(f"+{feature}" for feature in sorted(wanted))

    def _features_of_registers(self) -> frozenset[str]:
        """Returns what schedules take for granted on x86-64, so that `needed_features` knows it of any CPU."""
        if not self.triple.startswith("x86_64"):
            return frozenset()
        fma = {"fma"} if self.fma else set[str]()
        wide = {"avx512f", "avx512bw", "avx512dq", "avx512vl"} if self.register_bytes >= WIDE else set[str]()
        return frozenset({*fma, *wide, *({"avx2"} if self.register_bytes >= WIDE // 2 else ())})

    @property
    def code_target(self) -> CodeTarget:
        """What LLVM is told to make code for this machine."""
        return CodeTarget(self.triple, self.cpu, self.llvm_features)

    def describe(self) -> str:
        """Returns all of it as text, the same in every process."""
        values = (getattr(self, each.name) for each in fields(self))
        return "|".join(str(sorted(value) if isinstance(value, frozenset) else value) for value in values)

    @property
    def l1_ways(self) -> int:
        """Returns how many lines a set of L1 holds."""
        return max(1, self.l1_bytes // self.l1_way_bytes)

    def lines_together(self, apart: int, most: int) -> int:
        """
        Returns how many lines of memory, `apart` bytes from each other, L1 holds together, at most `most`.

        Where they are a multiple of a page apart, all go to one set. More of them than that holds come from L2 again.
        """
        lines: Counter[int] = Counter()
        for number in range(most):
            place = number * apart % self.l1_way_bytes // LINE_BYTES
            lines[place] += 1
            if lines[place] > self.l1_ways:
                return number
        return most

    def lanes(self, element_bytes: int) -> int:
        """Returns how many elements a vector register holds."""
        return max(1, self.register_bytes // element_bytes)

    @property
    def has_wide_registers(self) -> bool:
        """Returns whether the machine has AVX-512 (F, DQ, BW, VL)."""
        return self.register_bytes == WIDE and self.code_target.is_x86_64

    @property
    def has_byte_dots(self) -> bool:
        """Returns whether an instruction multiplies groups of four bytes and adds them to 32 bits."""
        return self._has("avx512vnni" if self.has_wide_registers else "avxvnni", "dotprod")

    @property
    def has_mixed_byte_dots(self) -> bool:
        """Returns whether such an instruction takes bytes with signs on one side, and without on the other."""
        return self._has("avx512vnni" if self.has_wide_registers else "avxvnni", "i8mm")

    @property
    def spreads_words(self) -> bool:
        """Returns whether an instruction takes 16 bits from memory into all lanes, as those of AVX2 do."""
        return self.code_target.is_x86_64 and self.register_bytes >= WIDE // 2

    @property
    def permutes_bytes(self) -> bool:
        """Returns whether an instruction takes bytes from any places of two registers (`vpermi2b`)."""
        return "avx512vbmi" in self.features

    @property
    def has_half_dots(self) -> bool:
        """Returns whether an instruction multiplies pairs of bf16 and adds them to an f32."""
        return self._has("avx512bf16", "bf16")

    def _has(self, x86: str, arm: str) -> bool:
        """Returns whether the machine has a feature, which its family calls by one of these names."""
        return (x86 if self.code_target.is_x86_64 else arm) in self.features

    @property
    def has_byte_tiles(self) -> bool:
        """Returns whether bytes are multiplied on tile registers."""
        return "amx-int8" in self.features

    @property
    def has_half_tiles(self) -> bool:
        """Returns whether bf16 are multiplied on tile registers."""
        return "amx-bf16" in self.features

    @property
    def broadcasts(self) -> bool:
        """Returns whether multiply-adds take an element from memory in all lanes, as those of AVX-512 do."""
        return self.has_wide_registers

    @property
    def near_bytes(self) -> int:
        """
        Returns the bytes that are expected to stay in L2. These are three quarters of it. The rest is for data that
        passes through.
        """
        return 3 * self.l2_bytes // 4

    @property
    def a_bytes(self) -> int:
        """Returns the largest number of bytes of a that stay in L2 beside a panel of b."""
        return self.l2_bytes // 8

    @property
    def pack_from_bytes(self) -> int:
        """
        Returns the bytes of b from which copying it into panels pays, because b no longer stays in L2 beside the rest.
        """
        return self.l2_bytes // 8


@dataclass(frozen=True)
class Pause:
    """LLVM text that tells a core that it waits, and the declaration that the text needs."""

    text: str
    declaration: str = ""


@dataclass(frozen=True)
class Family:
    """What the machines of one instruction set have in common."""

    architectures: tuple[str, ...]
    """The names that systems, and the first words of triples, use for it."""
    machines: tuple[Machine, ...]
    of_flags: Callable[[frozenset[str] | None], Machine]
    """Returns the machine with the registers that flags of Linux show. Without flags it is that of common machines."""
    pause: Pause
    exported_pause: Pause | None = None
    """
    The text for code that is exported. It is needed where `pause` takes an assembler, which only the host may have.
    """
    features: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """
    Instructions that not all machines with the same registers have: LLVM's name, and the flags of Linux that show them.
    """
    models: Mapping[tuple[str, int], Machine] = field(default_factory=dict[tuple[str, int], "Machine"])
    """Named machines by what processors say of themselves: their vendor and the number of their family."""
