"""Small passes and instruments for the tests of the pass infrastructure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.passes.base import StepwellPass
from stepwell.core.passes.decorators import module_pass
from stepwell.core.passes.instrument import Instrument
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

PROGRAM = "func.func @main(%x: i32) -> i32 {\n  %y = arith.addi %x, %x : i32\n  func.return %y : i32\n}\n"


def refusal(call: Callable[[], object]) -> str:
    """The message of the `StepwellError` that `call` raises."""
    with pytest.raises(StepwellError) as caught:
        call()
    return str(caught.value)


def note(module: ModuleOp, name: str) -> None:
    """Writes into the module that a pass has run."""
    module.attributes["ran"] = StringAttr(f"{ran(module)} {name}".strip())


def ran(module: ModuleOp) -> str:
    """The names of the passes that have run, in order."""
    found = module.attributes.get("ran")
    return found.data if isinstance(found, StringAttr) else ""


@dataclass(frozen=True)
class LowPass(StepwellPass):
    """Runs on every level."""

    name = "low"
    opt_level = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        note(op, self.name)


@dataclass(frozen=True)
class HighPass(StepwellPass):
    """Runs on level 3."""

    name = "high"
    opt_level = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        note(op, self.name)


@dataclass(frozen=True)
class FailingPass(StepwellPass):
    """Fails."""

    name = "failing"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise KeyError("oops")


@module_pass("needs-high", opt_level=1, requires=["high-registered"])
def needs_high(module, ctx):
    """Needs another pass before it."""
    note(module, "needs-high")


@module_pass("high-registered", opt_level=3)
def high_registered(module, ctx):
    """Is needed by another pass."""
    note(module, "high-registered")


def run(*passes, **arguments) -> str:
    module = parse(PROGRAM)
    run_pipeline(make_context(), module, list(passes), **arguments)
    return ran(module)


HOOKS = [
    "enter_context",
    "before_pipeline",
    "should_run",
    "before_pass",
    "after_pass",
    "before_verify",
    "after_verify",
    "after_pipeline",
    "finish",
    "exit_context",
]


class Recorder(Instrument):
    """Notes each hook in `events`, shared by several; raises in the hook named `fails_in`."""

    def __init__(self, events: list[str], name: str = "", fails_in: str | None = None):
        self.events, self.name, self.fails_in = events, name, fails_in

    def _note(self, hook: str, detail: str = "") -> None:
        self.events.append(" ".join(filter(None, (self.name, hook, detail))))
        if hook == self.fails_in:
            raise ZeroDivisionError(hook)

    def enter_context(self) -> None:
        self._note("enter_context")

    def exit_context(self) -> None:
        self._note("exit_context")

    def before_pipeline(self, passes, module) -> None:
        self._note("before_pipeline", " ".join(pass_.name for pass_ in passes))

    def should_run(self, pass_: ModulePass, module: ModuleOp) -> bool:
        self._note("should_run", pass_.name)
        return True

    def skipped_pass(self, pass_: ModulePass, reason: str) -> None:
        self._note("skipped_pass", f"{pass_.name}: {reason}")

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        self._note("before_pass", f"{pass_.name} {index}")

    def after_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        self._note("after_pass", f"{pass_.name} {index}")

    def before_verify(self, pass_: ModulePass, module: ModuleOp) -> None:
        self._note("before_verify", pass_.name)

    def after_verify(self, pass_: ModulePass | None, module: ModuleOp) -> None:
        self._note("after_verify", "input" if pass_ is None else pass_.name)

    def failed_pass(self, pass_: ModulePass, index: int, error: Exception) -> None:
        self._note("failed_pass", f"{pass_.name} {type(error).__name__}")

    def after_pipeline(self, module: ModuleOp) -> None:
        self._note("after_pipeline")

    def finish(self) -> None:
        self._note("finish")
