"""Instruments: printing and dumping the IR between passes, timing passes, counting what they do, ruling passes out."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from pathlib import Path
from typing import TextIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...lazy_dataclass import dataclass
from ..ir.walk import walk
from ..messages.diagnostics import Diagnostic, emit
from ..messages.files import write_atomically
from .base import collecting_statistics
from .instrument import Instrument


@dataclass
class IRPrinting(Instrument):
    """Prints the module before or after chosen passes, each time under a title line."""

    show: Callable[[ModuleOp], str] = field(repr=False)
    stream: TextIO = field(repr=False)
    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    before_all: bool = False
    after_all: bool = False
    after_change: bool = False
    _total: int = field(default=0, repr=False)
    _previous: str = field(default="", repr=False)
    _seen: set[str] = field(default_factory=set, repr=False)

    def before_pipeline(self, passes: Sequence[ModulePass], module: ModuleOp) -> None:
        self._total = len(passes)
        if self.after_change:
            self._previous = self.show(module)

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        self._seen.add(pass_.name)
        if self.before_all or pass_.name in self.before:
            self._print("before", pass_, index, self.show(module))

    def after_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        wanted = self.after_all or pass_.name in self.after
        if not wanted and not self.after_change:
            return
        text = self.show(module)
        if self.after_change and not wanted:
            wanted = text != self._previous
        self._previous = text
        if wanted:
            self._print("after", pass_, index, text)

    def after_pipeline(self, module: ModuleOp) -> None:
        for when, names in (("before", self.before), ("after", self.after)):
            for name in sorted(names - self._seen):
                message = f"the IR {when} pass '{name}' is to be printed, but the pipeline has not run that pass"
                emit(Diagnostic(message, "warning"))

    def _print(self, when: str, pass_: ModulePass, index: int, text: str) -> None:
        title = f"// IR {when} {pass_} (pass {index + 1} of {self._total})"
        print(f"{title}\n{text.rstrip()}\n", file=self.stream, flush=True)


@dataclass
class Timing(Instrument):
    """Wall time of each pass and of the verification after it, in milliseconds."""

    rows: list[tuple[str, float, float]] = field(default_factory=list)
    _start: float = 0.0
    _pass_seconds: float = 0.0

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        self._start = time.perf_counter()

    def after_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        self.rows.append((pass_.name, time.perf_counter() - self._start, 0.0))

    def before_verify(self, pass_: ModulePass, module: ModuleOp) -> None:
        self._start = time.perf_counter()

    def after_verify(self, pass_: ModulePass | None, module: ModuleOp) -> None:
        if pass_ is not None:
            name, seconds, _ = self.rows[-1]
            self.rows[-1] = (name, seconds, time.perf_counter() - self._start)

    def report(self) -> str:
        lines = [f"{'pass ms':>12} {'verify ms':>12}  pass"]
        for name, run, verify in [*self.rows, ("total", *self._totals())]:
            lines.append(f"{run * 1e3:12.3f} {verify * 1e3:12.3f}  {name}")
        return "\n".join(lines)

    def _totals(self) -> tuple[float, float]:
        return sum(row[1] for row in self.rows), sum(row[2] for row in self.rows)


@dataclass
class Statistics(Instrument):
    """What each pass counted, and the number of ops before and after it."""

    rows: list[tuple[str, int, int, Counter[str]]] = field(default_factory=list)
    _ops: int = 0
    _scope: AbstractContextManager[Counter[str]] | None = None
    _counter: Counter[str] = field(default_factory=Counter)

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        self.finish()
        self._ops = count_ops(module)
        self._scope = collecting_statistics()
        self._counter = self._scope.__enter__()

    def after_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        self.finish()
        self.rows.append((pass_.name, self._ops, count_ops(module), self._counter))

    def finish(self) -> None:
        """Ends the collection of a pass that failed, and does nothing otherwise."""
        if self._scope is not None:
            self._scope.__exit__(None, None, None)
            self._scope = None

    def report(self) -> str:
        lines: list[str] = []
        for name, before, after, counter in self.rows:
            lines.append(f"{name}: {before} ops -> {after} ops")
            lines += [f"  {amount:8} {what}" for what, amount in sorted(counter.items())]
        return "\n".join(lines)


@dataclass
class BetweenPasses(Instrument):
    """`--print-between-passes` of `xdsl-opt`: on standard output, after every pass but the last."""

    show: Callable[[ModuleOp], str]
    _title: str | None = None

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        if index > 0:
            print(f"{self._title}\n{self.show(module)}\n\n\n")

    def after_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        self._title = f"IR after {pass_.name}:"


@dataclass
class DumpDirectory(Instrument):
    """
    Writes the module to numbered files: `000_input.mlir`, then `001_PASS.mlir`, … after each pass.

    The directory is made if need be; files that are there are overwritten. After a failure the last file is what the
    failing pass was given.
    """

    path: Path
    show: Callable[[ModuleOp], str] = str

    def before_pipeline(self, passes: Sequence[ModulePass], module: ModuleOp) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        self._write("000_input", module)

    def after_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        self._write(f"{index + 1:03}_{pass_.name}", module)

    def _write(self, name: str, module: ModuleOp) -> None:
        write_atomically(self.path / f"{name}.mlir", self.show(module).rstrip() + "\n")


@dataclass
class FailureDump(Instrument):
    """
    Writes what a failing pass was given to a file, with the command that repeats the failure.

    `flags` are words of the command line without which the program cannot be read, or the pass does something else.
    """

    path: Path
    show: Callable[[ModuleOp], str] = str
    flags: Sequence[str] = ()
    _before: ModuleOp | None = None

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        self._before = module.clone()

    def failed_pass(self, pass_: ModulePass, index: int, error: Exception) -> None:
        if self._before is None:
            return
        command = shlex.join(["stepwell-opt", self.path.name, *self.flags, "-p", str(pass_)])
        write_atomically(self.path, f"// {command}\n{self.show(self._before).rstrip()}\n")
        error.add_note(f"what the pass was given is in {self.path}")

    def finish(self) -> None:
        self._before = None


@dataclass
class Veto(Instrument):
    """Rules out passes by name, or by any condition on pass and module."""

    condition: Callable[[ModulePass, ModuleOp], bool] = field(repr=False)

    @staticmethod
    def of(*names: str) -> Veto:
        """The veto on the passes of these names."""
        return Veto(lambda pass_, module: pass_.name in names)

    def should_run(self, pass_: ModulePass, module: ModuleOp) -> bool:
        return not self.condition(pass_, module)


def count_ops(module: ModuleOp) -> int:
    """The number of ops in a module, itself not counted."""
    return sum(1 for _ in walk(module)) - 1
