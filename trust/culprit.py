"""What a search has found: the pass, the application inside it, and what that has changed."""

from __future__ import annotations

from difflib import unified_diff

from xdsl.passes import ModulePass

from ..core.passes.applications import Application
from ..lazy_dataclass import dataclass

MOST_LINES = 60
"""The lines of a difference that are shown."""


@dataclass(frozen=True)
class Culprit:
    """The pass that breaks a program, and the application inside it where one could be told."""

    pass_: ModulePass
    number: int
    """The place of the pass in the pipeline, from 1."""
    reason: str
    """What is wrong after it."""
    application: Application | None = None
    count: int = 0
    """The place of the application among all of the run, from 1: the first limit with which the program is wrong."""
    among: int = 1
    """The number of applications that end with this one and cannot be told apart."""
    diff: str = ""
    runs: int = 1
    as_a_whole: str = "it counts no applications that could be told apart"
    """Why there is no application."""

    def __str__(self) -> str:
        lines = [f"pass '{self.pass_}' (number {self.number} of the pipeline) {self.reason}"]
        if self.application is None:
            lines.append(f"as a whole: {self.as_a_whole}")
        elif self.among > 1:
            lines.append(
                f"one of the applications {self.count - self.among + 1} to {self.count}, which cannot be told apart; "
                f"the last is {self.application}"
            )
        else:
            left = f"--rewrite-limit {self.count - 1} leaves it out"
            lines.append(f"application {self.count}: {self.application}; {left}")
        if self.application is not None:
            lines += [f"  {name} = {value}" for name, value in self.application.bindings]
        if self.diff:
            lines.append(self.diff)
        return "\n".join([*lines, f"found in {self.runs} runs"])


def difference(right: str, wrong: str) -> str:
    """Returns what an application has changed, as lines that went and came."""
    lines = list(unified_diff(right.splitlines(), wrong.splitlines(), "before", "after", lineterm="", n=1))
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"… {len(lines) - MOST_LINES} lines more"]
    return "\n".join(lines)
