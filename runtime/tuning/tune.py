"""`stepwell.tune` fills a database with schedules that make the kernels of a program faster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ...core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from ...core.passes.context import PassContext
from ...core.passes.pipeline_text import parse_pipeline
from ...core.passes.pipelines import run_pipeline
from ...core.passes.progress import PassProgress
from ...core.text.parsing import make_context, parse
from ...machine.named import machine_named
from ...schedule.tuned.kernels import Kernel, kernels_of
from ..errors import CompileError
from ..modules import copy_of
from ..native.targets import check_runs_here
from ..native.threads import thread_count
from ..stairs import chosen_pipeline, leave_open_entries_out, set_signatures
from .database import Database
from .job import Measure
from .kernel_tuning import KernelTuning, Settings
from .measure import measure as measure_job
from .options import check_candidates, check_choices, check_measure, check_numbers, chosen_database
from .progress import Progress
from .report import TuningReport
from .site import site
from .workers import Workers

APPLY = "apply-tuning"
"""The pass in front of which the kernels are as tuned schedules meet them."""

Candidates = Callable[[Kernel], Iterable[str]]
"""Schedules of one's own for a kernel, as texts of a `schedule.program`."""


def tune(
    module_or_path: ModuleOp | str | Path,
    *,
    database: str | Path | None = None,
    trials: int = 64,
    seconds: float | None = None,
    executor: Executor | None = None,
    jobs: int | None = None,
    seed: int = 0,
    target: str = "host",
    kernel: str | None = None,
    timeout: float = 30.0,
    threads: int = 1,
    entry: str = "main",
    pipeline: str | None = None,
    opt_level: int = 3,
    numerics: str = "default",
    candidates: Candidates | None = None,
    measure: Measure = measure_job,
    replay: bool = False,
    progress: bool | None = None,
) -> TuningReport:
    """
    Looks for faster schedules of the kernels of a program and keeps them in a database, which the next `compile` uses.

    The program is lowered, as `compile` does, to the loop functions that `schedule-cpu` sees. All different ones are
    tuned in turn. What the database holds of them already is not measured again. Every schedule is compiled and run in
    a process that may crash or hang without harm. Its results are compared with the default's before it is timed. It
    replaces the default where a second measurement confirms that it is faster.

    Args:
        pipeline, opt_level, numerics: As for `compile`.
        kernel: The name of the only loop function to tune.
        trials: The most schedules for each loop function.
        seconds: The most seconds for all of them, the last confirmations aside.
        timeout: The most seconds for compiling and running one schedule.
        executor: Any `concurrent.futures.Executor`, also of machines of the same kind that have this package. When
            None, threads start local processes. What a lost worker was to measure is measured again.
        jobs: The number of jobs that the executor runs at a time.
        database: A file. When None, it is that of `compile`.
        candidates: A function that takes a `Kernel` and returns the texts of the schedules to try first for it.
        measure: A function in place of `runtime/tuning/measure.py`. A module must know it by name.
        replay: Tries the same candidates once more, from the database alone.
        progress: Whether to show a bar on standard error. When None, there is one on a terminal.

    Raises StepwellError, CompileError, or the diagnostics of parser, verifier and passes. A schedule never does.
    """
    check_candidates(candidates)
    check_numbers(trials, seconds, timeout, jobs, seed)
    check_choices(numerics, executor, opt_level, target, database)
    check_measure(measure)
    if measure is measure_job and executor is None and not replay:
        check_runs_here(target)
    path = chosen_database(database, replay)
    settings = Settings(target, trials, seed, thread_count(threads), timeout, measure, replay)
    kernels = _chosen(
        _kernels(module_or_path, entry, chosen_pipeline(pipeline, opt_level, numerics), target, progress), kernel
    )
    deadline = None if seconds is None else time.monotonic() + seconds
    with ExitStack() as stack:
        count = jobs or (1 if executor is None else 4)
        pool = stack.enter_context(ThreadPoolExecutor(count)) if executor is None else executor
        workers = stack.enter_context(
            # Records for "host" say that they are of this machine. Those for a named target may be of any.
            Workers(pool, count, executor is None, measure, timeout, site() if target == "host" else None)
        )
        bar = Progress(trials * len(kernels), progress)
        stack.callback(bar.close)
        records = Database(path, machine_named(target))
        if kernels and not replay:
            records.check_writable()
        runs = [
            KernelTuning(each, names, settings, records, workers, bar, () if candidates is None else candidates(each))
            for names, each in kernels
        ]
        _take_turns(runs, deadline)
        return TuningReport(path, tuple(run.finish() for run in runs))


def _take_turns(runs: list[KernelTuning], deadline: float | None) -> None:
    """Measures a generation of one kernel after the other, so that little time is shared fairly."""
    going = list(runs)
    while going:
        for run in list(going):
            if deadline is not None and time.monotonic() >= deadline:
                for each in going:
                    each.stop("the time is up")
                return
            if not run.advance():
                going.remove(run)


def _kernels(
    module_or_path: ModuleOp | str | Path, entry: str, pipeline: str, target: str, progress: bool | None
) -> list[tuple[tuple[str, ...], Kernel]]:
    """Returns the different kernels of a program, each with the names it has there."""
    if isinstance(module_or_path, ModuleOp):
        module = copy_of(module_or_path)
    else:
        module = parse(module_or_path)
    with PassContext(opt_level=3, config={"target": target}):
        passes = parse_pipeline(pipeline)
        number = next((n for n, each in enumerate(passes) if each.name == APPLY), None)
        if number is None:
            raise CompileError(f"the pipeline has no '{APPLY}', so there is nothing to tune in it")
        set_signatures(module, entry)
        leave_open_entries_out(module, entry)
        with PassProgress("lower", progress) as watch:
            run_pipeline(make_context(), module, passes[:number], instruments=[watch])
    by_hash: dict[str, list[Kernel]] = {}
    for kernel in kernels_of(module):
        by_hash.setdefault(kernel.hash, []).append(kernel)
    return [(tuple(each.name for each in same), same[0]) for same in by_hash.values()]


def _chosen(kernels: list[tuple[tuple[str, ...], Kernel]], name: str | None) -> list[tuple[tuple[str, ...], Kernel]]:
    if name is None:
        return kernels
    found = [(names, kernel) for names, kernel in kernels if name in names]
    if not found:
        known = [each for names, _ in kernels for each in names]
        hint = did_you_mean(name, known) or f"it has {', '.join(known) or 'none that can be tuned'}"
        raise StepwellError(Diagnostic(f"the program has no kernel '{name}'", hint=hint))
    return found
