"""Testing rules that decide about loops: kernels take what is decided in random programs, and values stay the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from zlib import crc32

import numpy as np
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerType, MemRefType, ModuleOp
from xdsl.utils.exceptions import VerifyException

from ...core.messages.diagnostics import OperationError, StepwellError, listening
from ...core.passes.pipelines import run_pipeline
from ...core.text.parsing import parse_text
from ...dialects.tensor_loop import FuncOp
from ...patterns.language.rules import Rule
from ...reference.failure import ReferenceFailure
from ...reference.loops.faults import LoopFault
from ...reference.loops.run import run_loops
from ...reference.properties import element_type_name
from ...schedule.default.schedule_rules import ScheduleRules
from ..programs.loop_generators import SIZES, TILES, random_copy
from ..programs.program_generators import random_program
from ..programs.values import arrays_of
from .checking import Settings
from .compare import Array, Outcome, difference, outcome_of, says_something
from .reporting import Report, counterexample

MOST_ELEMENTS: Final = 2**12
"""The elements of an argument up to which programs are run. Larger ones are only scheduled."""

OBEYED: Final = "plan-schedules,apply-schedule-plan"
"""The passes that obey what rules decide, or refuse it."""


class DecisionCheck:
    """One rule about loops being tested."""

    def __init__(self, ctx: Context, rule: Rule, settings: Settings):
        self._ctx = ctx
        self._rule = rule
        self._settings = settings
        self.report = Report(rule)

    def run(self) -> Report:
        """Draws programs until the rule has decided in `cases` of them or one is different."""
        report, cases = self.report, self._settings.cases
        while report.applied < cases and report.tried < 16 * cases + 40:
            number = report.tried
            report.tried += 1
            seed = crc32(f"{self._rule.name}/{self._settings.seed}/{number}".encode())
            if not self._try(number, seed):
                report.verdict = "different"
                return report
        if report.applied >= max(min(cases, 8) // 2, 1) and report.runs:
            report.verdict = "equal"
        else:
            report.reason = f"the rule decided in {report.applied} of {report.tried} programs"
        return report

    def _program(self, number: int, seed: int) -> tuple[ModuleOp, Sequence[Array] | None]:
        """A copy, or in one of eight a graph program that was lowered, with values for its arguments."""
        if number % 8 == 7:
            program = random_program(seed, 2)
            module = parse_text(self._ctx, program.text, self._rule.name)
            run_pipeline(self._ctx, module, "lower-graph-to-loops")
            return module, program.inputs
        sizes = TILES if number % 4 else SIZES
        module = parse_text(self._ctx, random_copy(seed, sizes), self._rule.name)
        function = module.body.block.first_op
        assert isinstance(function, FuncOp)
        return module, _arguments(function, seed)

    def _try(self, number: int, seed: int) -> bool:
        before, arguments = self._program(number, seed)
        after = before.clone()
        try:
            with listening(lambda diagnostic: None):
                rules = ScheduleRules(self._ctx, [self._rule], after, ())
                if not [each for op in list(after.walk()) for each in rules.decide(op)]:
                    return True
                self.report.applied += 1
                run_pipeline(self._ctx, after, OBEYED)
        except (OperationError, StepwellError, VerifyException) as error:
            self.report.reason = str(error).strip()
            self.report.counterexample = counterexample(before, after, (), None, None)
            return False
        if arguments is None:
            return True
        wanted, found = _outcome(before, arguments), _outcome(after, arguments)
        if wanted.failure is not None:
            return True
        self.report.runs += says_something(wanted, self._rule.numerics)
        reason = difference(wanted, found, self._rule.numerics)
        if reason is not None:
            self.report.reason = reason
            self.report.counterexample = counterexample(before, after, arguments, wanted, found)
        return reason is None


def _arguments(function: FuncOp, seed: int) -> list[Array] | None:
    """Values for the inputs, `None` where they are too many to be interpreted or have no element type in NumPy."""
    arrays: list[Array] = []
    for number, buffer in enumerate(function.inputs):
        type_ = buffer.type
        assert isinstance(type_, MemRefType)
        element: Any = type_.get_element_type()
        if np.prod(type_.get_shape()) > MOST_ELEMENTS or isinstance(element, IntegerType) and element.width.data % 8:
            return None
        arrays.append(arrays_of(seed + number, tuple(type_.get_shape()), element_type_name(element), "any"))
    return arrays


def _outcome(module: ModuleOp, arguments: Sequence[Array]) -> Outcome:
    if any(isinstance(op, func.FuncOp) and op.sym_name.data == "main" for op in module.body.ops):
        return outcome_of(module, arguments)
    try:
        return Outcome(run_loops(module, "f", arguments))
    except (LoopFault, ReferenceFailure) as error:
        return Outcome(failure=str(error))


__all__ = ["DecisionCheck"]
