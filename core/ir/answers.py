"""
Answers to questions about IR, each found once while nobody changes the IR.

A pass that only decides asks the same about a kernel ten times, from all its rules. Here it says for how long the
answers hold, and functions that answer keep them for that time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

Subject = TypeVar("Subject")
Answer = TypeVar("Answer")

Answers = dict[tuple[Callable[[Any], Any], Any], Any]
"""What is known, by the function that was asked, and what it was asked about."""

_known: ContextVar[Answers | None] = ContextVar("stepwell_answers", default=None)


@contextmanager
def kept_answers() -> Iterator[Answers]:
    """
    Keeps the answers of all functions that are `kept` while the `with` block runs.

    Whoever changes the IR inside must clear what is yielded, unless no answer is about the change.
    """
    known: Answers = {}
    token = _known.set(known)
    try:
        yield known
    finally:
        _known.reset(token)


def kept(function: Callable[[Subject], Answer]) -> Callable[[Subject], Answer]:
    """Returns `function`, whose answers are kept where `kept_answers` says so. They must not be changed."""

    @wraps(function)
    def answer(subject: Subject) -> Answer:
        known = _known.get()
        if known is None:
            return function(subject)
        key = function, subject
        if key not in known:
            known[key] = function(subject)
        return known[key]

    return answer
