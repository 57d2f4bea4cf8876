"""
The schedules of a kernel that are tried: choices for each of its blocks around those of the default schedule.

A *knob* is one choice, whose first value is the default's. A candidate has a value for every knob, and becomes a
`schedule.program` that says what differs from the default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.utils.exceptions import DiagnosticException

from ....core.passes.context import PassContext
from ....core.passes.pipelines import run_pipeline
from ....core.text.parsing import make_context
from ....dialects.tensor_loop import BlockOp, FuncOp, GridOp
from ....lazy_dataclass import dataclass
from ....machine.named import machine_named
from ....schedule.grouped.split import split_all_groups
from ....schedule.program.interactive import Schedule
from ....schedule.tuned.kernels import NAME, Kernel
from .bytes import byte_space
from .contraction import ContractionSpace, contraction_space
from .depthwise import depthwise_space, spread_space
from .grain import GrainSpace
from .nest import nest_space
from .winograd import with_winograd

Choice = tuple[int, ...]
"""The number of a value for each knob of a space. All 0 is the default."""

_PROBE = "stepwell.probe"
SCHEDULED = "prepack-weights{flush=weights},schedule-cpu{flush=weights}"


@dataclass(frozen=True)
class Knob:
    """One choice of a block."""

    block: str
    name: str
    values: tuple[Any, ...]


class BlockSpace(Protocol):
    """The knobs of a block, and what their values mean."""

    @property
    def block(self) -> str:
        """The name of the block."""
        ...

    def knobs(self) -> Mapping[str, tuple[Any, ...]]:
        """Returns the values by name, the default's first."""
        ...

    def apply(self, schedule: Schedule, values: Mapping[str, Any]) -> None:
        """Does with `schedule` what `values` say. Raises as its primitives do where that is not legal."""
        ...


class Space:
    """All knobs of a kernel."""

    def __init__(self, kernel: Kernel, target: str = "host", threads: int = 1):
        self.kernel = kernel
        self.blocks = tuple(_block_spaces(kernel, target, threads))
        self.knobs = tuple(
            Knob(block.block, name, values)
            for block in self.blocks
            for name, values in block.knobs().items()
            if len(values) > 1
        )

    @property
    def size(self) -> int:
        """The number of candidates, legal or not."""
        total = 1
        for knob in self.knobs:
            total *= len(knob.values)
        return total

    def program(self, choice: Choice) -> str | None:
        """Returns the text of the schedule, or None where a step is not legal. That of the default has no steps."""
        schedule = Schedule(self.kernel.module.clone())
        chosen = {
            (knob.block, knob.name): (knob.values[number], number)
            for knob, number in zip(self.knobs, choice, strict=True)
        }
        for block in self.blocks:
            values = {name: chosen.get((block.block, name), (given[0], 0)) for name, given in block.knobs().items()}
            if not any(number for _, number in values.values()):
                continue
            try:
                block.apply(schedule, {name: value for name, (value, _) in values.items()})
            except DiagnosticException:
                return None
        return str(schedule.program())


def _block_spaces(kernel: Kernel, target: str, threads: int) -> Sequence[BlockSpace]:
    found: list[BlockSpace] = []
    machine = machine_named(target)
    left = _left_as_loops(kernel, target)
    module = kernel.module.clone()
    split_all_groups(module)  # As `plan-schedules` does, before it decides.
    for grid in _grids(module):
        space: BlockSpace | None = spread_space(grid, machine) or contraction_space(grid, _constants(kernel), machine)
        if isinstance(space, ContractionSpace):
            takes = _takes_tilings(kernel, space, target)
            space = byte_space(space) or (with_winograd(space) if takes else None)
        elif space is None:
            space = depthwise_space(grid, machine) or nest_space(grid, left)
        if space is not None:
            found.append(space)
    if threads > 1 and kernel.blocks:
        found.append(GrainSpace("block0"))
    return found


def _takes_tilings(kernel: Kernel, space: ContractionSpace, target: str) -> bool:
    """Returns whether the contraction is cut into register tiles, as products of bytes may not be."""
    module = kernel.module.clone()
    space.apply(Schedule(module), {name: values[0] for name, values in space.knobs().items()})
    try:
        _schedule(module, target)
    except DiagnosticException:
        return False
    return True


def _grids(module: ModuleOp) -> list[GridOp]:
    return [op for op in module.walk() if isinstance(op, GridOp)]


def _constants(kernel: Kernel) -> frozenset[int]:
    """Returns the inputs that are laid out when the program is loaded."""
    return frozenset(number for number, known in enumerate(kernel.constant) if known)


def _left_as_loops(kernel: Kernel, target: str) -> frozenset[str]:
    """Returns the names of the blocks whose grids become single loops by default, for want of anything better."""
    module = kernel.module.clone()
    for op in module.walk():
        if isinstance(op, BlockOp):
            op.attributes[_PROBE] = UnitAttr()
    _schedule(module, target)
    function = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == NAME)
    return frozenset(
        op.block_name.data for op in function.walk() if isinstance(op, BlockOp) and _PROBE in op.attributes
    )


def _schedule(module: ModuleOp, target: str) -> None:
    with PassContext(opt_level=3, config={"target": target}):
        run_pipeline(make_context(), module, SCHEDULED, verify_each=False)
