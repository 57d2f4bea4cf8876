"""The pace of the check: programs that take long to run are not run after every pass."""

from __future__ import annotations

import time
from math import ceil

from ..lazy_dataclass import dataclass


@dataclass
class Pace:
    """
    Lets passes go unchecked after a check that took long, so that one takes about `seconds` on the average.

    They are checked together with the next one that is checked.
    """

    seconds: float | None
    left: int = 0
    """The number of passes that go unchecked from now on."""
    _started: float = 0.0

    def waits(self) -> bool:
        """Returns whether a pass goes unchecked, and begins to take the time where it does not."""
        self._started = time.monotonic()
        self.left -= 1
        return self.left >= 0

    def rest(self) -> None:
        """Takes the time of a check, and lets as many passes go as that time is worth."""
        took = time.monotonic() - self._started
        self.left = 0 if self.seconds is None else max(0, ceil(took / self.seconds) - 1)
