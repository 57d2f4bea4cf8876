"""A bar on a terminal, by tqdm where that is installed (the extra `tune`)."""

from __future__ import annotations

import sys
from typing import Any

from ...core.passes.progress import bar_class, on_terminal


class Progress:
    """Counts candidates. It shows nothing when not on a terminal."""

    def __init__(self, total: int, shown: bool | None = None):
        self._bar: Any = None
        if on_terminal(shown):
            try:
                bar = bar_class()
            except ImportError:
                return
            self._bar = bar(total=total, unit="schedule", leave=False, file=sys.stderr)

    def step(self, name: str, best: float) -> None:
        """Counts one more candidate of the kernel `name`, whose best ratio so far is `best`."""
        if self._bar is not None:
            self._bar.set_postfix_str(f"@{name}: best {best:.2f} x", refresh=False)
            self._bar.update()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
