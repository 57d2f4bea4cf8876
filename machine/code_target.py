"""What LLVM is told about the processor that it makes code for, and what code may ask of it."""

from __future__ import annotations

from dataclasses import replace

from ..lazy_dataclass import dataclass

X86_64_BASE = "+64bit,+cmov,+cx8,+sse2"


@dataclass(frozen=True)
class CodeTarget:
    """An LLVM triple, CPU name and feature string (`+avx2,-avx512f`)."""

    triple: str
    cpu: str
    features: str

    @property
    def architecture(self) -> str:
        """The first word of the triple."""
        return self.triple.partition("-")[0]

    @property
    def is_x86_64(self) -> bool:
        """Returns whether code is for any kind of x86-64."""
        return self.triple.startswith("x86_64")

    @property
    def features_with_base(self) -> str:
        """
        The features with those of any x86-64 before them. LLVM ends the process where a CPU has none of 64 bits, and it
        takes a CPU that it does not know for one of 32.
        """
        return f"{X86_64_BASE},{self.features}".rstrip(",") if self.is_x86_64 else self.features

    @property
    def is_apple(self) -> bool:
        """Returns whether the system is one of Apple's."""
        return "apple" in self.triple or "darwin" in self.triple

    @property
    def written(self) -> list[str]:
        """The words of the feature string."""
        return self.features.split(",")

    @property
    def has_wide_registers(self) -> bool:
        """Returns whether the features have AVX-512."""
        return "+avx512f" in self.written

    @property
    def has_tile_products(self) -> bool:
        """Returns whether the features have products on the tile registers of AMX."""
        return "+amx-int8" in self.written

    @property
    def lacks_half_floats(self) -> bool:
        """Returns whether this is an x86-64 without the instructions of F16C, which convert f16."""
        return self.is_x86_64 and (self.cpu == "x86-64" or "-f16c" in self.written)

    def as_host(self, tiles_permitted: bool) -> CodeTarget:
        """
        Returns the target for the process that runs on it.

        Tile registers count only where the system permits them. Loops use vectors of 512 bits where the CPU has them,
        where LLVM prefers 256 for the sake of the clock.
        """
        features = self.features
        if "+amx-tile" in self.written and not tiles_permitted:
            features = features.replace("+amx-", "-amx-")
        return replace(self, features=f"{features},-prefer-256-bit" if self.has_wide_registers else features)

    def describe(self) -> str:
        """Returns all of it as text, the same in every process."""
        return f"{self.triple}|{self.cpu}|{self.features}"


def uses_tile_registers(text: str) -> bool:
    """Returns whether LLVM text configures the tile registers of AMX."""
    return "@llvm.x86.ldtilecfg" in text
