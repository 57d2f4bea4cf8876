"""Hypothesis strategies of graph ops and programs: the generators of this room with hypothesis making the choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from .ir_generators import OpCase
from .movement_generators import FAMILIES, random_case

T = TypeVar("T")


class DrawChooser:
    """Decisions drawn by hypothesis, so that a failing case shrinks."""

    extents: Sequence[int] = ()
    usual: str = ""

    def __init__(self, draw: Callable[[Any], Any]):
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def element(self, options: Sequence[T]) -> T:
        return options[self._draw(st.integers(0, len(options) - 1))]


@st.composite
def cases(draw: Callable[[Any], Any], family: str, op: str | None = None) -> OpCase:
    """One op of a family (`unary`, `reduction` …), or the given one, of random types and properties."""
    return random_case(DrawChooser(draw), family, op)


def batches(family: str, low: int, high: int) -> st.SearchStrategy[list[OpCase]]:
    """Several ops of a family, to be compiled as one module."""
    return st.lists(cases(family), min_size=low, max_size=high)


def seeds() -> st.SearchStrategy[int]:
    """Seeds of operand values."""
    return st.integers(0, 2**20)


def families() -> list[str]:
    """The names of all families."""
    return list(FAMILIES)
