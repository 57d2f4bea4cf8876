"""
The search for a small program: sweeps of moves, each from many edits at once down to single ones (delta debugging).

Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002. The result is the same whatever the
number of processes is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from ...lazy_dataclass import dataclass
from .move import Move
from .predicates import Predicate
from .subject import Subject
from .workers import VALID, Answer, Trial, Workers

MOST_ROUNDS = 12
"""A round goes through all moves. Most programs take three."""


@dataclass(frozen=True)
class Stage:
    """A place in a search: the round, the move in it, and the size of the program."""

    round: int
    move: int
    ops: int
    bytes: int
    tried: int = 0
    name: str = ""


@dataclass
class Search:
    """Shrinks `subject` in place while the predicate gives `wanted`."""

    subject: Subject
    predicate: Predicate
    moves: Sequence[Move]
    workers: Workers
    report: Callable[[Stage], None] = lambda _: None
    """Called after each edit that stays."""
    wanted: str | None = None
    _stage: tuple[int, int, str] = field(default=(0, 0, ""))

    def is_interesting(self) -> bool:
        """Returns whether the program is interesting. The first call learns in which way it is."""
        answer = self.workers.ask(self._trial(lambda _: None))
        if self.wanted is None:
            self._learn(answer)
            return self.wanted is not None
        return answer.ending == "yes" or (answer.ending == "signal" and answer.signal == self.workers.signal)

    def _learn(self, answer: Answer) -> None:
        if answer.ending == "signal":
            self.workers.signal = answer.signal
            self.wanted = f"signal {answer.signal}"
        elif answer.ending == "yes":
            self.wanted = answer.told

    def run(self, round: int = 0, move: int = 0) -> None:
        """Goes through the moves in rounds until a round makes nothing smaller. It starts at a stage."""
        for number in range(round, MOST_ROUNDS):
            before = self.subject.size()
            first = move if number == round else 0
            for index, each in enumerate(self.moves[first:], first):
                self._stage = (number, index, each.name)
                self._sweep_safely(each)
            if self.subject.size() >= before and first == 0:
                return

    def _sweep_safely(self, move: Move) -> None:
        """Makes a sweep, and takes it back where the text of the program is not interesting any more."""
        before = self.subject.data()
        if self._sweep(move):
            text = self.subject.data()
            if text != before:
                self.subject.load(text if self._holds(text) else before)

    def _holds(self, text: bytes) -> bool:
        return self.workers.first([self._trial(lambda subject: subject.load(text))]) is not None

    def _sweep(self, move: Move) -> bool:
        edits = move.edits(self.subject)
        size = 1 if move.one_by_one else len(edits)
        changed = False
        while edits:
            left: list[Any] = []
            chunks = [edits[start : start + size] for start in range(0, len(edits), size)]
            trials = [self._trial(lambda subject, chunk=chunk: move.apply(subject, chunk), move) for chunk in chunks]
            start = 0
            while (found := self.workers.first(trials, start)) is not None:
                left += [edit for chunk in chunks[start:found] for edit in chunk]
                move.apply(self.subject, chunks[found])
                changed = True
                self.report(self.stage())
                start = found + 1
            left += [edit for chunk in chunks[start:] for edit in chunk]
            edits = left
            if size == 1:
                return changed
            size = max(1, min(size, len(edits)) // 2)
        return changed

    def stage(self) -> Stage:
        """Returns where the search is."""
        ops, size = self.subject.size()
        round, index, name = self._stage
        return Stage(round, index, ops, size, self.workers.tried, name)

    def _trial(self, edit: Callable[[Subject], None], move: Move | None = None) -> Trial:
        def run(tell: Callable[[str], None]) -> bool:
            subject = self.subject
            before = subject.data() if move is not None and move.one_by_one else b""
            ops = subject.ops()
            edit(subject)
            subject.check()
            if move is not None and not move.grows and subject.ops() > ops:
                return False
            if before and subject.data() == before:
                return False
            tell(VALID)
            kind = self.predicate.kind(subject)
            if kind is None or (self.wanted is not None and kind != self.wanted):
                return False
            tell(kind)
            return True

        return run
