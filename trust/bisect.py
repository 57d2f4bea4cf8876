"""The search for the first application of a rule that breaks a program, by halving their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import unified_diff

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..core.ir.cloning import clone_op
from ..core.messages.diagnostics import StepwellError
from ..core.passes.applications import Application, counting
from ..core.passes.pipelines import PassFailure, run_pipeline
from ..lazy_dataclass import dataclass
from .check import CheckOptions, CheckSemantics


@dataclass(frozen=True)
class Culprit:
    """The pass that breaks a program, and the application inside it where one could be told."""

    pass_: ModulePass
    number: int
    """The place of the pass in the pipeline, from 1."""
    reason: str
    application: Application | None = None
    count: int = 0
    """The place of the application among all of the run, from 1: the first limit that gives a wrong program."""
    diff: str = ""
    runs: int = 1

    def __str__(self) -> str:
        lines = [f"pass '{self.pass_}' (number {self.number} of the pipeline) is wrong: {self.reason}"]
        if self.application is None:
            lines.append("it is wrong as a whole: no single application was told apart")
        else:
            lines.append(
                f"application {self.count}: {self.application}; --rewrite-limit {self.count - 1} leaves it out"
            )
            lines += [f"  {name} = {value}" for name, value in self.application.bindings]
            lines.append(self.diff)
        return "\n".join([*lines, f"found in {self.runs} runs"])


def first_bad(is_bad: Callable[[int], bool], most: int) -> int:
    """Returns the least number in 1 … `most` that is bad, where `most` is and 0 is not."""
    good, bad = 0, most
    while bad - good > 1:
        middle = (good + bad) // 2
        if is_bad(middle):
            bad = middle
        else:
            good = middle
    return bad


def bisect(ctx: Context, module: ModuleOp, passes: Sequence[ModulePass], options: CheckOptions) -> Culprit | None:
    """
    Returns the pass and the application that change a result of `module`, or `None` where nothing does.

    The module stays as it is. A pass that counts nothing is told as a whole.
    """
    broken = clone_op(module)
    try:
        run_pipeline(ctx, broken, passes, instruments=[CheckSemantics(options)])
        return None
    except StepwellError as error:
        failure = getattr(error, "failed_pass", None)
        if not isinstance(failure, PassFailure):
            raise
        reason = error.diagnostic.message
    before = clone_op(module)
    with counting() as earlier:
        run_pipeline(ctx, before, passes[: failure.number - 1])
    wrong = passes[failure.number - 1]
    runs = 2

    def made(limit: int | None) -> tuple[ModuleOp, Application | None, int, bool]:
        nonlocal runs
        runs += 1
        after, is_bad = clone_op(before), False
        with counting(limit) as own:
            try:
                run_pipeline(ctx, after, [wrong], instruments=[CheckSemantics(options)])
            except StepwellError:
                is_bad = True
        return after, own.last, own.count, is_bad

    _, _, total, is_bad = made(None)
    if total == 0 or not is_bad:
        return Culprit(wrong, failure.number, reason, runs=runs)
    place = first_bad(lambda limit: made(limit)[3], total)
    right, _, _, _ = made(place - 1)
    bad, application, _, _ = made(place)
    lines = unified_diff(str(right).splitlines(), str(bad).splitlines(), "before", "after", lineterm="", n=1)
    return Culprit(wrong, failure.number, reason, application, earlier.count + place, "\n".join(lines), runs)
