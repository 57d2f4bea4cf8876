"""
Records of runs: which passes ran on what, how long they took, what came out; and running the same again.

A record is JSON, with hashes (`core.ir.structural_hash`) in place of the programs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import Any, Final

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from ...lazy_dataclass import dataclass
from ..ir.structural_hash import structural_hash
from ..messages.diagnostics import Diagnostic, StepwellError
from ..messages.files import write_atomically
from ..text.parsing import read_source
from .context import current_context
from .instrument import Instrument
from .instruments import count_ops
from .options import make_pass
from .pipeline_text import load_pass

FORMAT: Final = "stepwell-pipeline-record"
VERSION: Final = 1


@dataclass
class PassRecord:
    """
    One pass of a run: its name and options, and what it did.

    `skipped` and `failed` say why it did not run or not to the end; then there is no `hash`, and the number of ops
    after it is that before it.
    """

    name: str
    options: dict[str, list[Any]]
    ops_before: int
    ops_after: int
    ms: float = 0.0
    hash: str | None = None
    changed: bool = False
    skipped: str | None = None
    failed: str | None = None

    def make(self) -> ModulePass:
        """The pass with the options it had."""
        options = {name: tuple(values) for name, values in self.options.items()}
        return make_pass(load_pass(self.name), ArgSpec(self.name, options))


@dataclass
class RunRecord:
    """A whole run: hashes and op counts of input and result, and the passes, in order."""

    input_hash: str = ""
    input_ops: int = 0
    context: dict[str, Any] | None = None
    passes: list[PassRecord] = field(default_factory=list)
    output_hash: str | None = None
    """The hash of the result, absent when the run failed."""

    def to_json(self) -> str:
        """Returns the text of the file that `read_record` reads."""
        return json.dumps({"format": FORMAT, "version": VERSION, **asdict(self)}, indent=2) + "\n"

    def run_passes(self) -> list[PassRecord]:
        """The passes that were not skipped."""
        return [each for each in self.passes if each.skipped is None]


class PipelineRecord(Instrument):
    """Records the run it watches. It is written to `path` at the end, also when the run fails."""

    def __init__(self, path: str | Path | None = None):
        self.record = RunRecord()
        self._path = path
        self._hash = ""
        self._ops = 0
        self._start = 0.0

    def __repr__(self) -> str:
        return f"<stepwell.PipelineRecord of {len(self.record.passes)} passes>"

    def before_pipeline(self, passes: Sequence[ModulePass], module: ModuleOp) -> None:
        self._hash, self._ops = structural_hash(module), count_ops(module)
        self.record = RunRecord(self._hash, self._ops, _context_of_run())

    def skipped_pass(self, pass_: ModulePass, reason: str) -> None:
        self._add(pass_).skipped = reason

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        self._add(pass_)
        self._start = time.perf_counter()

    def after_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        seconds = time.perf_counter() - self._start
        row = self.record.passes[-1]
        row.ms = round(seconds * 1e3, 3)
        row.hash, row.ops_after = structural_hash(module), count_ops(module)
        row.changed = row.hash != self._hash
        self._hash, self._ops = row.hash, row.ops_after

    def failed_pass(self, pass_: ModulePass, index: int, error: Exception) -> None:
        if self.record.passes:
            self.record.passes[-1].failed = f"{type(error).__name__}: {error}"

    def after_pipeline(self, module: ModuleOp) -> None:
        self.record.output_hash = self._hash

    def finish(self) -> None:
        if self._path is not None:
            write_atomically(self._path, self.record.to_json())

    def _add(self, pass_: ModulePass) -> PassRecord:
        options = {name: list(values) for name, values in pass_.spec().parameters.items()}
        row = PassRecord(pass_.name, options, self._ops, self._ops)
        self.record.passes.append(row)
        return row


def _context_of_run() -> dict[str, Any] | None:
    """For the reader of the record: what led to the passes in it. A replay runs these whatever the context."""
    context = current_context()
    if context is None:
        return None
    return {
        "opt_level": context.opt_level,
        "disabled": sorted(context.disabled),
        "required": sorted(context.required),
        "config": dict(sorted(context.config.items())),
    }


class ReplayCheck(Instrument):
    """Compares a run with a record, step by step. The first difference ends it with an error."""

    def __init__(self, record: RunRecord):
        self._record = record
        self._rows = record.run_passes()

    def before_pipeline(self, passes: Sequence[ModulePass], module: ModuleOp) -> None:
        found = structural_hash(module)
        if found != self._record.input_hash:
            message = (
                f"the program is not that of the record: its hash is {found}, recorded is {self._record.input_hash}"
            )
            raise StepwellError(Diagnostic(message, hint="-p runs passes on any program"))

    def after_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        recorded = self._rows[index].hash
        found = structural_hash(module)
        if recorded is not None and found != recorded:
            message = f"the result of pass '{pass_}' has hash {found}, recorded is {recorded}"
            raise StepwellError(Diagnostic(message, hint="the pass has changed since, or is not deterministic"))


def read_record(path: str | Path) -> RunRecord:
    """Reads a record. Raises `StepwellError` for a file that is none."""
    try:
        data = json.loads(read_source(path))
    except ValueError as error:
        raise _no_record(path, f"it is not JSON: {error}") from None
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise _no_record(path, f'it has no "format": "{FORMAT}"')
    if data.get("version") != VERSION:
        raise _no_record(path, f"its version is {data.get('version')}, expected {VERSION}")
    fields = {name: value for name, value in data.items() if name not in ("format", "version")}
    try:
        record = RunRecord(**fields)
        record.passes = [PassRecord(**row) for row in fields["passes"]]
    except (TypeError, KeyError) as error:
        raise _no_record(path, str(error)) from None
    return record


def _no_record(path: str | Path, reason: str) -> StepwellError:
    return StepwellError(Diagnostic(f"'{path}' is not a record of --save-pipeline: {reason}"))
