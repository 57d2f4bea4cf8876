"""
`Executable.profile` measures how long each kernel of a program takes.

The program is compiled once more with the pass `profile-kernels` after `lower-loops-to-scf`: one more result holds the
times.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr

from ...analysis.drawing.html import output, table
from ...core.passes.pipeline_text import expand_pipeline
from ...core.roles import PROFILE
from ...lazy_dataclass import dataclass
from ..errors import ArgumentError, CompileError
from ..modules import copy_of
from ..program.bound_entry import BoundEntry
from ..program.describe import functions
from ..source import Source
from ..specialisations import Shapes
from ..stairs import in_pipeline
from .calls import Call
from .parts import ModuleTime, NodeTime, by_module, by_node, module_rows, node_rows
from .table import table_lines

MEASURE_SECONDS = 0.3
"""The time to go on calling where no number of rounds is given."""

BY = ("kernel", "node", "module")
"""What the times of a profile are summed by."""

OUTSIDE = "(outside of kernels)"

LEAST_ROUNDS, MOST_ROUNDS = 3, 1000

_MEASURED_STAIR = "lower-loops-to-scf"


@dataclass(frozen=True)
class Kernel:
    """All calls of one kernel in a run."""

    name: str
    calls: int
    microseconds: float
    share: float
    """The part of the time of the whole run."""
    gflops: float
    """10^9 operations per second, 0 for a kernel without operations."""
    gbytes: float
    """10^9 bytes per second of the arrays it is given, each counted once per call."""


@dataclass(frozen=True)
class Profile:
    """What was measured. `str` gives it as a table."""

    calls: tuple[Call, ...]
    microseconds: float
    """The time of a whole run, the median of the rounds, measuring included."""
    rounds: int

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The times by kernel, the one that takes longest first."""
        grouped: dict[str, list[Call]] = {}
        for call in self.calls:
            grouped.setdefault(call.kernel, []).append(call)
        found = [self._kernel(name, calls) for name, calls in grouped.items()]
        return tuple(sorted(found, key=lambda kernel: (-kernel.microseconds, kernel.name)))

    def _kernel(self, name: str, calls: Sequence[Call]) -> Kernel:
        took = sum(call.microseconds for call in calls)
        rate = 1e-3 / took if took > 0 else 0.0
        return Kernel(
            name,
            sum(call.calls for call in calls),
            took,
            took / self.microseconds if self.microseconds > 0 else 0.0,
            rate * sum(call.calls * call.operations for call in calls),
            rate * sum(call.calls * call.bytes for call in calls),
        )

    @property
    def nodes(self) -> tuple[NodeTime, ...]:
        """The times by the nodes or lines that the kernels compute, those that take longest first."""
        return by_node(self.calls, self.microseconds)

    @property
    def modules(self) -> tuple[ModuleTime, ...]:
        """The times by part of the model, `encoder` before `encoder/layer.0`. The names of its nodes say the parts."""
        return by_module(self.calls, self.microseconds)

    def table(self, by: str = "kernel") -> str:
        """Returns the times as a table by `kernel`, `node` or `module`. Raises ArgumentError for another word."""
        if by not in BY:
            raise ArgumentError(f"a profile has no table by {by!r}, expected one of {', '.join(BY)}")
        rows, left = self._rows_by(by)
        return "\n".join(table_lines(rows, left))

    @property
    def outside(self) -> float:
        """Microseconds of a run that are in no kernel."""
        return max(0.0, self.microseconds - sum(call.microseconds for call in self.calls))

    def to_json(self) -> dict[str, Any]:
        """Returns plain data, which `stepwell-show --profile` reads from a file."""
        return asdict(self)

    def __repr__(self) -> str:
        names = ", ".join(kernel.name for kernel in self.kernels[:3]) + (", …" if len(self.kernels) > 3 else "")
        return f"<stepwell.Profile {self.microseconds:.1f} µs a run: {names}>"

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        shares = [kernel.share for kernel in self.kernels]
        return output(table(self._rows(), shares))

    def _rows_by(self, by: str) -> tuple[list[tuple[str, ...]], int]:
        """Returns the rows of a table, and how many columns are text."""
        if by == "kernel":
            return self._rows(), 1
        rows, left = (node_rows(self.nodes), 2) if by == "node" else (module_rows(self.modules), 1)
        empty = ("",) * left
        rows.append((OUTSIDE, *empty, f"{self.outside:.1f}", f"{self._rest:.1%}"))
        rows.append((f"a run, median of {self.rounds}", *empty, f"{self.microseconds:.1f}", ""))
        return rows, left

    @property
    def _rest(self) -> float:
        return self.outside / self.microseconds if self.microseconds > 0 else 0.0

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("kernel", "calls", "µs", "share", "GFLOP/s", "GB/s")]
        for kernel in self.kernels:
            flops = f"{kernel.gflops:.1f}" if kernel.gflops > 0 else "-"
            numbers = f"{kernel.microseconds:.1f}", f"{kernel.share:.1%}", flops, f"{kernel.gbytes:.1f}"
            rows.append((kernel.name, str(kernel.calls), *numbers))
        rows.append((OUTSIDE, "", f"{self.outside:.1f}", f"{self._rest:.1%}", "", ""))
        rows.append((f"a run, median of {self.rounds}", "", f"{self.microseconds:.1f}", "", "", ""))
        return rows


@dataclass(frozen=True)
class Measuring:
    """A program that measures itself. Its last result holds counts and times, one pair for each of `rows`."""

    entry: BoundEntry
    rows: tuple[Call, ...]
    """The calls, whose counts and times are still to be measured."""

    def run(self, arrays: Sequence[Any], rounds: int | None) -> Profile:
        """
        Returns the medians over `rounds` rounds, or over as many as `MEASURE_SECONDS` allow.

        One more round warms up.
        """
        arrays = self.entry.apart(arrays)
        self.entry(*arrays)
        found: list[np.ndarray[Any, Any]] = []
        end = time.perf_counter() + MEASURE_SECONDS
        while len(found) < (rounds or MOST_ROUNDS):
            found.append(self.entry(*arrays)[-1])
            if rounds is None and len(found) >= LEAST_ROUNDS and time.perf_counter() > end:
                break
        counts, times = found[-1][:, 0], np.median([each[:, 1] for each in found], axis=0) / 1e3
        calls = tuple(
            replace(row, calls=int(count), microseconds=float(took))
            for row, count, took in zip(self.rows, counts, times, strict=False)
        )
        return Profile(calls, float(times[-1]), len(found))


def measuring_program(source: Source, shapes: Shapes | None) -> Measuring:
    """Compiles the program of `source` with the pass `profile-kernels`. The compile cache has no part in it."""
    module = copy_of(source.module)
    description, code = source.compiled(module, with_profiling(source.pipeline_for(shapes), source.entry))
    if PROFILE not in functions(module)[source.entry].attributes:
        raise CompileError(f"@{source.entry} never stands on the scf level, where kernels are measured")
    return Measuring(source.program(description, code).entry(source.entry), rows_of(module, source.entry))


def with_profiling(pipeline: str, entry: str) -> str:
    """
    Returns the passes of `pipeline`, with `profile-kernels` after each `lower-loops-to-scf`. The first one that finds
    the program on the scf level has an effect.

    Raises CompileError without any.
    """
    passes = [str(spec) for spec in expand_pipeline(pipeline)]
    if _MEASURED_STAIR not in passes:
        raise CompileError(f"the pipeline has no {_MEASURED_STAIR}, after which kernels are measured")
    measure = f'profile-kernels{{entry="{in_pipeline(entry)}" where-lowered=true}}'
    return ",".join(f"{each},{measure}" if each == _MEASURED_STAIR else each for each in passes)


def rows_of(module: ModuleOp, entry: str) -> tuple[Call, ...]:
    """Returns what `profile-kernels` says about the calls, which are not measured yet."""
    given = functions(module)[entry].attributes.get(PROFILE)
    rows: list[Call] = []
    for item in given.data if isinstance(given, ArrayAttr) else ():
        assert isinstance(item, DictionaryAttr)
        kernel, place = (_text(item.data[key]) for key in ("kernel", "place"))
        operations, size = (_number(item.data[key]) for key in ("operations", "bytes"))
        nodes, lines = (_texts(item.data.get(key)) for key in ("nodes", "lines"))
        rows.append(Call(kernel, place, 0, 0.0, operations, size, nodes, lines))
    return tuple(rows)


def _texts(attribute: Any) -> tuple[str, ...]:
    return tuple(map(_text, attribute.data)) if isinstance(attribute, ArrayAttr) else ()


def _text(attribute: Any) -> str:
    return attribute.data if isinstance(attribute, StringAttr) else ""


def _number(attribute: Any) -> int:
    return attribute.value.data if isinstance(attribute, IntegerAttr) else 0
