"""Records where the time goes until a program has run: stages say their name, to whoever asks for them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Stages = list[tuple[str, float]]
"""Names and seconds, in the order in which the stages ended."""

_recorded: ContextVar[Stages | None] = ContextVar("stepwell_stages", default=None)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Tells `recorded_stages` how long the block takes. Without that, it does nothing."""
    start = time.perf_counter()
    yield
    note_stage(name, time.perf_counter() - start)


def note_stage(name: str, seconds: float) -> None:
    """Tells `recorded_stages` of a stage that took `seconds`."""
    if (stages := _recorded.get()) is not None:
        stages.append((name, seconds))


@contextmanager
def recorded_stages() -> Iterator[Stages]:
    """Yields a list that the stages inside the block are added to."""
    stages: Stages = []
    token = _recorded.set(stages)
    try:
        yield stages
    finally:
        _recorded.reset(token)
