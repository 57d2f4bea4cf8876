"""What a fuzzer asks of a program: do the results stay right through a pipeline, and in machine code."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from ...core.ir.cloning import clone_op
from ...core.messages.diagnostics import StepwellError
from ...core.passes.applications import counting
from ...core.passes.pipeline_text import parse_pipeline
from ...core.passes.pipelines import BrokenByPassError, PassFailure, run_pipeline
from ...core.text.errors import diagnostic_of
from ...lazy_dataclass import dataclass
from ...reference.element_types import Array
from ...te.dtypes import FLOATS
from ..check import CheckSemantics
from ..classes import class_of, weakest
from ..compare import exactly, nearly
from ..entries import Entry, entries, weights_of
from ..evaluate import CannotRunError, Outcome, compiled, evaluate
from ..inputs import InputSet
from ..reduce.predicates import Wrong
from ..reduce.subject import Subject
from ..sensitivity import sensitivity


@dataclass
class Right(Wrong):
    """
    The question whether a program computes the same through a pipeline and in machine code.

    A valid program that ends in an error or in a crash is not right either. With `each` the results are compared after
    each pass by the interpreter, which sees accesses that machine code forgives, and takes longer.
    """

    each: bool = False
    threads: int = 1
    verify: bool = True
    """Unset where it is known that no pass makes invalid IR, since that takes a good part of the time."""

    def kind(self, subject: Subject) -> str | None:
        module = subject.parsed()
        try:
            return self._checked(module) if self.each else self._compared(module)
        except BrokenByPassError as error:
            return f"invalid IR: {error.diagnostic.message.partition(':')[0]}"
        except CannotRunError:
            return None
        except DiagnosticException as error:
            return f"error: {diagnostic_of(error).message[:60]}"
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            return f"crash: {type(error).__name__} in {Path(frame.filename).name}:{frame.name}"

    def _checked(self, module: ModuleOp) -> str | None:
        try:
            run_pipeline(self.context, module, self.pipeline, instruments=[CheckSemantics(self.options)])
        except StepwellError as error:
            failure = getattr(error, "failed_pass", None)
            if isinstance(failure, PassFailure) and failure.stage == "check-semantics":
                return f"wrong after {failure.pass_.name}"
            raise
        return None

    def _compared(self, module: ModuleOp) -> str | None:
        passes = parse_pipeline(self.pipeline)
        after = clone_op(module)
        weights = dict(self.options.weights or {}) or weights_of(module, self.options.seed)
        with counting() as applied:
            run_pipeline(self.context, after, passes, verify_each=self.verify)
        numerics = weakest([class_of(each, applied.classes) for each in passes])
        for entry in entries(module)[0]:
            cases = self._cases(module, entry, weights)
            if cases and _is_wrong(module, after, entry, cases, weights, numerics, self.threads):
                return "wrong"
        return None

    def _cases(self, module: ModuleOp, entry: Entry, weights: Mapping[str, Array]) -> list[tuple[InputSet, Outcome]]:
        found: list[tuple[InputSet, Outcome]] = []
        has_floats = any(each.dtype in FLOATS for each in entry.inputs)
        for inputs in self._inputs(entry):
            if inputs.kind == "extremes" and has_floats:
                continue  # What overflows inside of an op, such as a sum of squares, is left open.
            outcome = evaluate(module, entry.name, inputs.arrays, weights)
            if outcome.is_right:
                found.append((inputs, outcome))
        return found


def _is_wrong(
    before: ModuleOp,
    after: ModuleOp,
    entry: Entry,
    cases: Sequence[tuple[InputSet, Outcome]],
    weights: dict[str, Array],
    numerics: str,
    threads: int,
) -> bool:
    """
    Returns whether `after` gives other results.

    A program on the llvm level becomes machine code, once and in this process. Others are interpreted.
    """
    is_low = any(op.name == "llvm.func" for op in after.body.block.ops)
    run = compiled(after, entry.name, weights, threads) if is_low else None
    for inputs, old in cases:
        new = evaluate(after, entry.name, inputs.arrays, weights, old.arrays) if run is None else run(inputs.arrays)
        if not new.is_right or [a.shape for a in old.arrays] != [a.shape for a in new.arrays]:
            return True
        if exactly(old.arrays, new.arrays).mismatch is None:
            continue
        slack = sensitivity(before, entry.name, inputs, weights, old.arrays, numerics)
        if slack.overflows:
            continue
        if nearly(old.arrays, new.arrays, slack.slacks, numerics, infinite=inputs.is_infinite).mismatch is not None:
            return True
    return False
