"""A search with its files: the program that is the smallest so far, and the state that a later run goes on from."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from ...core.messages.files import is_special, write_file
from .driver import Search, Stage
from .move import Move
from .predicates import Command, Predicate, not_interesting
from .subject import Subject
from .workers import Workers

SAVE_SECONDS = 2.0
"""The least time between two writes while the program shrinks."""


def reduce(
    subject: Subject,
    predicate: Predicate,
    moves: Sequence[Move],
    *,
    workers: Workers | None = None,
    file: str = "the program",
    output: Path | None = None,
    resume: bool = True,
    report: Callable[[Stage], None] = lambda _: None,
) -> Search:
    """
    Shrinks `subject` in place, and returns the search that did.

    With `output` the smallest program so far is always there, and a search that was ended goes on from it if `resume`
    is set. A pipe gets the last one alone. Raises `StepwellError` where the predicate does not hold for the program.
    """
    key = hashlib.sha256(f"{predicate}".encode() + subject.data()).hexdigest()
    state = None if output is None or is_special(output) else output.with_name(f"{output.name}.state")
    saved = [time.monotonic()]

    def made_smaller(stage: Stage) -> None:
        report(stage)
        if state is not None and time.monotonic() - saved[0] > SAVE_SECONDS:
            save(stage)
            saved[0] = time.monotonic()

    def save(stage: Stage) -> None:
        if output is not None:
            write_file(output, subject.data())
        if state is not None:
            write_file(state, json.dumps({"key": key, "round": stage.round, "move": stage.move}))

    search = Search(subject, predicate, moves, workers or Workers(), made_smaller)
    try:
        if not search.is_interesting():
            raise not_interesting(predicate, file)
        start = _resumed(search, output, state, key) if resume else (0, 0)
        search.run(*start)
        save(search.stage())
        if state is not None:
            state.unlink(missing_ok=True)
    finally:
        search.workers.stop()
        if isinstance(predicate, Command):
            shutil.rmtree(predicate.folder, ignore_errors=True)
    return search


def _resumed(search: Search, output: Path | None, state: Path | None, key: str) -> tuple[int, int]:
    """Takes over what an earlier run has written, where that is of the same search and still interesting."""
    with suppress(OSError, ValueError, KeyError):
        if output is None or state is None:
            return 0, 0
        found = json.loads(state.read_text(encoding="utf-8"))
        if found["key"] == key:
            before = search.subject.data()
            with suppress(Exception):
                search.subject.load(output.read_bytes())
                if search.is_interesting():
                    return int(found["round"]), int(found["move"])
            search.subject.load(before)
    return 0, 0
