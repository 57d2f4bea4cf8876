"""
Fewer runs of Python's cycle collector while a program is compiled.

IR is many small objects that point at each other in cycles. Left alone, the collector looks at all that live again and
again while a compilation only adds to them: a sixth of the time to compile.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from .forks import free_in_children

PATIENCE: Final = 1_000_000
"""New objects before the collector runs: some 100 MB, so that the garbage of a large module does not add up."""

FEW: Final = 20_000
"""New objects that the collector looks at in a few milliseconds."""

_LOCK = Lock()
free_in_children(sys.modules[__name__], "_LOCK")
_inside = 0
_before: tuple[int, int, int] = (0, 0, 0)
_settled = _collections = 0
"""The objects made old since the last collection of old ones, and how many of these there were before."""


@contextmanager
def patient_collector() -> Iterator[None]:
    """
    Makes the cycle collector wait for `PATIENCE` new objects inside the block.

    Where it is switched off, or waits for longer, it stays so. Nested and concurrent uses are fine: the last to leave
    puts back what the first found.
    """
    global _inside, _before
    with _LOCK:
        _inside += 1
        if _inside == 1:
            _before = gc.get_threshold()
            if 0 < _before[0] < PATIENCE:
                gc.set_threshold(PATIENCE, *_before[1:])
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            if _inside == 0 and gc.get_threshold() == (PATIENCE, *_before[1:]):
                _settle()
                gc.set_threshold(*_before)


def _settle() -> None:
    """
    Makes all objects old ones, since the collector would look at each new one now, and most of them stay.

    Garbage among them waits for a collection of old objects, which comes here once there may be much of it. Nothing is
    done where somebody has frozen objects, which this would thaw.
    """
    global _settled, _collections
    new = gc.get_count()[0]
    if new < FEW or not gc.isenabled() or gc.get_freeze_count():
        return
    if (collections := gc.get_stats()[2]["collections"]) != _collections:
        _collections, _settled = collections, 0
    _settled += new
    if _settled > PATIENCE:
        gc.collect()
    else:
        gc.freeze()
        gc.unfreeze()
