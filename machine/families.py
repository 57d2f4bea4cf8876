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


def base_of_host(architecture: str, flags: frozenset[str] | None, model: tuple[str, int] | None = None) -> Machine:
    """Returns the named machine with the registers of a host: the one of its `model` (vendor, family) where known."""
    found = next((each for each in FAMILIES if architecture in each.architectures), None)
    if found is None:
        return X86_64
    base = found.of_flags(flags)
    named = base if model is None else found.models.get(model, base)
    return named if (named.register_bytes, named.registers) == (base.register_bytes, base.registers) else base


def pause_of(architecture: str, exported: bool = False) -> Pause:
    """Returns the text that tells a core that it waits. The text for code that is `exported` needs no assembler."""
    found = next((each for each in FAMILIES if architecture in each.architectures), None)
    if found is None:
        return Pause("fence seq_cst")
    return found.exported_pause if exported and found.exported_pause is not None else found.pause
