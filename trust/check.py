"""Runs the program before and after each pass of a pipeline, and ends the run at the first pass that breaks it."""

from __future__ import annotations

import io
import time
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ..core.ir.cloning import clone_op
from ..core.ir.identities import Identities
from ..core.ir.structural_hash import structural_hash
from ..core.messages.diagnostics import Diagnostic, StepwellError, emit_remark
from ..core.messages.files import write_file
from ..core.messages.locations import nearest_source_point
from ..core.messages.points import SourcePoint
from ..core.passes.applications import Applications, counted, counting
from ..core.passes.instrument import Instrument
from ..core.passes.pipelines import PassFailure
from ..lazy_dataclass import dataclass
from ..reference.element_types import Array
from .classes import class_of, weakest
from .compare import Comparison, exactly, nearly
from .entries import Entry, entries, weights_of
from .evaluate import INTERPRETER, CannotRunError, Outcome, evaluate
from .inputs import KINDS, InputSet, given_inputs, made_inputs, shapes_of
from .sensitivity import Sensitivity, sensitivity

SLOW_SECONDS = 1.0
"""A program whose first run takes longer is checked on random inputs only."""


@dataclass(frozen=True)
class CheckOptions:
    """What a check runs programs on."""

    seed: int = 0
    shapes: Sequence[Sequence[int]] | None = None
    inputs: Mapping[str, Any] | None = None
    """Arrays by name, in place of random ones."""
    inputs_file: str = "the inputs"
    save_inputs: str | Path | None = None
    """The file that the inputs of a failing check go to."""
    weights: Mapping[str, Array] | None = None


@dataclass
class Case:
    """One entry at one set of inputs, with what it gave last."""

    entry: Entry
    inputs: InputSet
    outcome: Outcome
    point: SourcePoint | None
    places: tuple[SourcePoint | None, ...]
    """The place of the op that makes each result."""
    sensitivity: Sensitivity | None = None


@dataclass
class Counts:
    """What a run has checked."""

    changed: int = 0
    interpreted: int = 0
    native: int = 0
    open: int = 0
    unsettled: int = 0


@dataclass
class CheckSemantics(Instrument):
    """
    Runs every entry before and after each pass that changes the module, and compares within the class of the pass.

    The first pass that changes a result by more, makes the program fail, or makes it do what no program may do is a
    `StepwellError` with pass, entry, result, index, both values, tolerance and inputs.
    """

    options: CheckOptions = field(default_factory=CheckOptions)
    counts: Counts = field(default_factory=Counts)
    _cases: list[Case] = field(default_factory=list)
    _original: ModuleOp | None = None
    _weights: dict[str, Array] = field(default_factory=dict)
    _depth: int = 0
    _verifies: bool = False
    _before: Identities | None = None
    _hash: str = ""
    _unchecked: list[ModulePass] = field(default_factory=list)
    _reason: str = ""
    _is_long: bool = False
    _index: int = 0
    _classes: set[str] = field(default_factory=set)
    _scope: Any = None
    _applications: Applications | None = None
    _earlier: int = 0

    # The hooks. Pipelines that a pass runs inside itself are left alone: the pass is checked as a whole.

    def before_pipeline(self, passes: Sequence[ModulePass], module: ModuleOp) -> None:
        self._depth += 1
        if self._depth == 1:
            self._start(module)

    def finish(self) -> None:
        self._stop_counting()
        self._depth = max(0, self._depth - 1)
        if self._depth == 0:
            self._cases, self._original, self._before = [], None, None
            self._verifies = False

    def after_verify(self, pass_: ModulePass | None, module: ModuleOp) -> None:
        if pass_ is None:
            self._verifies |= self._depth == 0
        elif self._depth == 1:
            self._check(pass_, module)

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        if self._depth != 1:
            return
        self._index = index
        if counted() is None:
            self._scope = counting()
            self._applications = self._scope.__enter__()

    def after_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        if self._depth != 1:
            return
        running = self._applications or counted()
        self._classes = set() if running is None else set(running.classes)
        self._stop_counting()
        if not self._verifies:
            self._check(pass_, module)

    def failed_pass(self, pass_: ModulePass, index: int, error: Exception) -> None:
        self._stop_counting()

    def report(self) -> str:
        counts = self.counts
        how = f"{counts.interpreted} runs {INTERPRETER}, {counts.native} natively"
        left = f"{counts.open} elements and {counts.unsettled} runs left open"
        return f"check-semantics: {counts.changed} passes changed the program, {how}; {left}"

    def _stop_counting(self) -> None:
        if self._scope is not None:
            self._scope.__exit__(None, None, None)
            self._scope = self._applications = None

    def after_pipeline(self, module: ModuleOp) -> None:
        if self._depth == 1 and self._unchecked:
            names = ", ".join(f"'{each}'" for each in self._unchecked)
            emit_remark(module, f"not checked: {names}: {self._reason}")

    # The program as it is given

    def _start(self, module: ModuleOp) -> None:
        self._original = clone_op(module)
        self._before, self._hash = Identities(module), structural_hash(module)
        self._unchecked, self._cases, self._is_long = [], [], False
        self._weights = dict(self.options.weights or {}) or weights_of(module, self.options.seed)
        found, skipped = entries(module)
        for op, reason in skipped:
            emit_remark(op, f"@{_name(op)} is not checked: {reason}")
        for entry in found:
            try:
                self._cases += self._cases_of(entry, module)
            except CannotRunError as error:
                emit_remark(entry.op, f"@{entry.name} is not checked: {error}")

    def _cases_of(self, entry: Entry, module: ModuleOp) -> list[Case]:
        point = nearest_source_point(entry.op)
        places = tuple(_places(entry.op))
        if self.options.inputs is not None:
            given = given_inputs(entry, self.options.inputs, self.options.inputs_file)
            return [Case(entry, given, self._run(module, entry.name, given, ()), point, places)]
        shapes = shapes_of(entry, self.options.shapes)
        found: list[Case] = []
        for kind in KINDS:
            started = time.perf_counter()
            inputs = made_inputs(entry, kind, self.options.seed, shapes)
            outcome = self._run(module, entry.name, inputs, ())
            if kind == "random" and not outcome.is_right:
                inputs = made_inputs(entry, kind, self.options.seed, shapes, most=1)
                outcome = self._run(module, entry.name, inputs, ())
            if outcome.is_right:
                found.append(Case(entry, inputs, outcome, point, places))
            else:
                self.counts.unsettled += 1
            if time.perf_counter() - started > SLOW_SECONDS:
                break
        if not found:
            raise CannotRunError("it fails on all inputs that were tried; give some by --inputs")
        return found

    def _run(self, module: ModuleOp, entry: str, inputs: InputSet, outputs: Sequence[Array]) -> Outcome:
        outcome = evaluate(module, entry, inputs.arrays, self._weights, outputs, natively_first=self._is_long)
        self._is_long |= outcome.is_long
        if outcome.how == INTERPRETER:
            self.counts.interpreted += 1
        else:
            self.counts.native += 1
        return outcome

    # After a pass

    def _check(self, pass_: ModulePass, module: ModuleOp) -> None:
        if self._before is None or self._before.hold():
            return
        self._before = Identities(module)
        now = structural_hash(module)
        if now == self._hash:
            return
        self._hash = now
        self.counts.changed += 1
        self._unchecked.append(pass_)
        numerics = weakest([class_of(each, self._classes) for each in self._unchecked])
        try:
            for case in self._cases:
                self._check_case(case, pass_, numerics, module)
        except CannotRunError as error:
            self._reason = str(error)
            return
        self._unchecked = []

    def _check_case(self, case: Case, pass_: ModulePass, numerics: str, module: ModuleOp) -> None:
        before, old = case.outcome, case.outcome.arrays
        after = self._run(module, case.entry.name, case.inputs, old)
        if not after.is_right:
            what = after.fault or after.failure
            self._fail(case, pass_, f"makes @{case.entry.name} fail: {what}", numerics, after, None)
        found = after.arrays
        if len(found) != len(old) or any(a.shape != b.shape for a, b in zip(found, old, strict=True)):
            shapes = ", ".join(str(list(each.shape)) for each in found) or "nothing"
            self._fail(case, pass_, f"makes @{case.entry.name} return {shapes}", numerics, after, None)
        comparison = self._compared(case, before, after, numerics)
        self.counts.open += comparison.open
        if comparison.mismatch is not None:
            message = f"changes a result of @{case.entry.name}: {comparison.mismatch}"
            self._fail(case, pass_, message, numerics, after, comparison.mismatch.result)
        case.outcome = after

    def _compared(self, case: Case, before: Outcome, after: Outcome, numerics: str) -> Comparison:
        if numerics == "exact" and before.how == after.how:
            return exactly(before.arrays, after.arrays)
        if exactly(before.arrays, after.arrays).mismatch is None:
            return Comparison()
        if case.sensitivity is None:
            assert self._original is not None
            case.sensitivity = sensitivity(self._original, case.entry.name, case.inputs, self._weights, before.arrays)
        if case.sensitivity.overflows:
            self.counts.unsettled += 1
            return Comparison()
        return nearly(before.arrays, after.arrays, case.sensitivity.slacks, special=numerics != "fast")

    def _fail(
        self, case: Case, pass_: ModulePass, what: str, numerics: str, after: Outcome, result: int | None
    ) -> None:
        point = case.point if result is None or result >= len(case.places) else case.places[result] or case.point
        several = len(self._unchecked) > 1
        names = ", ".join(f"'{each}'" for each in self._unchecked)
        subject = f"one of the passes {names}" if several else f"pass '{pass_}'"
        error = StepwellError(Diagnostic(f"{subject} {what}", "error", point))
        number = f"number {self._index + 1} of the pipeline, class {numerics}, {case.inputs}"
        how = f"before it was run {case.outcome.how}, after it {after.how}"
        error.diagnostic = error.diagnostic.with_note(f"{number}; {how}")
        if after.is_long and not case.outcome.is_long:
            note = (
                "the program is too long for the interpreter: the passes of O0, which lower the rest, may be wrong too"
            )
            error.diagnostic = error.diagnostic.with_note(note)
        if self.options.save_inputs is not None:
            save_inputs(self.options.save_inputs, case)
            note = f"the inputs are in {self.options.save_inputs}: repeat with --inputs"
            error.diagnostic = error.diagnostic.with_note(note)
        error.failed_pass = PassFailure(pass_, self._index + 1, "check-semantics")  # pyright: ignore
        raise error


def save_inputs(path: str | Path, case: Case) -> None:
    """Writes the inputs of a case to a `.npz` file, by name."""
    data = io.BytesIO()
    arrays = {each.name: array for each, array in zip(case.entry.inputs, case.inputs.arrays, strict=True)}
    np.savez(data, **arrays)  # pyright: ignore[reportArgumentType]
    write_file(str(path), data.getvalue())


def _name(op: Operation) -> str:
    return getattr(op.get_attr_or_prop("sym_name"), "data", "?")


def _places(op: Operation) -> list[SourcePoint | None]:
    """Returns where the ops stand that make the results of a function on tensors."""
    last = op.regions[0].blocks[0].last_op
    if op.name != "func.func" or last is None:
        return []
    return [nearest_source_point(each.owner) if isinstance(each.owner, Operation) else None for each in last.operands]
