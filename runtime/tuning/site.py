"""What the measurements of one database have in common."""

from __future__ import annotations

from ...core.fingerprint import compiler_fingerprint
from ...machine.named import machine_named
from ...schedule.tuned.records import target_key


def site() -> str:
    """Returns the processor and caches of this machine and the compiler of this process, for people to read too."""
    return f"{target_key(machine_named('host'))}, compiler {compiler_fingerprint()}"
