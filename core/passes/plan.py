"""
The steps of a run, planned from the passes asked for. Levels, required passes, nested sequences and configuration
decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from ..messages.diagnostics import Diagnostic, StepwellError
from .config import configured
from .context import PassContext, current_context
from .info import required_by
from .options import make_pass
from .pipeline_text import load_pass


class Step(NamedTuple):
    """A pass of a run. `skipped` says why it does not run, `required_by` names the pass it was added for."""

    pass_: ModulePass
    skipped: str | None = None
    required_by: str | None = None


class PassGroup(ModulePass):
    """A pass that stands for several others, its `parts`, which the plan of a run lays out in its place."""

    parts: tuple[ModulePass, ...]


def planned(passes: Sequence[ModulePass], asked_for: bool = False) -> list[Step]:
    """The steps of a run under the current context: required passes added, sequences laid out."""
    plain = not any(getattr(each, "requires", ()) or hasattr(each, "parts") for each in passes)
    if plain and current_context() is None:
        return [Step(each) for each in passes]
    return plan(passes, current_context(), asked_for)


def plan(passes: Sequence[ModulePass], context: PassContext | None, asked_for: bool = False) -> list[Step]:
    """
    Returns the steps of a run of `passes`. Those that `context` rules out are in it with the reason. None of `passes`
    is ruled out when they are `asked_for` one by one, but parts of sequences among them are.

    In front of a pass stand the passes it requires, in order, each with its default options, unless one of that name is
    an earlier step that runs. Raises `StepwellError` when a required pass is disabled, unknown, cannot do without
    options, or requires itself.
    """
    planner = _Planner(context)
    for each in passes:
        planner.add(each, asked_for)
    return planner.steps


def _without_others(pass_: ModulePass, context: PassContext) -> ModulePass:
    """Returns `pass_` with the options that it has without the passes that `context` leaves out."""
    changes: dict[str, Any] = {}
    for name, options in getattr(pass_, "without", {}).items():
        if not context.enabled(make_pass(load_pass(name), ArgSpec(name, {}))):
            changes.update(options)
    return replace(pass_, **changes) if changes else pass_  # pyright: ignore[reportArgumentType]


class _Planner:
    def __init__(self, context: PassContext | None):
        self.steps: list[Step] = []
        self._context = context
        self._planned: set[str] = set()

    def add(self, pass_: ModulePass, asked_for: bool = False) -> None:
        reason = None
        if self._context is not None and not asked_for:
            reason = self._context.reason_to_skip(pass_)
        if reason is None:
            self._add(pass_, None, ())
        else:
            self.steps.append(Step(pass_, reason))

    def _add(self, pass_: ModulePass, needed_by: str | None, chain: tuple[str, ...]) -> None:
        chain = (*chain, pass_.name)
        for name in required_by(pass_):
            self._require(name, chain)
        if isinstance(pass_, PassGroup):
            for each in pass_.parts:
                self.add(each)
        else:
            if self._context is not None:
                pass_ = _without_others(configured(pass_, self._context.config), self._context)
            self.steps.append(Step(pass_, None, needed_by))
        self._planned.add(pass_.name)

    def _require(self, name: str, chain: tuple[str, ...]) -> None:
        if name in chain:
            cycle = " -> ".join((*chain[chain.index(name) :], name))
            raise StepwellError(Diagnostic(f"pass '{name}' requires itself: {cycle}"))
        if self._context is not None and name in self._context.disabled:
            raise StepwellError(
                Diagnostic(
                    f"pass '{chain[-1]}' requires pass '{name}', which is disabled",
                    hint=f"disable '{chain[-1]}' too, or neither",
                )
            )
        if name not in self._planned:
            self._add(make_pass(load_pass(name), ArgSpec(name, {})), chain[-1], chain)
