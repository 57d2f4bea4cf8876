"""
Chooses the schedules to try next: at random near the default first, then offspring of the best so far.

The rates are common ones for such small populations (D. Goldberg, *Genetic Algorithms in Search, Optimization, and
Machine Learning*, 1989, chapter 3). The sequence follows from the seed and the ratios reported to it. The ratios of one
generation have no effect on that generation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

from .spaces.space import Choice, Knob

PARENTS = 6
"""The number of the best so far that may have offspring."""

FRESH = 0.25
"""The part of a generation that is chosen at random."""

CROSSED = 0.4
"""The part of the offspring that has two parents."""

ATTEMPTS = 40
"""The draws per candidate wanted, since many are not legal, or known already."""


class Search:
    """The candidates of one kernel, generation by generation."""

    def __init__(
        self,
        knobs: tuple[Knob, ...],
        program: Callable[[Choice], str | None],
        seed: int,
        first: Iterable[str] = (),
    ):
        self._sizes = tuple(len(knob.values) for knob in knobs)
        self._program = program
        self._random = Random(seed)
        self._first = list(dict.fromkeys(first))
        self._seen: set[str] = set()
        self._choices: dict[str, Choice] = {}
        self._ranked: list[tuple[float, int, Choice]] = []
        default: Choice = (0,) * len(self._sizes)
        self._known: set[Choice] = {default}
        if (text := program(default)) is not None:
            self._seen.add(text)

    def generation(self, count: int) -> list[str]:
        """Returns up to `count` programs not given before. There are fewer, or none, where no new ones are found."""
        found: list[str] = []
        while self._first and len(found) < count:
            text = self._first.pop(0)
            if text not in self._seen:
                self._seen.add(text)
                found.append(text)
        attempts = ATTEMPTS * count if self._sizes else 0
        for _ in range(attempts):
            if len(found) >= count:
                break
            choice = self._next_choice()
            if choice in self._known:
                continue
            self._known.add(choice)
            text = self._program(choice)
            if text is not None and text not in self._seen:
                self._seen.add(text)
                self._choices[text] = choice
                found.append(text)
        return found

    def tell(self, program: str, ratio: float | None) -> None:
        """Takes in the ratio of a candidate, None where it is of no use."""
        choice = self._choices.get(program)
        if ratio is not None and choice is not None:
            self._ranked.append((-ratio, len(self._ranked), choice))
            self._ranked.sort()

    def _next_choice(self) -> Choice:
        if not self._ranked or self._random.random() < FRESH:
            return self._near_default()
        parents = [choice for _, _, choice in self._ranked[:PARENTS]]
        mother = self._random.choice(parents)
        if self._random.random() < CROSSED:
            father = self._random.choice(parents)
            child = [self._random.choice(pair) for pair in zip(mother, father, strict=True)]
        else:
            child = list(mother)
        return self._mutated(child)

    def _near_default(self) -> Choice:
        """Returns a choice one to three knobs away from the default."""
        child = [0] * len(self._sizes)
        for _ in range(self._random.randint(0, 2)):
            child = list(self._mutated(child))
        return self._mutated(child)

    def _mutated(self, choice: list[int]) -> Choice:
        knob = self._random.randrange(len(self._sizes))
        choice[knob] = self._random.randrange(self._sizes[knob])
        return tuple(choice)
