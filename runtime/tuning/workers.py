"""Measures jobs on an executor, in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from types import TracebackType
from typing import Self
from uuid import uuid4

from ...core.messages.diagnostics import Diagnostic, StepwellError
from .isolation import Batch, run_batch, stop
from .job import Job, Measure, Outcome

MOST_IN_BATCH = 6
"""The number of jobs that share a process, which takes as long to come up as two or three of them take."""


class Workers:
    """Runs jobs on an executor. On leaving, it ends those of our own that still run."""

    def __init__(self, executor: Executor, count: int, owned: bool, measure: Measure, timeout: float):
        self._executor = executor
        self._count = count
        self._owned = owned
        self._measure = measure
        self._timeout = timeout
        self._name = uuid4().hex
        self._pending: set[Future[list[Outcome]]] = set()

    def run(self, jobs: Sequence[Job], together: bool = True) -> Iterator[tuple[int, Outcome]]:
        """
        Yields the outcomes as they come, each with the number of its job.

        Each job has a process of its own unless `together`. Raises `StepwellError` where the executor fails, whatever
        the reason.
        """
        size = max(1, min(MOST_IN_BATCH, -(-len(jobs) // self._count))) if together else 1
        starts: dict[Future[list[Outcome]], int] = {}
        try:
            for start in range(0, len(jobs), size):
                batch = Batch(tuple(jobs[start : start + size]), self._measure, self._timeout, self._name)
                starts[self._executor.submit(run_batch, batch)] = start
            self._pending.update(starts)
            for future in as_completed(starts):
                self._pending.discard(future)
                for offset, outcome in enumerate(future.result()):
                    yield starts[future] + offset, outcome
        except Exception as error:
            if isinstance(error, StepwellError):
                raise
            message = f"the executor of tuning failed: {type(error).__name__}: {error}"
            hint = "what had been measured is in the database; running again goes on from there"
            raise StepwellError(Diagnostic(message, hint=hint)) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for future in self._pending:
            future.cancel()
        if self._owned:
            stop(self._name)
