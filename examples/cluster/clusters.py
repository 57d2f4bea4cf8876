"""What the rest of the example asks of a cluster, and how one is opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from chunk_worker import alone

ENGINES = ("dask", "ray")

RETRIES = 3
"""The number of times that an engine computes again what a lost worker had."""


class Cluster(Protocol):
    """Processes that call functions, here or on other machines."""

    @property
    def count(self) -> int:
        """The number of calls that run at the same time. It changes as workers come and go."""
        ...

    def send(self, path: Path, digest: str) -> Any:
        """Sends a file to each worker once, also to those that come later. Returns what stands for it in `submit`."""
        ...

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Has a worker call a function. What a lost worker was doing is done again by another one."""
        ...

    def close(self) -> None:
        """Ends what this process has started, and leaves other people's cluster as it was."""
        ...


@contextmanager
def open_cluster(engine: str, address: str | None, workers: int, seconds: float = 60.0) -> Iterator[Cluster]:
    """
    Gives a cluster with at least `workers` workers: that at `address`, or processes of this machine.

    Raises TimeoutError where they are not there within `seconds`.
    """
    if engine == "dask":
        from on_dask import DaskCluster as Opened
    else:
        from on_ray import RayCluster as Opened
    cluster = Opened(address, workers, seconds)
    try:
        yield cluster
    finally:
        cluster.close()


class Measuring(Executor):
    """An executor whose workers do one thing at a time, for `stepwell.tune`."""

    def __init__(self, cluster: Cluster):
        self.cluster = cluster

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Has a worker call a function when it does nothing else."""
        assert not kwargs
        return self.cluster.submit(alone, fn, *args)
