"""The machine that this process runs on."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from functools import cache
from pathlib import Path

from .amx import amx_permitted
from .families import FEATURES, base_of_host
from .machine import KIB, Machine

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
CPU_INFO = Path("/proc/cpuinfo")


@cache
def host_machine() -> Machine:
    """Returns this machine. What cannot be found out is as in the named machine with its registers."""
    flags = cpu_flags()
    base = base_of_host(platform.machine().lower(), flags, cpu_model())
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


def features_of(flags: frozenset[str]) -> frozenset[str]:
    """Returns the features that flags of Linux show, those of AMX only where the system lets this process use it."""
    found = {name for name, needed in FEATURES.items() if flags.issuperset(needed)}
    amx = {name for name in found if name.startswith("amx-")}
    return frozenset(found if not amx or amx_permitted() else found - amx)


def cpu_flags(path: Path = CPU_INFO) -> frozenset[str] | None:
    """Returns the features that Linux names, `None` where there is no list of them."""
    try:
        text = path.read_text()
    except OSError:
        return None
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("flags", "Features"):  # of x86-64 and of Arm
            return frozenset(value.split())
    return None


def cpu_model(path: Path = CPU_INFO) -> tuple[str, int] | None:
    """Returns vendor and family of the first processor that Linux names, `None` where it does not tell them."""
    try:
        text = path.read_text()
    except OSError:
        return None
    words = {key.strip(): value.strip() for key, _, value in (each.partition(":") for each in text.splitlines()[:40])}
    family = words.get("cpu family", "")
    return (words.get("vendor_id", ""), int(family)) if family.isdecimal() else None


def cache_sizes(folder: Path = CACHES) -> dict[int, int]:
    """Returns the bytes per level of the data caches that Linux names."""
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


def processor_name(path: Path = CPU_INFO) -> str:
    """Returns what the first processor of this machine calls itself."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return "unknown processor"
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "unknown processor")
