"""Maps a model over the chunks that have no results yet, on any cluster."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path

from chunk_worker import Answer, Settings, reason_of, run_chunk
from clusters import Cluster
from dataset import Chunk, Dataset
from folder import Folder

AHEAD = 2
"""The chunks that are on their way for each that is computed. More take memory, fewer let workers wait."""


@dataclass
class Summary:
    """What has come of a run so far."""

    total: int
    before: int
    """The chunks that an earlier run had done."""
    done: int = 0
    errors: dict[Chunk, str] = field(default_factory=dict)
    workers: Counter[str] = field(default_factory=Counter)
    """The chunks by worker."""
    loads: int = 0
    """How often a worker had to load the model."""
    count: int = 0
    """The chunks that the cluster can compute at the same time."""
    start: float = field(default_factory=time.monotonic)

    def __str__(self) -> str:
        seconds = max(1e-9, time.monotonic() - self.start)
        left = self.total - self.before - self.done - len(self.errors)
        parts = [f"{self.before + self.done} of {self.total} chunks"]
        parts += [f"{self.before} of them before"] if self.before else []
        parts += [f"{len(self.errors)} failed"] if self.errors else []
        parts += [f"{self.count} at a time", f"{self.done / seconds:.1f} chunks/s"]
        parts += [f"{left * seconds / self.done:.0f} s left"] if left and self.done else []
        return ", ".join(parts)


Watch = Callable[[Summary], None]
"""What is told after each chunk."""


def map_chunks(
    cluster: Cluster,
    model: Path,
    settings: Settings,
    data: Dataset,
    folder: Folder,
    missing: Sequence[Chunk],
    watch: Watch,
    most_errors: int = 10,
) -> Summary:
    """
    Computes the chunks of `data` that are `missing` in `folder`, and returns what came of it.

    A chunk is computed at least once: again where its worker is lost. Its results are there once, because a file has
    its number and is renamed into place. After `most_errors` chunks that failed, no more are begun.
    """
    summary = Summary(len(data.chunks), len(data.chunks) - len(missing))
    source = cluster.send(model, settings.digest)
    running: dict[Future[Answer], Chunk] = {}
    todo = iter(missing)
    while True:
        summary.count = cluster.count
        while len(running) < AHEAD * max(1, summary.count) and len(summary.errors) < most_errors:
            chunk = next(todo, None)
            if chunk is None:
                break
            running[cluster.submit(run_chunk, source, settings, data.part(chunk))] = chunk
        if not running:
            return summary
        for future in wait(running, timeout=1.0, return_when=FIRST_COMPLETED).done:
            _take(future, running.pop(future), folder, summary)
            watch(summary)


def _take(future: Future[Answer], chunk: Chunk, folder: Folder, summary: Summary) -> None:
    """Keeps the results of a chunk, or why there are none."""
    try:
        answer = future.result()
    except Exception as error:  # The cluster gave up: too many workers were lost with it.
        summary.errors[chunk] = reason_of(error)
        return
    summary.loads += answer.loaded
    if answer.error:
        summary.errors[chunk] = answer.error
        return
    folder.write(chunk, answer.results)
    summary.workers[answer.worker] += 1
    summary.done += 1


class Progress:
    """One line on standard error, which is written over on a terminal and comes every ten seconds elsewhere."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._next = 0.0 if self._terminal else time.monotonic() + 10.0

    def __call__(self, summary: Summary) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + (0.2 if self._terminal else 10.0)
            self._write(summary, "" if self._terminal else "\n")

    def end(self, summary: Summary) -> None:
        """Writes the last line."""
        self._write(summary, "\n")

    def _write(self, summary: Summary, end: str) -> None:
        start = "\r\x1b[K" if self._terminal else ""
        print(f"{start}{summary}", end=end, file=sys.stderr, flush=True)
