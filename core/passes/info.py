"""What is known about a pass: its level, what it requires, its options, where it comes from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar

from xdsl.passes import ModulePass

from ...lazy_dataclass import dataclass
from ..plugins import registry
from .options import PassOption, pass_options, pass_summary
from .pipeline_text import expand_pipeline, load_pass

LEVELS = (0, 1, 2, 3)
"""The optimisation levels. `O0` … `O3` are the pipelines of a whole compilation."""


@dataclass(frozen=True)
class DeclaringPass(ModulePass):
    """A pass that declares its level and what it requires."""

    name: ClassVar[str]
    opt_level: ClassVar[int | None] = None
    """
    The lowest level of a `PassContext` to run on. `None` means that of the lowest of the pipelines O0, O1, … with it.
    """
    requires: ClassVar[tuple[str, ...]] = ()
    """Names of passes that must have run before, in the same run."""
    without: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({})
    """The options that this pass has where a `PassContext` leaves another one out, by the name of that one."""


@dataclass(frozen=True)
class PassInfo:
    """One pass, as `--list-passes` and docs/passes.md show it. `source` is the package that defines it."""

    name: str
    opt_level: int
    requires: tuple[str, ...]
    options: tuple[PassOption, ...]
    summary: str
    source: str

    def __str__(self) -> str:
        return f"{self.name} (level {self.opt_level}): {self.summary}"


def pass_info(pass_: str | ModulePass | type[ModulePass]) -> PassInfo:
    """
    Returns the description of a pass, given its name, its class or an object of it. Errors are those of `load_pass`.
    """
    if isinstance(pass_, str):
        pass_ = load_pass(pass_)
    pass_type = pass_ if isinstance(pass_, type) else type(pass_)
    root = pass_type.__module__.partition(".")[0]
    return PassInfo(
        pass_.name,
        level_of(pass_),
        required_by(pass_),
        pass_options(pass_type),
        pass_summary(pass_type),
        registry().owner.get(("pass", pass_.name), root),
    )


def level_of(pass_: ModulePass | type[ModulePass]) -> int:
    """
    The lowest level that a pass runs on.

    A pass says it by `opt_level`. One that does not has the level of the lowest of the pipelines O0, O1, … that it is
    part of, so that these are cut down to each other by level; 0 when it is in none.
    """
    declared = _declared(pass_, "opt_level")
    return _levels_of_pipelines().get(pass_.name, 0) if declared is None else declared


def required_by(pass_: ModulePass | type[ModulePass]) -> tuple[str, ...]:
    """The names of the passes that `pass_` requires."""
    return tuple(_declared(pass_, "requires") or ())


def _declared(pass_: ModulePass | type[ModulePass], name: str) -> Any:
    """What a pass of ours declares; an *option* of that name, and passes of xDSL, declare nothing."""
    pass_type = pass_ if isinstance(pass_, type) else type(pass_)
    if not issubclass(pass_type, DeclaringPass):
        return None
    if any(field.name == name for field in dataclasses.fields(pass_type)):
        return None
    return getattr(pass_, name)


@cache
def _levels_of_pipelines() -> dict[str, int]:
    levels: dict[str, int] = {}
    for level in LEVELS:
        for spec in expand_pipeline(f"O{level}"):
            levels.setdefault(spec.name, level)
    return levels
