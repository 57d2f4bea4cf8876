"""
The machine that schedules are made for: its vector registers and caches, by name or as found in the one we run on.

Schedules are right on every machine whatever they are made for, as LLVM cuts vectors to the registers that there are;
a description only makes them fast.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path

from ..core.amx import amx_permitted
from ..core.diagnostics import Diagnostic, StepwellError, did_you_mean
from ..core.pass_config import config_value, register_config

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
CPU_INFO = Path("/proc/cpuinfo")
KIB = 1024


FEATURES = {
    "avx512vnni": ("avx512vl", "avx512_vnni"),
    "amx-int8": ("amx_tile", "amx_int8"),
    "amx-bf16": ("amx_tile", "amx_bf16"),
}
"""Instructions for products that not all machines with the same registers have: LLVM's name, and the flags of Linux that show them."""


@dataclass(frozen=True)
class Target:
    """What a schedule needs to know of a machine; sizes of caches in bytes, those of one core but for `l3_bytes`."""

    name: str
    triple: str
    cpu: str
    """LLVM's name."""
    register_bytes: int
    registers: int
    fma: bool
    """Whether a product and a sum are one instruction."""
    features: frozenset[str] = frozenset()
    """Of `FEATURES`, those that the machine has."""
    latency: int = 4
    """Cycles from an accumulator to its next value; each accumulator takes one sum at a time."""
    l1_bytes: int = 32 * KIB
    l2_bytes: int = 1024 * KIB
    l3_bytes: int = 8192 * KIB
    cores: int = 1

    @property
    def llvm_features(self) -> str:
        """The features in the form of LLVM, beyond those of its CPU."""
        return ",".join(f"+{feature}" for feature in sorted(self.features))

    def describe(self) -> str:
        """All of it as text, the same in every process."""
        values = (getattr(self, each.name) for each in fields(self))
        return "|".join(str(sorted(value) if isinstance(value, frozenset) else value) for value in values)

    def lanes(self, element_bytes: int) -> int:
        """Elements of a vector register."""
        return max(1, self.register_bytes // element_bytes)

    @property
    def broadcasts(self) -> bool:
        """Whether multiply-adds take an element from memory, in all lanes: those of AVX-512."""
        return self.register_bytes == 64

    @property
    def near_bytes(self) -> int:
        """Bytes that are counted on to stay in L2: three quarters, the rest is for what goes by."""
        return 3 * self.l2_bytes // 4

    @property
    def a_bytes(self) -> int:
        """Most bytes of a that stay in L2 beside a panel of b."""
        return self.l2_bytes // 8

    @property
    def pack_from_bytes(self) -> int:
        """Bytes of b from which copying it into panels pays: what no longer stays in L2 beside the rest."""
        return self.l2_bytes // 8


_LINUX = "unknown-linux-gnu"

X86_64 = Target("x86-64", f"x86_64-{_LINUX}", "x86-64", 16, 16, fma=False, latency=8, l2_bytes=512 * KIB)
X86_64_V3 = Target("x86-64-v3", f"x86_64-{_LINUX}", "x86-64-v3", 32, 16, fma=True, l2_bytes=512 * KIB)
X86_64_V4 = Target("x86-64-v4", f"x86_64-{_LINUX}", "x86-64-v4", 64, 32, fma=True, l2_bytes=2048 * KIB)
CASCADE_LAKE = Target(
    "cascade-lake",
    f"x86_64-{_LINUX}",
    "cascadelake",
    64,
    32,
    fma=True,
    features=frozenset({"avx512vnni"}),
)
SAPPHIRE_RAPIDS = Target(
    "sapphire-rapids",
    f"x86_64-{_LINUX}",
    "sapphirerapids",
    64,
    32,
    fma=True,
    features=frozenset(FEATURES),
    l1_bytes=48 * KIB,
    l2_bytes=2048 * KIB,
)
AARCH64_NEON = Target(
    "aarch64-neon", f"aarch64-{_LINUX}", "generic", 16, 32, fma=True, l1_bytes=64 * KIB, l2_bytes=1024 * KIB
)

NAMED = {target.name: target for target in (X86_64, X86_64_V3, X86_64_V4, CASCADE_LAKE, SAPPHIRE_RAPIDS, AARCH64_NEON)}
"""What can be named beside `host`; the caches are those of common machines."""

KEY = register_config("target", str, "host", "the machine that schedules are made for", "stepwell")


def target_named(name: str) -> Target:
    """The target of that name, `host` for this machine; raises `StepwellError` for one that is not known."""
    if name == "host":
        return host_target()
    if name not in NAMED:
        names = ["host", *NAMED]
        hint = did_you_mean(name, names) or f"the targets are {', '.join(names)}"
        raise StepwellError(Diagnostic(f"unknown target '{name}'", hint=hint))
    return NAMED[name]


def chosen_target(option: str | None) -> Target:
    """The target that a pass option names, else the one of the key `target` of the pass context."""
    return target_named(config_value("target") if option is None else option)


@cache
def host_target() -> Target:
    """This machine. What cannot be found out is as in the named target with its registers."""
    flags = cpu_flags()
    base = base_of_host(platform.machine().lower(), flags)
    caches = cache_sizes()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return replace(
        base,
        name="host",
        features=features_of(flags or frozenset()),
        l1_bytes=caches.get(1, base.l1_bytes),
        l2_bytes=caches.get(2, base.l2_bytes),
        l3_bytes=caches.get(3, base.l3_bytes),
        cores=cores,
    )


def base_of_host(machine: str, flags: frozenset[str] | None) -> Target:
    """The named target with the registers of a machine; without flags, that of common machines of the kind."""
    if machine in ("aarch64", "arm64"):
        return AARCH64_NEON
    if flags is None:
        return X86_64_V3 if machine in ("x86_64", "amd64") else X86_64
    if {"avx512f", "avx512vl", "avx512bw", "avx512dq"} <= flags:
        return X86_64_V4
    return X86_64_V3 if {"avx2", "fma"} <= flags else X86_64


def features_of(flags: frozenset[str]) -> frozenset[str]:
    """The features that flags of Linux show; those of AMX only where the system lets this process use it."""
    found = {name for name, needed in FEATURES.items() if flags.issuperset(needed)}
    amx = {name for name in found if name.startswith("amx-")}
    return frozenset(found if not amx or amx_permitted() else found - amx)


def cpu_flags(path: Path = CPU_INFO) -> frozenset[str] | None:
    """The features that Linux names, `None` where there is no such list."""
    try:
        text = path.read_text()
    except OSError:
        return None
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "flags":
            return frozenset(value.split())
    return None


def cache_sizes(folder: Path = CACHES) -> dict[int, int]:
    """Bytes per level of the data caches that Linux names."""
    found: dict[int, int] = {}
    for index in sorted(folder.glob("index*")):
        try:
            level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        number = size.rstrip("KMG")
        if kind == "Instruction" or not number.isdecimal() or not level.isdecimal():
            continue
        found[int(level)] = int(number) * {"K": KIB, "M": KIB**2, "G": KIB**3}.get(size[-1], 1)
    return {level: size for level, size in found.items() if size > 0}
