"""Programs compiled for a machine that is named, and run on this one, which can do what that one can."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from stepwell.core.passes.context import PassContext
from stepwell.runtime.errors import CompileError
from stepwell.runtime.native.targets import check_runs_here

SCHEDULING = ("apply-tuning", "prepack-weights", "schedule-cpu")
"""The passes that decide by the target how loops are ordered and cut."""


def runs_here(name: str) -> bool:
    """Whether this processor has the instructions of a machine."""
    try:
        check_runs_here(name)
    except CompileError:
        return False
    return True


def as_machine(name: str) -> AbstractContextManager[object]:
    """Inside, `stepwell.compile` makes schedules and machine code for the machine `name`."""
    return nullcontext() if name == "host" else PassContext(config={"target": name})


def scheduled_for(name: str, opt_level: int = 3) -> PassContext:
    """Inside, schedules are for the machine `name`, and machine code is for this one."""
    return PassContext(opt_level, config={f"{each}.target": name for each in SCHEDULING})
