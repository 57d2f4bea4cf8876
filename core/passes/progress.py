"""
A bar on standard error while something takes long: on a terminal only, drawn by tqdm where that is installed (the
extras `onnx` and `tune`).

```
compile:  41%|████████▏           | 00:03, bufferize
```
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from threading import Event, RLock, Thread
from typing import Any, Final

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .instrument import Instrument

DELAY: Final = 1.0
"""Seconds before a bar appears: what is done by then needs none."""

TICK: Final = 0.2
"""Seconds between two drawings, so that the clock goes on while one step takes long."""

FORMAT: Final = "{desc}: {percentage:3.0f}%|{bar:20}| {elapsed}{postfix}"


def on_terminal(shown: bool | None = None) -> bool:
    """
    Returns whether a bar is wanted, as `shown` says. When that is `None`, a bar is wanted where standard error is a
    terminal.
    """
    if shown is not None:
        return shown
    return sys.stderr is not None and sys.stderr.isatty()  # pyright: ignore[reportUnnecessaryComparison]


def bar_class() -> Any:
    """
    Returns a class for one bar of tqdm with a lock of its own. Raises ImportError where tqdm is not installed.

    The lock of tqdm is shared by all bars and processes. A bar that cannot write any more keeps it for good, as does a
    process that dies with it, and others wait for it.
    """
    from tqdm import tqdm  # pyright: ignore[reportMissingModuleSource]

    class Bar(tqdm):
        _lock = RLock()
        monitor_interval = 0
        """No thread that watches: it would wait for the lock too."""

        def display(self, *arguments: Any, **options: Any) -> Any:
            try:
                return super().display(*arguments, **options)
            except OSError:  # the terminal has gone
                self.disable = True
                return False

    return Bar


def _columns() -> int | None:
    """The width of a terminal that says it has none, as those of containers and tools do; None: tqdm finds out."""
    try:
        return None if os.get_terminal_size(sys.stderr.fileno()).columns > 0 else 80
    except (OSError, ValueError):
        return None


class Progress:
    """
    Shows how far something has come, inside `with Progress(…)`. The bar is gone afterwards, also after an exception.

    A thread draws, so that telling where one is costs nothing and the clock runs on through a long step. Without a
    terminal, or tqdm, nothing at all is written.
    """

    def __init__(self, what: str, total: float = 1.0, shown: bool | None = None):
        self._what, self._total, self._done, self._name = what, total, 0.0, ""
        self._ended = Event()
        self._thread = Thread(target=self._draw, daemon=True) if on_terminal(shown) else None

    def at(self, done: float, name: str = "", total: float | None = None) -> None:
        """Says that so much of the whole is done, and that `name` comes next."""
        self._done, self._name = done, name
        if total is not None:
            self._total = total

    def __enter__(self) -> Progress:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _draw(self) -> None:
        start = time.time()  # the clock of tqdm
        if self._ended.wait(DELAY):
            return
        try:
            bar = bar_class()(
                desc=self._what,
                leave=False,
                file=sys.stderr,
                bar_format=FORMAT,
                total=1.0,
                delay=1,
                ncols=_columns(),
                nrows=24,  # one bar needs no more, and a terminal may not know
            )
            bar.start_t, bar.delay = start, 0  # the delay has kept it from drawing with a clock of its own
            self._draw_until_the_end(bar)
        except (ImportError, OSError):  # no tqdm, or the terminal has gone
            return

    def _draw_until_the_end(self, bar: Any) -> None:
        ended = False
        try:
            while not ended and not bar.disable:
                bar.total, bar.n = self._total, min(self._done, self._total)
                bar.set_postfix_str(self._name, refresh=False)
                bar.refresh()
                ended = self._ended.wait(TICK)
            bar.close()
        except OSError:
            bar.disable = True  # else it tries again when it is collected
            raise


class PassProgress(Instrument):
    """
    The progress of a run of passes, inside `with PassProgress(…)`.

    `more`: the work that follows the passes, as a part of theirs; `then` says that it begins.
    """

    def __init__(self, what: str, shown: bool | None = None, more: float = 0.0):
        self._progress = Progress(what, shown=shown)
        self._more, self._passes, self._furthest = more, 0, 0.0

    def __enter__(self) -> PassProgress:
        self._progress.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._progress.__exit__(*raised)

    def before_pipeline(self, passes: Sequence[ModulePass], module: ModuleOp) -> None:
        self._passes, self._furthest = len(passes), 0.0
        self._progress.at(0, total=max(self._passes, 1) * (1 + self._more))

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        self.comes(index, pass_.name)

    def comes(self, place: float, name: str) -> None:
        """Says that `name` comes next, when so many passes are done. The bar never goes back."""
        self._furthest = max(self._furthest, place)
        self._progress.at(self._furthest, name)

    def then(self, name: str) -> None:
        """Says that all passes have run and that `name` follows."""
        self._progress.at(self._passes, name)
