"""`stepwell-run --time`: where the time goes from the start of the process to the first result."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...core.messages.stages import note_stage, recorded_stages
from ...core.passes.instruments import Timing

LOADED = time.perf_counter()


def seconds_of_process() -> float:
    """Returns how long this process has run. Where the system does not say, it is the time since this file was read."""
    try:
        start = float(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - start / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError, IndexError):
        return time.perf_counter() - LOADED


class Times:
    """The stages of one run of the command. What has no name of its own is `other`."""

    def __init__(self) -> None:
        self.passes = Timing()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Takes the times of the stages inside the block."""
        with recorded_stages() as self._stages:
            yield

    def report(self) -> str:
        """Returns a table of all stages up to the first result, in order."""
        total = seconds_of_process()
        rows = [*self._stages]
        place = next((index for index, (name, _) in enumerate(rows) if name == "machine code"), len(rows))
        rows[place:place] = [(f"pass {name}", run + verify) for name, run, verify in self.passes.rows]
        rows.append(("other", max(0.0, total - sum(seconds for _, seconds in rows))))
        rows.append(("total", total))
        return "\n".join([f"{'seconds':>10}  stage", *(f"{seconds:10.3f}  {name}" for name, seconds in rows)])


def load_compiler() -> None:
    """Imports what every run needs, so that the stages do not take the time of that."""
    from ...runtime.executable import Executable

    assert Executable
    note_stage("import", seconds_of_process())
