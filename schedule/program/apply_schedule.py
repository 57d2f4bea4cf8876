"""The pass `apply-schedule`: a schedule from a file, run on the loop functions of a module."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...core.ir.verification import verify_module
from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.messages.origins import inherit
from ...core.passes.applications import allowed
from ...core.passes.base import StepwellPass
from ...core.text.parsing import parse_text, read_source
from ...dialects.schedule import ProgramOp, StepOp
from ...lazy_dataclass import dataclass
from .replay import Replay


def read_program(ctx: Context, file: str) -> tuple[ProgramOp, ...]:
    """Returns the `schedule.program`s of a file, verified. Raises `StepwellError` where there is none."""
    module = parse_text(ctx, read_source(file), file)
    verify_module(module)
    found = tuple(op for op in module.ops if isinstance(op, ProgramOp))
    if not found:
        raise StepwellError(Diagnostic(f"'{file}' holds no 'schedule.program'"))
    return found


@dataclass(frozen=True)
class ApplySchedulePass(StepwellPass):
    """
    Runs the steps of a schedule on the loop functions that it names.

    Before (with `%b = schedule.get_block "relu" in @f`, `%i = schedule.get_loops %b : 1`,
    `%i0, %i1 = schedule.split %i [?, 8]` in `file`):

        tensor_loop.grid (%i) in (64) { tensor_loop.block "relu" spatial(%vi in 64 = %i) ... }

    After:

        tensor_loop.for %i0 in 8 { tensor_loop.for %i1 in 8 {
          tensor_loop.block "relu" spatial(%vi in 64 = %i0 * 8 + %i1) ... } }

    Without `file` the programs that stand in the module itself are run and taken out of it. `check` runs each function
    on small random inputs before the first step and after every one, and blames the step that changes a result. Steps
    that sample and hold no decision take one by `seed`. Raises where a step is not legal, at the loop or block that is
    to blame, with the place of the step.
    """

    name = "apply-schedule"

    file: str = ""
    check: bool = False
    seed: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.file:
            programs = read_program(ctx, self.file)
        else:
            programs = tuple(each for each in op.ops if isinstance(each, ProgramOp))
            for program in programs:
                program.detach()
        for program in programs:
            self.replay(program, op)
        inherit(op)

    def replay(self, program: ProgramOp, module: ModuleOp) -> None:
        observer = None
        if self.check:
            from .check import Checker

            observer = Checker(module).after
        replay = Replay(module, observer, self.seed)
        for step in program.body.block.ops:
            assert isinstance(step, StepOp)
            if not allowed("schedule", step.name, step):
                break  # The steps after it may need what it makes.
            replay.run(step)
            self.count("schedule steps")
        verify_module(module)
