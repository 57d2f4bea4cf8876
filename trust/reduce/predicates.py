"""What makes a program interesting: a command succeeds, a result is wrong, a message appears, a pipeline crashes."""

from __future__ import annotations

import os
import shlex
import subprocess
import traceback
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from tempfile import mkdtemp

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from ...core.ir.cloning import clone_op
from ...core.messages.diagnostics import Diagnostic, StepwellError, render
from ...core.passes.applications import counting
from ...core.passes.pipeline_text import parse_pipeline
from ...core.passes.pipelines import BrokenByPassError, run_pipeline
from ...core.text.errors import diagnostic_of
from ...lazy_dataclass import dataclass
from ...reference.element_types import Array
from ..cases import CheckOptions
from ..classes import class_of, weakest
from ..compare import exactly, nearly
from ..entries import Entry, entries, weights_of
from ..evaluate import CannotRunError, Outcome, evaluate
from ..inputs import KINDS, InputSet, given_inputs, made_inputs, shapes_of
from ..sensitivity import sensitivity
from .subject import Subject


class Predicate(ABC):
    """A question about a program."""

    @abstractmethod
    def kind(self, subject: Subject) -> str | None:
        """
        Returns what is interesting about the program, or `None`. A smaller program must give the same.

        It runs in a process of its own, so it may change the program and may crash.
        """

    @abstractmethod
    def __str__(self) -> str:
        """Returns the question as part of a message."""


@dataclass
class Command(Predicate):
    """A command of the user's ends with exit code 0. `{}` in it stands for the file of the program."""

    text: str
    folder: str = field(default_factory=lambda: mkdtemp(prefix="stepwell-reduce-"))

    def kind(self, subject: Subject) -> str | None:
        path = Path(self.folder) / f"candidate-{os.getpid()}{subject.suffix}"
        path.write_bytes(subject.data())
        quoted = shlex.quote(str(path))
        line = self.text.replace("{}", quoted) if "{}" in self.text else f"{self.text} {quoted}"
        done = subprocess.run(line, shell=True, stdin=subprocess.DEVNULL, check=False)
        path.unlink(missing_ok=True)
        return "command" if done.returncode == 0 else None

    def __str__(self) -> str:
        return f"the command '{self.text}' does not succeed"


@dataclass
class Message(Predicate):
    """Reading the program or running the passes ends in an error that has a text in it."""

    text: str
    pipeline: str
    context: Context

    def kind(self, subject: Subject) -> str | None:
        try:
            run_pipeline(self.context, subject.parsed(), self.pipeline)
        except Exception as error:
            return "message" if self.text in render(diagnostic_of(error)) else None
        return None

    def __str__(self) -> str:
        return f"no error has the text '{self.text}'"


@dataclass
class Crash(Predicate):
    """A pass raises an exception that is no diagnostic, makes invalid IR, or ends the process by a signal."""

    pipeline: str
    context: Context

    def kind(self, subject: Subject) -> str | None:
        module = subject.parsed()
        try:
            run_pipeline(self.context, module, self.pipeline)
        except BrokenByPassError as error:
            return f"invalid IR: {error.diagnostic.message.partition(':')[0]}"
        except DiagnosticException:
            return None
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            return f"{type(error).__name__} in {Path(frame.filename).name}:{frame.name}"
        return None

    def __str__(self) -> str:
        return f"the passes '{self.pipeline}' do not crash"


@dataclass
class Wrong(Predicate):
    """A result after the passes differs from that before by more than their class of numerics allows."""

    pipeline: str
    context: Context
    options: CheckOptions = field(default_factory=CheckOptions)

    def kind(self, subject: Subject) -> str | None:
        before = subject.parsed()
        passes = parse_pipeline(self.pipeline)
        after = clone_op(before)
        with counting() as applied:
            run_pipeline(self.context, after, passes)
        numerics = weakest([class_of(each, applied.classes) for each in passes])
        weights = dict(self.options.weights or {}) or weights_of(before, self.options.seed)
        return self._kind(before, after, weights, numerics)

    def _kind(self, before: ModuleOp, after: ModuleOp, weights: dict[str, Array], numerics: str) -> str | None:
        for entry in entries(before)[0]:
            for inputs in self._inputs(entry):
                try:
                    if _differs(before, after, entry, inputs, weights, numerics):
                        return "wrong"
                except CannotRunError:
                    break
        return None

    def _inputs(self, entry: Entry) -> Sequence[InputSet]:
        if self.options.inputs is not None:
            return [given_inputs(entry, self.options.inputs, self.options.inputs_file)]
        shapes = shapes_of(entry, self.options.shapes)
        return [made_inputs(entry, kind, self.options.seed, shapes) for kind in KINDS]

    def __str__(self) -> str:
        return f"the passes '{self.pipeline}' change no result"


def _differs(
    before: ModuleOp, after: ModuleOp, entry: Entry, inputs: InputSet, weights: dict[str, Array], numerics: str
) -> bool:
    old = evaluate(before, entry.name, inputs.arrays, weights)
    if not old.is_right:
        return False
    new = evaluate(after, entry.name, inputs.arrays, weights, old.arrays)
    if not new.is_right:
        return True
    if _shapes(old) != _shapes(new):
        return True
    if exactly(old.arrays, new.arrays).mismatch is None:
        return False
    if numerics == "exact" and old.how == new.how:
        return True
    slack = sensitivity(before, entry.name, inputs, weights, old.arrays, numerics)
    if slack.overflows:
        return False
    return nearly(old.arrays, new.arrays, slack.slacks, numerics, infinite=inputs.is_infinite).mismatch is not None


def _shapes(outcome: Outcome) -> list[tuple[int, ...]]:
    return [each.shape for each in outcome.arrays]


def not_interesting(predicate: Predicate, file: str) -> StepwellError:
    """Returns the error of a program that does not fail in the first place."""
    return StepwellError(
        Diagnostic(
            f"'{file}' is not interesting: {predicate}", hint="reduce needs a program that fails before it shrinks"
        )
    )
