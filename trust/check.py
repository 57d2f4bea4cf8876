"""Runs the program before and after each pass of a pipeline, and ends the run at the first pass that breaks it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from itertools import groupby
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ..core.ir.cloning import clone_op
from ..core.ir.identities import Identities
from ..core.ir.structural_hash import structural_hash
from ..core.messages.diagnostics import Diagnostic, StepwellError, emit_remark
from ..core.messages.locations import nearest_source_point
from ..core.messages.points import SourcePoint
from ..core.passes.applications import Applications, counted, counting
from ..core.passes.instrument import Instrument
from ..core.passes.pipeline_text import parse_pipeline
from ..core.passes.pipelines import PassFailure
from ..lazy_dataclass import dataclass
from ..reference.element_types import Array
from .cases import Case, CheckOptions, Counts, Failed, Found
from .classes import class_of, weakest
from .compare import Comparison, exactly, nearly
from .entries import Entry, entries, weights_of
from .evaluate import (
    INTERPRETER,
    LOWERING,
    MOST_STEPS,
    NATIVE,
    STEPS_TO_BE_SURE,
    CannotRunError,
    Outcome,
    evaluate_all,
    interpreted,
)
from .inputs import KINDS, InputSet, given_inputs, made_inputs, save_inputs, shapes_of
from .pace import Pace
from .races import Races
from .sensitivity import sensitivity

SLOW_SECONDS = 1.0
"""A program whose first run takes longer is checked on random inputs only."""


@dataclass
class CheckSemantics(Instrument):
    """
    Runs every entry before and after each pass that changes the module, and compares within the class of the pass.

    The first pass that changes a result by more, makes the program fail, or makes it do what no program may do is a
    `StepwellError` with pass, entry, result, index, both values, tolerance and inputs.
    """

    options: CheckOptions = field(default_factory=CheckOptions)
    counts: Counts = field(default_factory=Counts)
    cases: list[Case] = field(default_factory=list)
    weights: dict[str, Array] = field(default_factory=dict)
    failed: Failed | None = None
    """What ended the run."""
    _original: ModuleOp | None = None
    _depth: int = 0
    _verifies: bool = False
    _before: Identities | None = None
    _hash: str = ""
    _unchecked: list[ModulePass] = field(default_factory=list)
    """The passes that have changed the program since the last check."""
    _since: int = 0
    """The place of the first of them."""
    _reason: str = ""
    _is_long: bool = False
    _max_steps: int = MOST_STEPS
    _asks: bool = True
    """True where the interpreter is asked whether native code is wrong."""
    _races: Races = field(default_factory=Races)
    _pace: Pace = field(default_factory=lambda: Pace(None))
    _only_races: bool = False
    """True in the search for a race, which shows without a run of the program."""
    _index: int = 0
    _classes: set[str] = field(default_factory=set)
    _scope: Any = None
    _applications: Applications | None = None
    _earlier: set[str] = field(default_factory=set)
    """The classes of what was applied before this pass, where somebody else counts."""

    # The hooks. Pipelines that a pass runs inside itself are left alone: the pass is checked as a whole.

    def before_pipeline(self, passes: Sequence[ModulePass], module: ModuleOp) -> None:
        self._depth += 1
        if self._depth == 1:
            self._start(module)

    def finish(self) -> None:
        self._stop_counting()
        self._depth = max(0, self._depth - 1)
        if self._depth == 0:
            self.cases, self._original, self._before = [], None, None
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
            self._scope = counting(by_function=False)
            self._scope.__enter__()
        self._applications = counted()
        assert self._applications is not None
        self._earlier, self._applications.classes = self._applications.classes, set()

    def after_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        if self._depth != 1:
            return
        running = self._applications
        if running is not None:
            self._classes = running.classes | (self._classes if self._unchecked else set())
            running.classes = self._earlier | running.classes
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
        if self._depth == 1 and self._unchecked and not self._reason:
            self._check_unchecked(module)
        if self._depth == 1 and self._unchecked:
            names = ", ".join(f"'{each}'" for each in self._unchecked)
            emit_remark(module, f"not checked: {names}: {self._reason}")

    # The program as it is given

    def _start(self, module: ModuleOp) -> None:
        self._original = clone_op(module)
        self._before, self._hash = Identities(module), structural_hash(module)
        self._unchecked, self.cases, self._is_long = [], [], False
        self._reason, self._pace = "", Pace(self.options.seconds)
        self._max_steps = MOST_STEPS
        self.weights = dict(self.options.weights or {}) or weights_of(module, self.options.seed)
        found, skipped = entries(module)
        for op, reason in skipped:
            emit_remark(op, f"@{_name(op)} is not checked: {reason}")
        for entry in found:
            try:
                self.cases += self._cases_of(entry, module)
            except CannotRunError as error:
                emit_remark(entry.op, f"@{entry.name} is not checked: {error}")

    def _cases_of(self, entry: Entry, module: ModuleOp) -> list[Case]:
        point = nearest_source_point(entry.op)
        places = tuple(_places(entry.op))
        if self.options.inputs is not None:
            given = given_inputs(entry, self.options.inputs, self.options.inputs_file)
            return [Case(entry, given, self._run(module, entry.name, given), point, places)]
        shapes = shapes_of(entry, self.options.shapes)
        found: list[Case] = []
        for kind in KINDS:
            started = time.perf_counter()
            inputs = made_inputs(entry, kind, self.options.seed, shapes)
            outcome = self._run(module, entry.name, inputs)
            if kind == "random" and not outcome.is_right:
                inputs = made_inputs(entry, kind, self.options.seed, shapes, most=1)
                outcome = self._run(module, entry.name, inputs)
            if outcome.is_right:
                found.append(Case(entry, inputs, outcome, point, places))
            else:
                self.counts.unsettled += 1
            if time.perf_counter() - started > SLOW_SECONDS:
                break
        if not found:
            raise CannotRunError("it fails on all inputs that were tried; give some by --inputs")
        return found

    def _run(self, module: ModuleOp, entry: str, inputs: InputSet) -> Outcome:
        (outcome,) = self._runs(module, entry, [inputs.arrays], [])
        return outcome

    def _runs(
        self, module: ModuleOp, entry: str, inputs: Sequence[Sequence[Array]], outputs: Sequence[Sequence[Array]]
    ) -> Iterator[Outcome]:
        """Runs an entry on several inputs, and counts how."""
        long, most = self._is_long, self._max_steps
        for outcome in evaluate_all(module, entry, inputs, self.weights, outputs, natively_first=long, max_steps=most):
            self._is_long |= outcome.is_long
            self._count(outcome)
            yield outcome

    def _count(self, outcome: Outcome) -> None:
        if outcome.how == INTERPRETER:
            self.counts.interpreted += 1
        else:
            self.counts.native += 1

    # For searches

    def begin(self, failed: Failed, passes: Sequence[ModulePass]) -> None:
        """
        Takes over the case that has failed, to compare programs that `passes` make with what it gave before.

        Where one of them lowers programs to native code, it would do to the rest of a program what is to be left out.
        So such programs are interpreted, and others run natively without asking the interpreter.
        """
        self.cases, self._original, self.weights = [failed.case], failed.original, failed.weights
        self._only_races = failed.found.is_race
        lowering = {each.name for each in parse_pipeline(LOWERING)}
        if any(each.name in lowering for each in passes):
            self._max_steps = STEPS_TO_BE_SURE
        else:
            self._asks = False

    def wrong_after(self, passes: Sequence[ModulePass], module: ModuleOp, classes: Iterable[str]) -> Found | None:
        """Returns what is wrong with a program that passes have made, if anything."""
        if self._only_races:
            return self._race(module)
        numerics = weakest([class_of(each, classes) for each in passes])
        cases = list(self.cases)
        try:
            return next((found for _, _, found in self._judged(cases, numerics, module) if found is not None), None)
        finally:
            self.cases = cases

    def wrong_outcome(self, case: Case, outcome: Outcome) -> Found | None:
        """Returns what is wrong with an outcome that a pass may have rounded otherwise, if anything."""
        return self._found(case, outcome, "rounding")

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
        self._since = self._since if self._unchecked else self._index
        self._unchecked.append(pass_)
        if not self._pace.waits():
            self._check_unchecked(module)
            self._pace.rest()

    def _check_unchecked(self, module: ModuleOp) -> None:
        """Checks the passes since the last check, of which there are several where it could not run the program."""
        pass_, self._reason = self._unchecked[-1], ""
        numerics = weakest([class_of(each, self._classes) for each in self._unchecked])
        try:
            for _, group in groupby(list(self.cases), lambda each: each.entry.name):
                self._check_entry([*group], pass_, numerics, module)
        except CannotRunError as error:
            self._reason = str(error)
            return
        self._unchecked = []

    def _check_entry(self, cases: list[Case], pass_: ModulePass, numerics: str, module: ModuleOp) -> None:
        """Checks the cases of one entry."""
        for case, after, found in self._judged(cases, numerics, module):
            if found is not None:
                self._fail(case, pass_, numerics, after, found)
            case.outcome = after

    def _judged(
        self, cases: list[Case], numerics: str, module: ModuleOp
    ) -> Iterator[tuple[Case, Outcome, Found | None]]:
        """
        Yields what the cases of one entry give now, and what is wrong with it.

        They run together, since native code is compiled once for them.
        """
        inputs, outputs = [each.inputs.arrays for each in cases], [each.outcome.arrays for each in cases]
        for case, after in zip(cases, self._runs(module, cases[0].entry.name, inputs, outputs), strict=True):
            found = self._found(case, after, numerics)
            if found is not None and after.how == NATIVE and self._asks:
                after, found = self._surely(case, after, found, numerics, module)
            if found is None and after.how == NATIVE:
                found = self._race(module)
            yield case, after, found
            if len(cases) > 1 and [case] == self.cases:
                return

    def _found(self, case: Case, after: Outcome, numerics: str) -> Found | None:
        """Returns what is wrong with the outcome of a case, if anything."""
        name, old = case.entry.name, case.outcome.arrays
        if not after.is_right:
            return Found(f"makes @{name} fail: {after.fault or after.failure}")
        found = after.arrays
        if len(found) != len(old) or any(a.shape != b.shape for a, b in zip(found, old, strict=True)):
            shapes = ", ".join(str(list(each.shape)) for each in found) or "nothing"
            return Found(f"makes @{name} return {shapes}")
        comparison = self._compared(case, case.outcome, after, numerics)
        self.counts.open += comparison.open
        if comparison.mismatch is None:
            return None
        return Found(f"changes a result of @{name}: {comparison.mismatch}", comparison.mismatch.result)

    def _race(self, module: ModuleOp) -> Found | None:
        """Returns a race in a parallel loop: native code runs one iteration after the other, which shows none."""
        race = self._races.first(module)
        if race is None:
            return None
        name, fault = race
        return Found(f"makes @{name} wrong on several threads: {fault.diagnostic.message}", is_race=True)

    def _surely(
        self, case: Case, after: Outcome, found: Found, numerics: str, module: ModuleOp
    ) -> tuple[Outcome, Found | None]:
        """
        Asks the interpreter, however long it takes, whether the program is wrong or native code is.

        Where the program is right, a pass that lowers it on the way to native code is wrong. The check goes on with
        this case alone, by the interpreter, until it comes to that pass.
        """
        most = STEPS_TO_BE_SURE
        try:
            sure = interpreted(
                module, case.entry.name, case.inputs.arrays, self.weights, case.outcome.arrays, max_steps=most
            )
        except CannotRunError:
            return after, found
        self._count(sure)
        again = self._found(case, sure, numerics)
        if again is None:
            self.cases, self._is_long, self._max_steps = [case], False, most
        return sure, again

    def _compared(self, case: Case, before: Outcome, after: Outcome, numerics: str) -> Comparison:
        # LLVM may add terms of a sum in any order. What it makes of the same ops depends on the functions around them.
        if numerics == "exact" and before.how == after.how == INTERPRETER:
            return exactly(before.arrays, after.arrays)
        if exactly(before.arrays, after.arrays).mismatch is None:
            return Comparison()
        if numerics == "quantised" and not case.inputs.is_finite:
            self.counts.unsettled += 1  # NaN becomes 0 whatever the zero point is.
            return Comparison()
        found = case.sensitivities.get(numerics == "quantised")
        if found is None:
            assert self._original is not None
            found = sensitivity(self._original, case.entry.name, case.inputs, self.weights, before.arrays, numerics)
            case.sensitivities[numerics == "quantised"] = found
        if found.overflows:
            self.counts.unsettled += 1
            return Comparison()
        return nearly(before.arrays, after.arrays, found.slacks, numerics, infinite=case.inputs.is_infinite)

    def _fail(self, case: Case, pass_: ModulePass, numerics: str, after: Outcome, found: Found) -> None:
        what, result = found.what, found.result
        point = case.point if result is None or result >= len(case.places) else case.places[result] or case.point
        assert self._original is not None
        self.failed = Failed(case, found, self._index + 1 - self._since, self._original, self.weights)
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
            save_inputs(self.options.save_inputs, case.entry, case.inputs)
            note = f"the inputs are in {self.options.save_inputs}: repeat with --inputs"
            error.diagnostic = error.diagnostic.with_note(note)
        error.failed_pass = PassFailure(pass_, self._index + 1, "check-semantics")  # pyright: ignore
        raise error


def _name(op: Operation) -> str:
    return getattr(op.get_attr_or_prop("sym_name"), "data", "?")


def _places(op: Operation) -> list[SourcePoint | None]:
    """Returns where the ops stand that make the results of a function on tensors."""
    last = op.regions[0].blocks[0].last_op
    if op.name != "func.func" or last is None:
        return []
    return [nearest_source_point(each.owner) if isinstance(each.owner, Operation) else None for each in last.operands]
