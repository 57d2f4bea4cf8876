"""Features of a processor that the intrinsics in LLVM text need."""

from __future__ import annotations

import re

from . import aarch64, x86_64
from .code_target import CodeTarget
from .families import NAMED

NAMED_CPUS = frozenset(machine.cpu for machine in NAMED.values())

_INTRINSICS = (
    ("@llvm.x86.avx512.vpdpbusd.512", ("avx512vnni",)),
    ("@llvm.x86.avx512.vpdpbusd.", ("avx512vnni", "avxvnni")),
    ("@llvm.x86.avx512bf16.", ("avx512bf16",)),
    ("@llvm.x86.avx512.permvar.qi.", ("avx512vbmi",)),
    ("@llvm.x86.avx512.vpermi2var.qi.", ("avx512vbmi",)),
    ("@llvm.x86.avx512.pmaddw.", ("avx512bw",)),
    ("@llvm.x86.avx512.", ("avx512f",)),
    ("@llvm.x86.avx2.", ("avx2",)),
    ("@llvm.x86.ssse3.", ("ssse3", "sse4.2")),
    ("@llvm.aarch64.neon.usdot.", ("i8mm",)),
    ("@llvm.aarch64.neon.sdot.", ("dotprod",)),
    ("@llvm.aarch64.neon.udot.", ("dotprod",)),
    ("@llvm.aarch64.neon.bfdot.", ("bf16",)),
)
"""Intrinsics by their beginnings, and features of which a target needs one for those. LLVM ends the process else."""

_NAME = re.compile(r"@llvm\.(?:x86\.(?:avx512|avx2|ssse3)|aarch64\.neon)[\w.]*")


def lacking_feature(text: str, target: CodeTarget) -> str | None:
    """
    Returns a feature that intrinsics in LLVM text need and `target` does not have, `None` where there is none.

    Nothing is known of a target without features whose CPU is none of a named machine.
    """
    found = sorted(set(_NAME.findall(text)))
    rows = [next((each for start, each in _INTRINSICS if name.startswith(start)), None) for name in found]
    needed = [each for each in rows if each is not None]
    if not needed:
        return None
    known = {word[1:] for word in target.written if word.startswith("+")}
    known |= set(x86_64.needed_features(target, uses_tiles=True)) | set(aarch64.needed_features(target))
    if not known and target.is_x86_64 and target.cpu not in NAMED_CPUS:
        return None
    return next((each[-1] for each in needed if known.isdisjoint(each)), None)
