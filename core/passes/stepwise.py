"""Passes that go from one function to the next, and can stop in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...lazy_dataclass import dataclass
from .base import StepwellPass


class Steps(Protocol):
    """One run of a pass over a module, function by function."""

    @property
    def functions(self) -> Sequence[Any]:
        """The functions to take, in this order."""
        ...

    def take(self, function: Any) -> None:
        """Does all that is to be done to `function`. Nothing looks at it again, so it may leave the module."""
        ...

    def finish(self) -> None:
        """Does what is left when all functions have been taken."""
        ...


@dataclass(frozen=True)
class StepwisePass(StepwellPass):
    """Base of passes that take one function after the other. Between two of them other passes may run on the first."""

    def begin(self, ctx: Context, op: ModuleOp) -> Steps:
        """Returns a run of this pass over `op`. Whoever calls this takes all functions and finishes it."""
        raise NotImplementedError

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        steps = self.begin(ctx, op)
        for function in steps.functions:
            steps.take(function)
        steps.finish()
