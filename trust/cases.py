"""What a check runs a program on, what it found, and what it counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ..core.messages.points import SourcePoint
from ..lazy_dataclass import dataclass
from ..reference.element_types import Array
from .entries import Entry
from .evaluate import Outcome
from .inputs import InputSet
from .sensitivity import Sensitivity


@dataclass(frozen=True)
class CheckOptions:
    """What a check runs programs on."""

    seed: int = 0
    shapes: Sequence[Sequence[int]] | None = None
    inputs: Mapping[str, Any] | None = None
    """Arrays by name, in place of random ones."""
    inputs_file: str = "the inputs"
    save_inputs: str | Path | None = None
    """The file that the inputs of a failing check go to."""
    weights: Mapping[str, Array] | None = None
    seconds: float | None = None
    """
    The time of a check. After one that took so many times as long, as many passes are checked together, which the
    message then names. When None, each pass is checked by itself.
    """


@dataclass
class Case:
    """One entry at one set of inputs, with what it gave last."""

    entry: Entry
    inputs: InputSet
    outcome: Outcome
    point: SourcePoint | None
    places: tuple[SourcePoint | None, ...]
    """The place of the op that makes each result."""
    sensitivities: dict[bool, Sensitivity] = field(default_factory=dict)
    """What results are sensitive to, without and with steps of scales."""


@dataclass(frozen=True)
class Found:
    """What is wrong after a pass, and the number of the result where it is one."""

    what: str
    result: int | None = None
    is_race: bool = False
    """True where iterations of a parallel loop meet, whatever the results are."""


@dataclass(frozen=True)
class Failed:
    """
    What ended a run: a case, with what it gave before, what is wrong, and how many passes there are from the first one
    on that may be to blame.
    """

    case: Case
    found: Found
    suspects: int
    original: ModuleOp
    """The program before all passes."""
    weights: dict[str, Array]


@dataclass
class Counts:
    """What a run has checked."""

    changed: int = 0
    interpreted: int = 0
    native: int = 0
    open: int = 0
    unsettled: int = 0
