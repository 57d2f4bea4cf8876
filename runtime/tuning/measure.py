"""Runs a candidate against the default: first to see whether it is right, then how fast."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from statistics import median
from typing import Any

import numpy as np
from xdsl.utils.exceptions import DiagnosticException

from ...core.passes.context import PassContext
from ...core.text.parsing import make_context, parse_text
from ...dialects.graph.constants import WeightOp
from ...schedule.program.check import TOLERANCE
from ...te.dtypes import numpy_dtype
from ..compile import compile
from ..errors import ArgumentError, CompileError, ExecutionError
from ..executable import Executable
from ..program.arrays import ArrayType
from ..program.describe import array_type
from .job import Job, Outcome

PIPELINE = "apply-schedule,O3"
"""The passes that make code of a kernel that has its schedule beside it."""

LOOK_AFTER = 3
"""The number of rounds after which a candidate that is slower is given up."""


def measure(job: Job) -> Outcome:
    """
    Compares a candidate with the default: both compiled, run on the same arguments, then timed in turn.

    The outcome is `wrong` where a result differs by more than regrouped sums may. The time is that of this thread on
    its processor with one thread, that on the wall with more.
    """
    try:
        default = _program(job.default, job.target, job.threads, job.seed)
        arrays = arguments(default.input_types, job.seed)
        expected = default(*arrays)
    except (DiagnosticException, CompileError, ExecutionError) as error:
        return Outcome("failed", detail=f"the default: {_said(error)}", fault_of_default=True)
    try:
        candidate = _program.__wrapped__(job.candidate, job.target, job.threads, job.seed)
        found = candidate(*arrays)
    except (DiagnosticException, CompileError) as error:
        return Outcome("refused", detail=_said(error))
    except (ArgumentError, ExecutionError) as error:
        return Outcome("wrong", detail=_said(error))
    for number, (right, result) in enumerate(zip(expected, found, strict=True)):
        reason = difference(right, result, default.output_types[number][1].dtype)
        if reason is not None:
            return Outcome("wrong", detail=f"result {number}: {reason}")
    rounds = _rounds(job, default, candidate, arrays)
    times = median(theirs for theirs, _ in rounds), median(mine for _, mine in rounds)
    return Outcome("ok", tuple(theirs / mine for theirs, mine in rounds), microseconds=times)


@lru_cache(4)
def _program(text: str, target: str, threads: int, seed: int) -> Executable:
    """Returns a kernel compiled. Raises what `compile` raises."""
    module = parse_text(make_context(), text, "candidate")
    types = {op.weight_key: array_type(op.result.type) for op in module.walk() if isinstance(op, WeightOp)}
    weights = dict(zip(types, arguments(list(types.items()), seed + 1), strict=True))
    with PassContext(opt_level=3, config={"target": target}):
        return compile(
            module,
            pipeline=PIPELINE,
            weights=weights,
            threads=threads,
            cache=False,
            tuning=False,  # The default would else be a schedule that was found before.
            progress=False,
        )


def arguments(types: Any, seed: int) -> list[np.ndarray[Any, Any]]:
    """
    Returns small whole numbers, so that sums of their products are exact whatever the order.

    Integers are not negative, and bytes are 0 or 1, as these may be indices or truth values.
    """
    generator = np.random.default_rng(seed)
    return [_array(generator, type_) for _, type_ in types]


def _array(generator: np.random.Generator, type_: ArrayType) -> np.ndarray[Any, Any]:
    dtype = type_.dtype
    low, high = (-3, 4) if "f" in dtype else (0, 2) if dtype in ("i1", "i8", "ui8") else (0, 3)
    array = type_.allocate()
    array[...] = generator.integers(low, high, type_.sizes).astype(numpy_dtype(dtype))
    return array


def difference(right: Any, found: Any, dtype: str) -> str | None:
    """
    Returns how two results differ by more than regrouped sums may, or None where they do not.

    The tolerance is relative to the largest number.
    """
    exact = right.dtype.kind in "iub"
    left, other = (each if exact else each.astype(np.float64) for each in (right, found))
    finite = left[np.isfinite(left)]
    largest = 1.0 if exact or not finite.size else max(1.0, float(np.abs(finite).max()))
    tolerance = 0.0 if exact else TOLERANCE.get(dtype, 0.0)
    same = np.isclose(other, left, rtol=tolerance, atol=tolerance * largest, equal_nan=not exact)
    if same.all():
        return None
    first = tuple(int(index) for index in np.argwhere(~same)[0])
    return (
        f"{int((~same).sum())} of {same.size} elements differ, at {list(first)} it is {found[first]}, expected "
        f"{right[first]}"
    )


def _rounds(job: Job, default: Executable, candidate: Executable, arrays: list[Any]) -> list[tuple[float, float]]:
    """
    Returns the microseconds of a call of the default and of the candidate, for each round. Which one goes first
    alternates.
    """
    outputs = [type_.allocate(arrays[0] if arrays else None) for _, type_ in default.output_types]
    clock = time.thread_time_ns if job.threads == 1 else time.perf_counter_ns
    runs: list[Callable[[int], int]] = [
        lambda count, exe=exe: _time(exe, outputs, arrays, count, clock) for exe in (default, candidate)
    ]
    for run in runs:
        run(2)
    once = max(1, min(run(1) for run in runs))
    count = max(1, round(job.round_seconds * 1e9 / once))
    rounds: list[tuple[float, float]] = []
    for number in range(job.rounds):
        first = number % 2
        took = {first: runs[first](count), 1 - first: runs[1 - first](count)}
        rounds.append((took[0] / count / 1e3, max(1, took[1]) / count / 1e3))
        ratio = median(theirs / mine for theirs, mine in rounds)
        if job.stop_below is not None and number + 1 >= LOOK_AFTER and ratio < job.stop_below:
            break
    return rounds


def _time(exe: Executable, outputs: list[Any], arrays: list[Any], count: int, clock: Callable[[], int]) -> int:
    """Returns the nanoseconds that `count` calls take."""
    start = clock()
    for _ in range(count):
        exe.run_into(outputs, *arrays)
    return clock() - start


def _said(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
