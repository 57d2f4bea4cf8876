"""Jobs that crash, hang or raise, and the executors that run them."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
import types
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest
import tuning_hooks as hooks
from hypothesis import given
from hypothesis import strategies as st
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.runtime.tuning import child, isolation
from stepwell.runtime.tuning.isolation import Batch, run_batch, stop
from stepwell.runtime.tuning.job import Job, Outcome, interval_of_median
from stepwell.runtime.tuning.workers import Workers


def jobs(*rows: int) -> tuple[Job, ...]:
    return tuple(Job("", f"#schedule.tiling<rows = {number}, columns = 1>", rounds=1) for number in rows)


@pytest.mark.parametrize(
    ("measure", "status", "detail"),
    [
        (hooks.crashing, "crashed", "the process was ended by SIGSEGV"),
        (hooks.leaving, "crashed", "the process ended with code 3: nothing left to do"),
        (hooks.hanging, "timeout", "no answer after 2 s"),
        (hooks.raising, "failed", "RuntimeError: no"),
    ],
    ids=["crashing", "leaving", "hanging", "raising"],
)
def test_a_bad_job_is_reported_and_the_others_are_measured(measure: Any, status: str, detail: str) -> None:
    timeout = 2.0 if measure is hooks.hanging else 60.0
    found = run_batch(Batch(jobs(2, 4, 8), measure, timeout))
    assert [outcome.status for outcome in found] == ["ok", status, "ok"]
    assert found[1].detail == detail
    assert [found[0].ratio, found[2].ratio] == [1.02, 1.08]


def test_what_a_job_prints_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    found = run_batch(Batch(jobs(2, 3), hooks.printing, 60.0))
    assert [outcome.ratio for outcome in found] == [1.02, 1.03]
    assert capfd.readouterr().out == ""


def test_a_measure_that_cannot_be_loaded_is_reported() -> None:
    hidden = types.FunctionType(hooks.by_rows.__code__, hooks.__dict__, "by_rows")
    hidden.__module__ = hidden.__qualname__ = "nowhere"
    sys.modules["nowhere"] = types.ModuleType("nowhere")
    sys.modules["nowhere"].__dict__["nowhere"] = hidden
    try:
        (found,) = run_batch(Batch(jobs(1), hidden, 60.0))
    finally:
        del sys.modules["nowhere"]
    assert found.status == "crashed"
    assert found.detail == "the process ended with code 1: ModuleNotFoundError: No module named 'nowhere'"


def test_a_process_that_does_not_come_up_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it says when it is ready was taken for an answer, and its end waited for (found by reading)."""
    monkeypatch.setattr(isolation, "START_SECONDS", 0.0)
    found = run_batch(Batch(jobs(2, 3), hooks.by_rows, 60.0))
    assert found == [Outcome("timeout", detail="the process did not come up in 0 s")] * 2


def test_a_batch_that_is_stopped_ends_its_process() -> None:
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run_batch, Batch(jobs(4, 4, 4), hooks.hanging, 600.0, "test"))
        time.sleep(0.5)
        stop("test")
        assert len(future.result(timeout=30)) <= 1


def test_a_process_nobody_waits_for_is_ended_by_the_system() -> None:
    (job,) = jobs(4)
    words = (
        (sys.path, str(Path(child.__file__).parents[2]), child.__name__),
        hooks.hanging,
        (job, 0.5 - child.GRACE),
    )
    process = subprocess.Popen([sys.executable, child.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b"".join(map(pickle.dumps, words)))
    process.stdin.flush()
    assert process.wait(timeout=30) == -signal.SIGALRM


class CountingExecutor(ThreadPoolExecutor):
    """An executor of one's own."""

    submitted = 0

    def submit(self, *args: Any, **named: Any) -> Future[Any]:
        self.submitted += 1
        return super().submit(*args, **named)


def outcomes(workers: Workers, *rows: int) -> list[Outcome]:
    found = dict(workers.run(jobs(*rows)))
    return [found[number] for number in range(len(rows))]


def test_threads_of_an_executor_of_ones_own() -> None:
    with CountingExecutor(2) as pool, Workers(pool, 2, False, hooks.crashing, 60.0) as workers:
        found = outcomes(workers, 2, 4, 8, 4)
        assert [outcome.status for outcome in found] == ["ok", "crashed", "ok", "crashed"]
        assert pool.submitted == 2


def test_processes_of_an_executor_of_ones_own_outlive_a_crash() -> None:
    with (
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool,
        Workers(pool, 2, False, hooks.crashing, 60.0) as workers,
    ):
        assert [outcome.status for outcome in outcomes(workers, 4, 2, 4, 8)] == [
            "crashed",
            "ok",
            "crashed",
            "ok",
        ]
        assert pool.submit(os.getpid).result() != os.getpid()


class BrokenPool(ThreadPoolExecutor):
    """An executor that takes no work."""

    def submit(self, *args: Any, **named: Any) -> Future[Any]:
        raise RuntimeError("cannot schedule new futures after shutdown")


def test_an_executor_that_fails_is_an_error() -> None:
    workers = Workers(BrokenPool(1), 1, False, hooks.by_rows, 60.0)
    with pytest.raises(
        StepwellError, match="the executor of tuning failed: RuntimeError: cannot schedule new futures"
    ) as found:
        list(workers.run(jobs(1)))
    assert found.value.diagnostic.hint == "what had been measured is in the database; running again goes on from there"


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=40))
def test_the_interval_holds_the_median(values: list[float]) -> None:
    low, high = interval_of_median(values)
    assert min(values) <= low <= median(values) <= high <= max(values)


def test_the_interval_misses_the_median_of_the_distribution_rarely() -> None:
    generator = np.random.default_rng(0)
    misses = 0
    for _ in range(400):
        low, high = interval_of_median(list(generator.exponential(1.0, 31)))
        misses += not low <= np.log(2) <= high
    assert 2 <= misses <= 30  # about 20 at most


class Losing(CountingExecutor):
    """An executor whose workers are lost: those of the first `lost` submissions."""

    lost = 1

    def submit(self, *args: Any, **named: Any) -> Future[Any]:
        future = super().submit(*args, **named)
        if self.submitted > self.lost:
            return future
        gone: Future[Any] = Future()
        gone.set_exception(RuntimeError("the worker died"))
        return gone


def test_the_jobs_of_a_lost_worker_are_measured_again() -> None:
    with Losing(2) as pool, Workers(pool, 2, False, hooks.by_rows, 60.0) as workers:
        found = outcomes(workers, 2, 3, 4, 8)
        assert [outcome.ratio for outcome in found] == [1.02, 1.03, 1.04, 1.08]
        assert pool.submitted == 2 + 2, "the batch of the lost worker comes again job by job"


def test_a_job_that_loses_every_worker_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Losing, "lost", 9)
    with Losing(1) as pool, Workers(pool, 1, False, hooks.by_rows, 60.0) as workers:
        with pytest.raises(StepwellError, match="the executor of tuning failed: RuntimeError: the worker died"):
            list(workers.run(jobs(1)))
        assert pool.submitted == 3


@pytest.mark.parametrize("first", ["EPYC, compiler 1", None])
def test_workers_of_different_kinds_do_not_mix(monkeypatch: pytest.MonkeyPatch, first: str | None) -> None:
    kinds = iter(["EPYC, compiler 1", "Xeon, compiler 1"])
    monkeypatch.setattr(isolation, "site", lambda: next(kinds))
    with ThreadPoolExecutor(1) as pool, Workers(pool, 1, False, hooks.by_rows, 60.0, first) as workers:
        assert len(list(workers.run(jobs(1)))) == 1
        with pytest.raises(StepwellError, match="measured on Xeon, compiler 1, expected EPYC, compiler 1") as found:
            list(workers.run(jobs(2)))
    assert found.value.diagnostic.hint is not None and "do not compare" in found.value.diagnostic.hint
