"""A name for the compiler as it stands: its sources and the packages that it makes code with."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

from .installed import version_of

ROOMS = ("analysis", "dialects", "lowering", "machine", "schedule")
"""What decides which code a loop function becomes."""

DIGITS = 12


@cache
def compiler_fingerprint() -> str:
    """
    A hash over the Python files of `ROOMS` and the versions of xDSL and llvmlite: what has been measured of one
    schedule says nothing about it once that has changed.
    """
    root = Path(__file__).resolve().parent.parent
    digest = sha256(f"xdsl {version_of('xdsl')} llvmlite {version_of('llvmlite')}".encode())
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:DIGITS]
