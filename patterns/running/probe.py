"""Asks whether rules match anywhere in a module, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.context import Context
from xdsl.ir import Operation

from ..language.match import Match
from ..language.rules import Rule
from .driver import Driver


class _Found(Exception):
    """A rule matches."""


class _Probe(Driver):
    """A driver that ends at the first match, before anything is made of it. It tells nobody of what it does."""

    def _accepts(self, match: Match) -> bool:
        raise _Found

    def _finish(self) -> None:
        pass


def matches_anywhere(
    ctx: Context, rules: Sequence[Rule], scope: Operation, enter: Callable[[Operation], bool] = lambda op: True
) -> bool:
    """Returns whether one of `rules` matches at an op inside `scope`, which is looked at as a `Driver` does."""
    if not rules:
        return False
    try:
        _Probe(ctx, rules, enter=enter).run(scope)
    except _Found:
        return True
    return False
