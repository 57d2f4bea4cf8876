"""Measures jobs on an executor, in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from types import TracebackType
from typing import Self
from uuid import uuid4

from ...core.messages.diagnostics import Diagnostic, StepwellError
from .isolation import Batch, run_batch_there, stop
from .job import Job, Measure, Outcome

MOST_IN_BATCH = 6
"""The number of jobs that share a process, which takes as long to come up as two or three of them take."""


LOST = 2
"""
The number of times that a job is measured again after its worker was lost.

More would hide an executor that loses every worker. Executors of clusters have attempts of their own besides.
"""


class Workers:
    """
    Runs jobs on an executor. On leaving, it ends those of our own that still run.

    All of them must be measured at one `site`: that of the first outcome where None is given.
    """

    def __init__(
        self,
        executor: Executor,
        count: int,
        owned: bool,
        measure: Measure,
        timeout: float,
        site: str | None = None,
    ):
        self._executor = executor
        self._count = count
        self._owned = owned
        self._measure = measure
        self._timeout = timeout
        self._site = site
        self._name = uuid4().hex
        self._pending: set[Future[tuple[str, list[Outcome]]]] = set()

    def run(self, jobs: Sequence[Job], together: bool = True) -> Iterator[tuple[int, Outcome]]:
        """
        Yields the outcomes as they come, each with the number of its job.

        Each job has a process of its own unless `together`. The jobs of a worker that is lost are measured again, one
        by one. Raises `StepwellError` where a worker is of another `site`, or the executor fails, whatever the reason.
        """
        try:
            yield from self._run(jobs, together)
        except Exception as error:
            if isinstance(error, StepwellError):
                raise
            message = f"the executor of tuning failed: {type(error).__name__}: {error}"
            hint = "what had been measured is in the database; running again goes on from there"
            raise StepwellError(Diagnostic(message, hint=hint)) from error

    def _run(self, jobs: Sequence[Job], together: bool) -> Iterator[tuple[int, Outcome]]:
        size = max(1, min(MOST_IN_BATCH, -(-len(jobs) // self._count))) if together else 1
        numbers = range(len(jobs))
        running = {self._submit(jobs, part): (part, 0) for part in (numbers[n : n + size] for n in numbers[::size])}
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                part, lost = running.pop(future)
                self._pending.discard(future)
                try:
                    site, outcomes = future.result()
                except Exception:
                    if lost == LOST:
                        raise
                    running |= {
                        self._submit(jobs, part[n : n + 1]): (part[n : n + 1], lost + 1) for n in range(len(part))
                    }
                    continue
                self._check(site)
                yield from zip(part, outcomes, strict=False)  # There are fewer where the run was stopped.

    def _submit(self, jobs: Sequence[Job], part: range) -> Future[tuple[str, list[Outcome]]]:
        batch = Batch(tuple(jobs[number] for number in part), self._measure, self._timeout, self._name)
        future = self._executor.submit(run_batch_there, batch)
        self._pending.add(future)
        return future

    def _check(self, site: str) -> None:
        """Raises `StepwellError` where what was measured at `site` cannot be compared with the rest."""
        if self._site is None:
            self._site = site
        if site != self._site:
            hint = "ratios of different processors or compilers do not compare; use workers of one kind"
            raise StepwellError(Diagnostic(f"a worker measured on {site}, expected {self._site}", hint=hint))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for future in self._pending:
            future.cancel()
        if self._owned:
            stop(self._name)
