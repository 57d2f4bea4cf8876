"""
The search for the application after which a command of the user's fails, as `git bisect run` searches for a commit.

The command gets a file with the program. Exit code 0 says that it is good, 125 that it cannot be told, and 1 to 127
that it is bad. Any other code ends the search.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from tempfile import TemporaryDirectory

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from ..core.ir.cloning import clone_op
from ..core.messages.diagnostics import Diagnostic, StepwellError
from ..core.messages.locations import source_directory
from ..core.passes.applications import Applications, counting
from ..core.passes.instrument import Instrument
from ..core.passes.pipelines import run_pipeline
from ..core.roles import WEIGHTS
from ..lazy_dataclass import dataclass
from .culprit import Culprit, difference
from .halving import Answer, first_bad

UNTOLD = 125
LAST_BAD = 127


@dataclass
class Command:
    """A command of the shell. `{}` in it stands for the file of a program; else the file comes last."""

    text: str
    runs: int = 0

    def fails(self, module: ModuleOp, folder: str) -> Answer:
        """Returns whether the command fails on a program, `None` where it cannot tell."""
        self.runs += 1
        path = Path(folder) / "program.mlir"
        path.write_text(_with_weights(module))
        quoted = shlex.quote(str(path))
        line = self.text.replace("{}", quoted) if "{}" in self.text else f"{self.text} {quoted}"
        code = subprocess.run(line, shell=True, stdin=subprocess.DEVNULL, check=False).returncode
        if code == UNTOLD:
            return None
        if not 0 <= code <= LAST_BAD:
            message = f"the command '{self.text}' ends with exit code {code}"
            hint = "0 says that a program is good, 1 to 127 that it is bad, 125 that it cannot be told"
            raise StepwellError(Diagnostic(message, hint=hint))
        return code != 0


@dataclass
class _Kept(Instrument):
    """Keeps the program after each pass, and the number of applications until then."""

    modules: list[ModuleOp] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    running: Applications | None = None

    def after_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        assert self.running is not None
        self.modules.append(clone_op(module))
        self.counts.append(self.running.count)


def bisect_command(ctx: Context, module: ModuleOp, passes: Sequence[ModulePass], text: str) -> Culprit:
    """
    Returns the pass and the application after which the command fails.

    Raises `StepwellError` where it fails on the program as it is given, or does not fail after all passes.
    """
    command = Command(text)
    with TemporaryDirectory(prefix="stepwell-bisect-") as folder:
        with counting() as running:
            kept = _Kept(running=running)
            run_pipeline(ctx, clone_op(module), passes, instruments=[kept])
        modules, counts = [module, *kept.modules], [0, *kept.counts]
        _check_ends(command, modules, folder)
        good, bad = first_bad(lambda number: command.fails(modules[number], folder), len(modules) - 1)
        reason = f"makes the command '{text}' fail"
        before, number = modules[good], bad
        known: dict[int, tuple[ModuleOp, Applications]] = {0: (before, Applications())}

        def made(limit: int) -> ModuleOp:
            after = clone_op(before)
            with counting(limit) as own:
                run_pipeline(ctx, after, passes[good:bad])
            known[limit] = after, own
            return after

        def ask(limit: int) -> Answer:
            after = made(limit)
            return command.fails(after, folder) if known[limit][1].apart else None

        total = counts[bad] - counts[good]
        if total == 0:
            return Culprit(passes[number - 1], number, reason, runs=command.runs)
        first, last = first_bad(ask, total)
        if last not in known:
            made(last)
        after, own = known[last]
        diff = difference(str(known[first][0]), str(after))
        place = counts[good] + last
        return Culprit(passes[number - 1], number, reason, own.last, place, last - first, diff, command.runs)


def _check_ends(command: Command, modules: Sequence[ModuleOp], folder: str) -> None:
    """Raises where the command does not tell the program as it is given from the one after all passes."""
    if not command.fails(modules[-1], folder):
        hint = "exit code 1 says that a program is bad"
        raise StepwellError(Diagnostic(f"the command '{command.text}' does not fail after the passes", hint=hint))
    if command.fails(modules[0], folder) is not False:
        hint = "exit code 0 says that a program is good"
        raise StepwellError(Diagnostic(f"the command '{command.text}' fails on the program as it is given", hint=hint))


def _with_weights(module: ModuleOp) -> str:
    """Returns the text of a program that names its side-car by its whole path."""
    file, folder = module.attributes.get(WEIGHTS), source_directory(module)
    if not isinstance(file, StringAttr) or folder is None:
        return f"{module}\n"
    copy = clone_op(module)
    copy.attributes[WEIGHTS] = StringAttr(str((Path(folder) / file.data).resolve()))
    return f"{copy}\n"
