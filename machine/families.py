"""The families of machines, and which of them a name belongs to."""

from __future__ import annotations

from .aarch64 import AARCH64
from .machine import Machine, Pause
from .x86_64 import X86, X86_64

FAMILIES = (X86, AARCH64)

NAMED = {machine.name: machine for family in FAMILIES for machine in family.machines}
"""What can be named beside `host`. The caches are those of common machines."""

FEATURES = {name: flags for family in FAMILIES for name, flags in family.features.items()}
"""Features that machines may have: LLVM's name, and the flags of Linux that show them."""


def base_of_host(architecture: str, flags: frozenset[str] | None) -> Machine:
    """Returns the named machine with the registers of a host."""
    found = next((each for each in FAMILIES if architecture in each.architectures), None)
    return X86_64 if found is None else found.of_flags(flags)


def pause_of(architecture: str, exported: bool = False) -> Pause:
    """Returns the text that tells a core that it waits. The text for code that is `exported` needs no assembler."""
    found = next((each for each in FAMILIES if architecture in each.architectures), None)
    if found is None:
        return Pause("fence seq_cst")
    return found.exported_pause if exported and found.exported_pause is not None else found.pause
