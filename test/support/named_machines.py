"""Programs compiled for a machine that is named, and run on this one, which can do what that one can."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import pytest
from counts import FULL
from stepwell.core.passes.context import PassContext
from stepwell.machine.families import NAMED
from stepwell.runtime.errors import CompileError
from stepwell.runtime.native.targets import check_runs_here

PRODUCT = """
func.func @main(%x: tensor<30x70xf32>, %w: tensor<70x90xf32>) -> tensor<30x90xf32> {
  %y = graph.matmul %x, %w : (tensor<30x70xf32>, tensor<70x90xf32>) -> tensor<30x90xf32>
  func.return %y : tensor<30x90xf32>
}"""
V2_FLAGS = {"asimd", "fphp", "asimdhp", "asimddp", "sve", "sve2", "svei8mm", "svebf16", "i8mm", "bf16"}
"""What Linux shows of a Neoverse V2, as far as it matters here."""

TO_TILES = "lower-graph-to-loops,fuse-loops,inline-loops,schedule-cpu"
EVERY = pytest.mark.parametrize("name", NAMED)

SCHEDULING = ("apply-tuning", "plan-schedules", "prepack-weights", "apply-schedule-plan")
"""The passes of O3 that decide by the target how loops are ordered and cut."""


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


def wide_targets() -> list[str]:
    """
    The named machines with registers of 64 bytes whose instructions this one has. CI takes one for each set of
    instructions that multiply bytes: without such, their code for bytes is the same.
    """
    wide = {name: each.features for name, each in NAMED.items() if each.register_bytes == 64 and runs_here(name)}
    if FULL:
        return list(wide)
    one_of_each = {features & {"avx512vnni", "amx-int8"}: name for name, features in wide.items()}
    return [name for products, name in one_of_each.items() if products] or list(one_of_each.values())
