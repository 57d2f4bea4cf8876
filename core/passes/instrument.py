"""The base class of instruments, which watch the runs of pipelines."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


class Instrument:
    """
    Watches a run of a pipeline. The methods do nothing until overridden.

    Around each pass: `should_run`, `before_pass`, the pass, `after_pass`, `before_verify`, `after_verify`. The hooks of
    several instruments run in the order of their list, `exit_context` and `finish` in the reverse. An exception in a
    hook ends the run like one in a pass; `finish` and `exit_context` of all instruments run nevertheless.
    """

    def __repr__(self) -> str:
        return f"<stepwell.{type(self).__name__}>"

    def enter_context(self) -> None:
        """Called on entry of the `PassContext` that holds the instrument."""

    def exit_context(self) -> None:
        """Called on exit of that context, also after an exception."""

    def before_pipeline(self, passes: Sequence[ModulePass], module: ModuleOp) -> None:
        """Called when `module` has been verified. `passes` are those to run, required ones included."""

    def should_run(self, pass_: ModulePass, module: ModuleOp) -> bool:
        """Returns whether the pass runs. When another pass requires one that does not, that is an error."""
        return True

    def skipped_pass(self, pass_: ModulePass, reason: str) -> None:
        """Called instead of `before_pass` when the context or an instrument rules the pass out."""

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        """`index` counts the passes of the run from 0."""

    def after_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        """Called before the result is verified."""

    def before_verify(self, pass_: ModulePass, module: ModuleOp) -> None:
        """Called before the result of a pass is verified."""

    def after_verify(self, pass_: ModulePass | None, module: ModuleOp) -> None:
        """`pass_` is `None` after the check of the input."""

    def failed_pass(self, pass_: ModulePass, index: int, error: Exception) -> None:
        """The pass, the check of its result or a hook around it raised `error`."""

    def after_pipeline(self, module: ModuleOp) -> None:
        """Called when all passes have run. `module` is the result."""

    def finish(self) -> None:
        """Called when the run has ended, also when it failed: the place to give up what is held."""

    def report(self) -> str:
        """Returns what to show once the run has ended, also when it failed. This is nothing by default."""
        return ""
