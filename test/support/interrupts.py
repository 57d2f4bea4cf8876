"""Ctrl-C for processes that tests start."""

from __future__ import annotations

import signal


def take_interrupts() -> None:
    """
    For `preexec_fn`: what is started by `nohup` or in the background of a shell ignores SIGINT, and so do its children.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
