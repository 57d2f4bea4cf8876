"""Counters, histograms and gauges in the text format of Prometheus. Only the event loop writes them."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
ROWS = (1, 2, 4, 8, 16, 32, 64, 128)


class Histogram:
    """How many values were at most each bound. Prometheus computes quantiles from these."""

    def __init__(self, bounds: Sequence[float]):
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Counts one value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def lines(self, name: str) -> Iterator[str]:
        """Yields the lines of this histogram, whose counts add up from bucket to bucket."""
        below = 0
        for bound, count in zip((*self.bounds, "+Inf"), self.counts, strict=True):
            below += count
            yield f'{name}_bucket{{le="{bound}"}} {below}'
        yield f"{name}_sum {self.total:.6f}"
        yield f"{name}_count {below}"


class Metrics:
    """What the server counts. The gauges are asked for when somebody looks."""

    def __init__(self, gauges: dict[str, tuple[str, Callable[[], float]]]):
        self.answers: Counter[int] = Counter()
        self.seconds = Histogram(SECONDS)
        self.run_seconds = Histogram(SECONDS)
        self.batch_rows = Histogram(ROWS)
        self.gauges = {"process_resident_memory_bytes": ("Resident memory.", resident_bytes), **gauges}

    def called(self, rows: int, seconds: float) -> None:
        """Counts a call of the model."""
        self.batch_rows.add(rows)
        self.run_seconds.add(seconds)

    def answered(self, status: int, seconds: float) -> None:
        """Counts an answer to a client."""
        self.answers[status] += 1
        self.seconds.add(seconds)

    def text(self) -> str:
        """Returns all metrics, as Prometheus reads them."""
        lines = [*_head("stepwell_requests_total", "counter", "Answers by HTTP status.")]
        lines += [f'stepwell_requests_total{{code="{code}"}} {n}' for code, n in sorted(self.answers.items())]
        for name, what, histogram in (
            ("stepwell_request_seconds", "From the first byte of a request to its answer.", self.seconds),
            ("stepwell_call_seconds", "Calls of the model.", self.run_seconds),
            ("stepwell_call_rows", "Rows of a call, without those added to fill it.", self.batch_rows),
        ):
            lines += [*_head(name, "histogram", what), *histogram.lines(name)]
        for name, (what, value) in self.gauges.items():
            lines += [*_head(name, "gauge", what), f"{name} {float(value())}"]
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, what: str) -> tuple[str, str]:
    return f"# HELP {name} {what}", f"# TYPE {name} {kind}"


def resident_bytes() -> float:
    """Returns the resident memory of this process, 0 where the system has no /proc."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
