"""Short turns of threads while LLVM and Python work side by side."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

TURN: Final = 0.0001
"""
The seconds that a thread keeps the interpreter while another one wants it.

Between two long calls of LLVM, a thread that compiles needs the interpreter some thirty times, for microseconds each.
With the 5 ms of Python it waited most of the time, and the second CPU was idle. With half a millisecond it still waited
a quarter of the time (measured: ResNet-50, two CPUs, 1.82 s to compile, and 1.66 with a tenth). Shorter turns bring no
more, and a thread that wants nothing ends nobody's turn.
"""

_LOCK = Lock()
_usual: list[float] = []
"""The interval to go back to, once for each block that is open."""


@contextmanager
def short_turns() -> Iterator[None]:
    """
    Has threads of this process take turns every `TURN` seconds inside the block, if they do not more often.

    Blocks may overlap in several threads. The last one to end sets the interval back.
    """
    with _LOCK:
        _usual.append(_usual[0] if _usual else sys.getswitchinterval())
        sys.setswitchinterval(min(TURN, _usual[0]))
    try:
        yield
    finally:
        with _LOCK:
            usual = _usual.pop()
            if not _usual:
                sys.setswitchinterval(usual)
