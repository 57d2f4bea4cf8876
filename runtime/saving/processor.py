"""Chooses the machine code of a saved program: what this process can run, and runs best."""

from __future__ import annotations

from collections.abc import Sequence

from ...machine import aarch64, x86_64
from ...machine.code_target import CodeTarget
from ..native.jit import host_code_target
from .manifest import INTERFACE, Level


def needed_features(target: CodeTarget, uses_tiles: bool) -> tuple[str, ...]:
    """Returns the features that code for `target` may use, sorted."""
    known = x86_64.needed_features(target, uses_tiles) or aarch64.needed_features(target)
    return known or tuple(sorted(word[1:] for word in target.written if word.startswith("+")))


def best_level(levels: Sequence[Level]) -> Level | None:
    """
    Returns the level with the most features among those that this process can run, None where there is none. With as
    many features, code for the processor it was saved on comes before code for any of its kind.
    """
    here = host_code_target()
    enabled = {word[1:] for word in here.written if word.startswith("+")}
    fitting = [
        level
        for level in levels
        if level.triple == here.triple and level.interface == INTERFACE and enabled.issuperset(level.features)
    ]
    return max(fitting, key=lambda level: (len(level.features), level.name == "host"), default=None)
