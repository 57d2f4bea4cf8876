"""A cluster of Ray (https://docs.ray.io)."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from typing import Any

import chunk_worker
import numpy as np
from clusters import RETRIES

# Ray reports its use over the network unless told otherwise.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray


class RayCluster:
    """The nodes of a cluster at `address`, or processes of this machine. A call takes one CPU of what Ray counts."""

    def __init__(self, address: str | None, workers: int, seconds: float):
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if address is None:
            path = [str(Path(chunk_worker.__file__).parent), os.environ.get("PYTHONPATH")]
            os.environ["PYTHONPATH"] = os.pathsep.join(each for each in path if each)
            # Without an address, Ray would join a cluster of this machine.
            ray.init("local", num_cpus=workers, include_dashboard=False, **options)
        else:
            _check_reachable(address, seconds)
            ray.init(address, runtime_env={"py_modules": [chunk_worker.__file__]}, **options)
        end = time.monotonic() + seconds
        while self.count < workers:
            if time.monotonic() > end:
                ray.shutdown()
                raise TimeoutError(f"the cluster has {self.count} CPUs after {seconds:g} s, expected {workers}")
            time.sleep(0.2)

    @property
    def count(self) -> int:
        """The CPUs of the cluster."""
        return int(ray.cluster_resources().get("CPU", 0))

    def send(self, path: Path, digest: str) -> Any:
        """Puts a file into the store of objects, which brings it to each node once. Its workers share that memory."""
        return ray.put(np.fromfile(path, np.uint8))

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Has a worker call a function."""
        future: Future[Any] = Future()
        # Ray sets a result whatever became of the future, so it must not be cancelled.
        future.set_running_or_notify_cancel()
        _remote(function).remote(*arguments).future().add_done_callback(lambda found: _pass_on(found, future))
        return future

    def close(self) -> None:
        """Ends the processes of this machine, or leaves the cluster. Ray then drops what this process had asked for."""
        ray.shutdown()


def _check_reachable(address: str, seconds: float) -> None:
    """Raises OSError where nothing listens at an address: `ray.init` would wait for more than ten minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        try:
            socket.create_connection((host, int(port)), seconds).close()
        except OSError as error:
            raise ConnectionError(f"nothing answers at '{address}': {error}") from error


@cache
def _remote(function: Callable[..., Any]) -> Any:
    return ray.remote(num_cpus=1, max_retries=RETRIES)(function)


def _pass_on(found: Future[Any], future: Future[Any]) -> None:
    error = found.exception()
    if error is None:
        future.set_result(found.result())
    else:
        future.set_exception(error)
