"""The calls of kernels in a program, as a profile measures them."""

from __future__ import annotations

from ...lazy_dataclass import dataclass


@dataclass(frozen=True)
class Call:
    """A call of a kernel in the program: its place in the text, and per run how often it runs and what it costs."""

    kernel: str
    place: str
    calls: int
    microseconds: float
    """The time of all calls of one run, the median of the rounds."""
    operations: int
    """The sums, products and functions of single elements in one call. A multiply-add counts as two."""
    bytes: int
    """The size of the arrays that one call is given."""
    nodes: tuple[str, ...] = ()
    """The names of the nodes of a model that it computes, all of them."""
    lines: tuple[str, ...] = ()
    """The places of the other ops of the source that it computes."""
