"""
The search for the first application that breaks a program: by a wrong result, or by a pass that fails.

Of a wrong result the check of each pass names the pass, and the search is among what that pass applies. A pass that
fails may be right, and what it was given wrong. So the search for a crash or an error is among what all passes apply
until then, and what later passes need is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..core.ir.cloning import clone_op
from ..core.messages.diagnostics import StepwellError
from ..core.passes.applications import Application, Applications, counting
from ..core.passes.function_counts import FunctionsBefore, named_ops
from ..core.passes.pipelines import PassFailure, run_pipeline
from .attempts import Attempt, attempt
from .cases import CheckOptions
from .check import CheckSemantics
from .culprit import Culprit, difference
from .evaluate import CannotRunError
from .halving import Answer, first_bad
from .mixed import run_mixed


def bisect(ctx: Context, module: ModuleOp, passes: Sequence[ModulePass], options: CheckOptions) -> Culprit | None:
    """
    Returns the pass and the application that make a pass fail or change a result, or `None` where nothing does.

    The module stays as it is.
    """
    whole = attempt(ctx, module, passes)
    if whole.ending != "fine":
        return _Failing(ctx, module, passes, whole).culprit()
    check = CheckSemantics(options)
    try:
        run_pipeline(ctx, clone_op(module), passes, instruments=[check])
    except StepwellError as error:
        failure = getattr(error, "failed_pass", None)
        if not isinstance(failure, PassFailure) or check.failed is None:
            raise
        return _Wrong(ctx, module, passes, failure.number, check).culprit()
    return None


class _Wrong:
    """The search for a wrong result, inside of the pass, or the few passes, after which it was seen."""

    def __init__(
        self, ctx: Context, module: ModuleOp, passes: Sequence[ModulePass], number: int, check: CheckSemantics
    ):
        assert check.failed is not None
        self.ctx, self.number, self.reason = ctx, number, check.failed.found.what
        start = number - check.failed.suspects
        self.passes = passes[start:number]
        self.before = clone_op(module)
        with counting() as self.earlier:
            run_pipeline(ctx, self.before, passes[:start])
        self.check = CheckSemantics(check.options)
        self.check.begin(check.failed, self.passes)
        self.runs = 3
        """The run that saw it, the one that only looks for failures, and the one up to the pass."""

    def culprit(self) -> Culprit:
        after, own = self._made(None)
        if own.count == 0 or not self._is_bad(after, own):
            return Culprit(self.passes[-1], self.number, self.reason, runs=self.runs)
        self.after, self.groups = after, FunctionsBefore(self.before, Applications()).groups(dict(named_ops(after)))
        known: dict[int, tuple[ModuleOp, Applications]] = {0: (self.before, Applications())}

        def ask(limit: int) -> Answer:
            found, count = known[limit] = self._made(limit)
            return self._is_bad(found, count) if count.apart else self._is_bad_in_part(limit)

        good, bad = first_bad(ask, own.count)
        if bad not in known:
            known[bad] = self._made(bad)
        wrong, count = known[bad]
        right, _ = known[good]
        diff = difference(str(right), str(wrong)) if count.apart and known[good][1].apart else self._difference(bad)
        return Culprit(
            self.passes[-1],
            self.number,
            self.reason,
            count.last,
            self.earlier.count + bad,
            bad - good,
            diff,
            self.runs,
        )

    def _made(self, limit: int | None) -> tuple[ModuleOp, Applications]:
        self.runs += 1
        after = clone_op(self.before)
        with counting(limit) as own:
            run_pipeline(self.ctx, after, self.passes)
        return after, own

    def _is_bad(self, after: ModuleOp, own: Applications) -> bool:
        return self.check.wrong_after(self.passes, after, own.classes) is not None

    def _is_bad_in_part(self, limit: int) -> Answer:
        """Returns whether a result is wrong where the first functions are those after the pass, as machine code."""
        names = [name for group in self.groups[:limit] for name in group]
        (case,) = self.check.cases[:1]
        name, arrays, outputs = case.entry.name, case.inputs.arrays, case.outcome.arrays
        try:
            outcome = run_mixed(self.before, self.after, name, names, arrays, self.check.weights, outputs)
        except CannotRunError:
            return None
        return self.check.wrong_outcome(case, outcome) is not None

    def _difference(self, limit: int) -> str:
        """Returns what has become of the functions of one application."""
        names = self.groups[limit - 1] if limit <= len(self.groups) else []
        old, new = (dict(named_ops(module)) for module in (self.before, self.after))
        return difference(*("\n".join(str(ops[name]) for name in names if name in ops) for ops in (old, new)))


class _Failing:
    """The search for what makes a pass fail: by a signal, an error, or by not coming to an end."""

    def __init__(self, ctx: Context, module: ModuleOp, passes: Sequence[ModulePass], whole: Attempt):
        self.ctx, self.module, self.whole = ctx, module, whole
        self.passes = passes[: whole.number]
        self.runs = 1

    def culprit(self) -> Culprit:
        pass_, number, reason = self.passes[-1], self.whole.number, self.whole.reason
        total = self._attempt(None)
        if not self._is_same(total) or self._is_same(self._attempt(0)):
            return self._inside(pass_, number, reason)
        known: dict[int, Attempt] = {total.count: total}

        def ask(limit: int) -> Answer:
            found = known[limit] = self._attempt(limit)
            return True if self._is_same(found) else (False if found.ending == "fine" else None)

        good, bad = first_bad(ask, total.count)
        found = known[bad] if known[bad].last is not None else self._attempt(bad)
        before = [place for place, count in enumerate(found.numbers, 1) if count < bad]
        place = before[-1] if before else 1
        note = reason if place == number else f"makes pass '{pass_}' (number {number}) fail: {self.whole.message}"
        return self._told(self.passes[place - 1], place, note, found.last, bad, bad - good, True)

    def _inside(self, pass_: ModulePass, number: int, reason: str) -> Culprit:
        """Searches among what the failing pass itself applies, since it fails whatever the others do."""
        earlier = self.whole.numbers[-1] if self.whole.numbers else 0
        most = self.whole.count
        if most == earlier or self._is_same(self._attempt(earlier, goes_on=False)):
            why = "it fails whatever it applies"
            return Culprit(pass_, number, reason, runs=self.runs, as_a_whole=why)
        known: dict[int, Attempt] = {most: self.whole}

        def ask(limit: int) -> Answer:
            found = known[limit] = self._attempt(limit, goes_on=False)
            return self._is_same(found)

        good, bad = first_bad(ask, most, earlier)
        found = known[bad] if known[bad].last is not None else self._attempt(bad, goes_on=False)
        return self._told(pass_, number, reason, found.last, bad, bad - good, False)

    def _told(
        self,
        pass_: ModulePass,
        place: int,
        reason: str,
        application: Application | None,
        bad: int,
        among: int,
        goes_on: bool,
    ) -> Culprit:
        texts: list[str] = []
        for limit in (bad - among, bad):
            self.runs += 1
            found = attempt(self.ctx, self.module, self.passes[:place], limit, goes_on=goes_on, with_text=True)
            texts.append(found.text)
        diff = difference(*texts) if all(texts) else ""
        return Culprit(pass_, place, reason, application, bad, among, diff, self.runs)

    def _attempt(self, limit: int | None, *, goes_on: bool = True) -> Attempt:
        self.runs += 1
        return attempt(self.ctx, self.module, self.passes, limit, goes_on=goes_on)

    def _is_same(self, found: Attempt) -> bool:
        return found.kind == self.whole.kind
