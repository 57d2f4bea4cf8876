"""A cluster of Dask distributed (https://distributed.dask.org)."""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any
from uuid import uuid4

import chunk_worker
import dask
from clusters import RETRIES
from distributed import Client, LocalCluster
from distributed.diagnostics.plugin import SchedulerUploadFile, UploadFile


class DaskCluster:
    """
    Workers of a scheduler at `address`, or processes of this machine with one thread each.

    Files go to workers by a plugin: the scheduler sends it to each worker once, and to new workers before their first
    task. As an argument of tasks, a file would draw them to the workers that have it already.
    """

    def __init__(self, address: str | None, workers: int, seconds: float):
        # Chunks are sent once each, and few at a time.
        warnings.filterwarnings("ignore", "Sending large graph")
        self._local = None
        if address is None:
            # It counts for the local scheduler alone: that of others has its own configuration.
            with dask.config.set({"distributed.scheduler.allowed-failures": RETRIES}):
                self._local = LocalCluster(
                    n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
                )
        self._client = Client(address or self._local, timeout=seconds, set_as_default=False)
        self._client.wait_for_workers(workers, timeout=seconds)
        self._executor = self._client.get_executor(pure=False)
        self._name = f"stepwell-{uuid4().hex}"  # Other clients of the scheduler may have sent the same files.
        self._sent: list[str] = []
        if self._local is None:
            # The scheduler reads what tasks are made of, so it needs the code too. Local processes find it where this
            # one does, and it would be loaded a second time here.
            self._client.register_plugin(SchedulerUploadFile(chunk_worker.__file__), name=self._name)
            self._client.register_plugin(UploadFile(chunk_worker.__file__), name=self._name)

    @property
    def count(self) -> int:
        """The threads of all workers."""
        return sum(self._client.nthreads().values())

    def send(self, path: Path, digest: str) -> str:
        """Sends a file to each worker once. Returns its name in the folder of a worker."""
        name = f"{self._name}-{digest[:12]}.stepwell"
        with tempfile.TemporaryDirectory() as folder:
            named = Path(folder) / name
            named.symlink_to(path.resolve())
            self._client.register_plugin(UploadFile(str(named), load=False), name=name)
        self._sent.append(name)
        return name

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Has a worker call a function."""
        return self._executor.submit(function, *arguments)

    def close(self) -> None:
        """Ends local workers. Those of others forget the files."""
        if self._local is None:
            for name in self._sent:
                self._client.unregister_worker_plugin(name)
                self._client.run(chunk_worker.forget, name, on_error="ignore")
            self._client.unregister_worker_plugin(self._name)
            self._client.unregister_scheduler_plugin(self._name)
        self._client.close()
        if self._local is not None:
            self._local.close()
