"""The search by halves for the first bad one of many, where some cannot be told."""

from __future__ import annotations

from collections.abc import Callable

Answer = bool | None
"""True where something is bad, `None` where that cannot be told."""


def first_bad(ask: Callable[[int], Answer], most: int, least: int = 0) -> tuple[int, int]:
    """
    Returns the greatest number that is good and the least that is bad, of those from `least`, which is good, to `most`,
    which is bad.

    They are neighbours unless nothing can be told of those between them.
    """
    good, bad = least, most
    untold: set[int] = set()
    while True:
        left = [number for number in range(good + 1, bad) if number not in untold] if untold else range(good + 1, bad)
        if not left:
            return good, bad
        middle = left[(len(left) - 1) // 2]
        answer = ask(middle)
        if answer is None:
            untold.add(middle)
        elif answer:
            bad = middle
        else:
            good = middle
