"""The base class of Stepwell's passes, and the counters that they report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...lazy_dataclass import dataclass
from .info import DeclaringPass
from .pipelines import run_on_copy

_statistics: ContextVar[Counter[str] | None] = ContextVar("stepwell_pass_statistics", default=None)


@dataclass(frozen=True)
class StepwellPass(DeclaringPass):
    """
    Base of Stepwell's passes: a `ModulePass` that counts what it does.

    Derived classes are frozen dataclasses. The first line of their docstring is the summary of `--list-passes`,
    their fields are their options. Counts belong to the run, not to the pass object.

    Called on a module, a pass returns a new one and leaves its input as it is: `FoldConstantPass()(module)`. This runs
    the instruments of the current `PassContext` and the passes it requires; the pass itself, being asked for, runs on
    any level.
    """

    def __call__(self, module: ModuleOp, ctx: Context | None = None) -> ModuleOp:
        return run_on_copy(self, module, ctx)

    def count(self, what: str, amount: int = 1) -> None:
        """Adds to a counter shown by `--statistics`. This costs nothing when nobody collects."""
        count(what, amount)


def count(what: str, amount: int = 1) -> None:
    """`StepwellPass.count` for helpers that have no pass at hand."""
    counter = _statistics.get()
    if counter is not None:
        counter[what] += amount


@contextmanager
def collecting_statistics() -> Iterator[Counter[str]]:
    """Yields a counter that takes the counts of the passes inside the block."""
    counter: Counter[str] = Counter()
    token = _statistics.set(counter)
    try:
        yield counter
    finally:
        _statistics.reset(token)
