"""The pass `apply-tuning`: schedules that tuning has found, put on the kernels they were found for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as replace_fields
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException, ParseError

from ...core.fingerprint import compiler_fingerprint
from ...core.messages.diagnostics import OperationError, emit_remark, listening, warn_about
from ...core.passes.applications import allowed
from ...core.passes.base import StepwellPass, collecting_statistics
from ...core.text.parsing import parse_text
from ...dialects.schedule import ProgramOp, StepOp
from ...lazy_dataclass import dataclass
from ...machine.named import chosen_machine
from ..default.cpu import ScheduleCPUPass
from ..default.prepack import PrepackWeightsPass
from ..program.replay import Replay
from .kernels import Kernel, kernels_of
from .records import BEST, Record, best_records, read_records


@dataclass(frozen=True)
class ApplyTuningPass(StepwellPass):
    """
    Runs the schedules that a tuning database holds for the loop functions of a module.

    A function is looked up by its structural hash and the target. A remark tells that it changes, and by how much it
    got faster when it was tuned. Functions that the database does not know are left to `prepack-weights` and
    `schedule-cpu`.

    Before (`database` holds a schedule for this kernel, with
    `schedule.annotate %b "stepwell.tiling" with #schedule.tiling<...>`):

        tensor_loop.grid (%m, %n, %k) in (16, 64, 256) { tensor_loop.block "matmul" ... { ... } }

    Schedules measured with other sources of the compiler are not used, unless `any-compiler` is set. A schedule that is
    not legal for its kernel (any more) is left out with a warning. Without `database` the pass does nothing.
    `stepwell.compile` fills it in (docs/tuning.md). Raises where the file cannot be read.

        tensor_loop.grid (%m, %n, %k) in (16, 64, 256) {
          tensor_loop.block "matmul" ... attributes {stepwell.tiling = #schedule.tiling<rows = 8,
              columns = 32>} { ... } }

    Schedules measured with other sources of the compiler are not used, unless `any-compiler`; one that is not legal for
    its kernel (any more) is left out with a warning. Without `database` the pass does nothing; `stepwell.compile` fills
    it in (docs/tuning.md). Raises where the file cannot be read.
    """

    name = "apply-tuning"

    database: str | None = None
    target: str | None = None
    any_compiler: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.database is None:
            return
        records = read_records(Path(self.database), BEST)
        compiler = None if self.any_compiler else compiler_fingerprint()
        best = best_records(records, chosen_machine(self.target), compiler)
        for kernel in kernels_of(op) if best else []:
            record = best.get(kernel.hash)
            if record is not None and self._put_on(ctx, op, kernel, record):
                self.count("tuned schedules applied")

    def _put_on(self, ctx: Context, module: ModuleOp, kernel: Kernel, record: Record) -> bool:
        function = kernel.function
        try:
            program = program_of(ctx, record.program, f"{self.database}, kernel {record.kernel}")
            self._try(ctx, program, kernel)
        except (DiagnosticException, ParseError, OperationError) as error:
            warn_about(function, f"the tuned schedule of @{kernel.name} is left out: {_first_line(error)}")
            return False
        replay(kernel.renamed(program), module)
        text = f"@{kernel.name} takes a tuned schedule of {record.date or 'unknown date'}"
        emit_remark(function, text if record.ratio is None else f"{text}, {record.ratio:.2f} × as fast when measured")
        return True

    def _try(self, ctx: Context, program: ProgramOp, kernel: Kernel) -> None:
        """
        Runs a schedule on a copy of the kernel, and the passes that use its attributes. Raises where it is not legal.
        """
        copy = kernel.module.clone()
        replay(program, copy)
        with collecting_statistics(), listening(lambda _: None):
            PrepackWeightsPass(self.target).apply(ctx, copy)
            ScheduleCPUPass(self.target).apply(ctx, copy)


def with_database(passes: Sequence[ModulePass], database: Path | None) -> list[ModulePass]:
    """Returns `passes` with the file for those `apply-tuning` that name none."""
    return [
        replace_fields(each, database=str(database))
        if isinstance(each, ApplyTuningPass) and each.database is None and database is not None
        else each
        for each in passes
    ]


def program_of(ctx: Context, text: str, name: str) -> ProgramOp:
    """
    Returns the one `schedule.program` of a text. Raises the parser's errors, and a ParseError where there is none.
    """
    module = parse_text(ctx, text, name)
    module.verify()
    programs = [op for op in module.ops if isinstance(op, ProgramOp)]
    if len(programs) != 1:
        raise DiagnosticException(f"{len(programs)} 'schedule.program', expected one")
    return programs[0]


def replay(program: ProgramOp, module: ModuleOp) -> None:
    """Runs the steps of `program` on `module`. Raises at the first one that is not legal."""
    run = Replay(module)
    for step in program.body.block.ops:
        assert isinstance(step, StepOp)
        if not allowed("schedule", step.name, step):
            break  # The steps after it may need what it makes.
        run.run(step)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
