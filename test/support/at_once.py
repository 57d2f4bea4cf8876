"""Calls from several threads at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable


def at_once(count: int, work: Callable[[int], None], seconds: float = 120) -> None:
    """
    Runs `work(0)`, `work(1)` … in `count` threads. Raises what one of them raised, and where one takes longer than
    `seconds`.
    """
    raised: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
        assert not thread.is_alive(), f"a thread has not ended after {seconds} seconds"
    if raised:
        raise raised[0]
