"""A queue of requests that become calls of the model, several requests each, on threads of a pool."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from engines import Array
from model import Key, Model


class QueueFull(Exception):
    """Raised when as many requests wait as are allowed to."""


@dataclass(eq=False)
class Request:
    """Arrays that wait for their outputs."""

    arrays: Sequence[Array]
    rows: int
    key: Key
    answer: asyncio.Future[Sequence[Array]]
    arrived: float = field(default_factory=time.monotonic)


class Batcher:
    """
    Gathers requests until `max_rows` rows are there or the oldest one has waited `max_wait` seconds.

    At most `workers` calls run at once. While they do, requests wait and the next batch grows. All methods run on the
    event loop, so nothing here needs a lock; only `Model.run` runs on other threads, and releases Python's lock.
    """

    def __init__(self, model: Model, workers: int, max_wait: float, limit: int, measured: Callable[[int, float], None]):
        self.model, self.max_wait, self.limit = model, max_wait if model.gathers else 0.0, limit
        self.waiting: list[Request] = []
        self._measured = measured
        self._pool = ThreadPoolExecutor(workers, "model")
        self._free = asyncio.Semaphore(workers)
        self._news = asyncio.Event()
        self._calls: set[asyncio.Task[None]] = set()
        self._loop = asyncio.create_task(self._run())

    async def submit(self, arrays: Sequence[Array], timeout: float) -> Sequence[Array]:
        """Returns the outputs. Raises QueueFull, TimeoutError, BadInput, and the errors of the engine."""
        rows = self.model.check(arrays)
        if len(self.waiting) >= self.limit:
            raise QueueFull
        answer = asyncio.get_running_loop().create_future()
        self.waiting.append(Request(arrays, rows, self.model.key(arrays), answer))
        self._news.set()
        return await asyncio.wait_for(answer, timeout)

    async def close(self) -> None:
        """Waits for what is in the queue, then ends the threads."""
        self.max_wait = 0.0
        self._news.set()
        while self.waiting or self._calls:
            await asyncio.sleep(0.005)
        self._loop.cancel()
        self._pool.shutdown()

    async def _run(self) -> None:
        while True:
            await self._free.acquire()
            batch = await self._next()
            call = asyncio.create_task(self._call(batch))
            self._calls.add(call)
            call.add_done_callback(self._calls.discard)

    async def _next(self) -> list[Request]:
        """Returns the requests of the next call, once there are enough rows or the oldest one has waited."""
        while True:
            self._news.clear()
            # Requests that waited too long have cancelled their futures.
            self.waiting = [each for each in self.waiting if not each.answer.done()]
            batch = self._fitting()
            if batch:
                left = batch[0].arrived + self.max_wait - time.monotonic()
                # Where a request does not fit any more, the next call waits for this one.
                full = sum(each.rows for each in batch) >= self.model.max_rows or len(batch) < len(self.waiting)
                if full or left <= 0:
                    taken = set(batch)
                    self.waiting = [each for each in self.waiting if each not in taken]
                    return batch
            try:
                await asyncio.wait_for(self._news.wait(), left if batch else None)
            except TimeoutError:
                continue

    def _fitting(self) -> list[Request]:
        """Returns the oldest requests with the shapes of the oldest one, as many as fit one call."""
        batch: list[Request] = []
        rows = 0
        for each in self.waiting:
            if each.key != self.waiting[0].key:
                continue
            if batch and rows + each.rows > self.model.max_rows:
                break
            batch.append(each)
            rows += each.rows
            if rows >= self.model.max_rows:
                break
        return batch

    async def _call(self, batch: list[Request]) -> None:
        start = time.monotonic()
        try:
            await self._answer(batch)
        finally:
            self._free.release()
            self._measured(sum(each.rows for each in batch), time.monotonic() - start)

    async def _answer(self, batch: list[Request]) -> None:
        loop = asyncio.get_running_loop()
        try:
            answers = await loop.run_in_executor(self._pool, self.model.run, [each.arrays for each in batch])
        except Exception as error:
            if len(batch) == 1:
                self.model.worked(batch[0].key, False)
                if not batch[0].answer.done():
                    batch[0].answer.set_exception(error)
                return
            # One request must not fail because of another: an index out of range ends the whole call.
            for each in batch:
                await self._answer([each])
            return
        self.model.worked(batch[0].key, True)
        for each, answer in zip(batch, answers, strict=True):
            if not each.answer.done():
                each.answer.set_result(answer)
