"""
What is installed: dialects, passes, targets and pipelines of xDSL, of Stepwell and of other packages.

xDSL's own loader stops at the first entry point that fails or clashes. Here each is read by itself: a failing one,
or a name that is taken, is skipped with one warning on standard error that names the package and the cause.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from xdsl.universe import XDSL_UNIVERSE, Universe

from .. import universe as own

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from xdsl.ir import Dialect
    from xdsl.passes import ModulePass
    from xdsl.utils.target import Target

UNIVERSE_GROUP: Final = "xdsl.universe"
PLUGIN_GROUP: Final = "stepwell.plugins"


@dataclass(frozen=True)
class StepwellPlugin:
    """
    What a package adds that xDSL's `Universe` cannot carry; the object of a `stepwell.plugins` entry point.

    `extensions` maps a kind (`"op-explainer"`, `"pattern-table"`, `"codegen"`, …) to named loaders; the room that
    owns the kind says what a loader returns.
    """

    pipelines: Mapping[str, str] = field(default_factory=dict)
    extensions: Mapping[str, Mapping[str, Callable[[], Any]]] = field(default_factory=dict)


class LoadedPlugin(NamedTuple):
    """One entry point that was met: its group, name and package; `problem` says why it was (partly) skipped."""

    group: str
    name: str
    package: str
    provides: str
    problem: str | None


@dataclass
class Registry:
    """Every name that can be used, with the package it comes from."""

    dialects: dict[str, Callable[[], Dialect]] = field(default_factory=dict)
    passes: dict[str, Callable[[], type[ModulePass]]] = field(default_factory=dict)
    targets: dict[str, Callable[[], type[Target]]] = field(default_factory=dict)
    plugin_pipelines: dict[str, str] = field(default_factory=dict)
    extensions: dict[str, dict[str, Callable[[], Any]]] = field(default_factory=dict)
    plugins: list[LoadedPlugin] = field(default_factory=list)
    owner: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def pipelines(self) -> dict[str, str]:
        """Named pipelines: name to pipeline text."""
        return {**self.plugin_pipelines, **own.pipelines()}

    def extensions_of(self, kind: str) -> dict[str, Callable[[], Any]]:
        """The loaders of one kind, those of Stepwell included, by name."""
        return self.extensions.get(kind, {})

    def add_universe(self, universe: Universe, package: str) -> list[str]:
        """Adds what is new; returns a line for each name that was taken."""
        taken: list[str] = []
        taken += self._add("dialect", self.dialects, universe.all_dialects, package)
        taken += self._add("pass", self.passes, universe.all_passes, package)
        taken += self._add("target", self.targets, universe.all_targets, package)
        return taken

    def add_plugin(self, plugin: StepwellPlugin, package: str) -> list[str]:
        taken = self._add("pipeline", self.plugin_pipelines, plugin.pipelines, package)
        for kind, loaders in plugin.extensions.items():
            taken += self._add(kind, self.extensions.setdefault(kind, {}), loaders, package)
        return taken

    def _add(self, kind: str, known: dict[str, Any], new: Mapping[str, Any], package: str) -> list[str]:
        taken: list[str] = []
        for name, loader in new.items():
            if name in known:
                taken.append(f"{kind} '{name}' is already defined by {self.owner[kind, name]}")
            else:
                known[name] = loader
                self.owner[kind, name] = package
        return taken


@cache
def registry() -> Registry:
    """The registry of this process; entry points are read on the first call."""
    found = Registry()
    found.add_universe(XDSL_UNIVERSE, "xdsl")
    found.add_universe(own.STEPWELL_UNIVERSE, "stepwell")
    found.add_plugin(StepwellPlugin(extensions=own.extensions()), "stepwell")
    load_entry_points(found, _installed_entry_points())
    return found


def _installed_entry_points() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    groups = [*entry_points(group=UNIVERSE_GROUP), *entry_points(group=PLUGIN_GROUP)]
    return sorted(groups, key=lambda entry: (entry.group != UNIVERSE_GROUP, entry.name, entry.value))


def load_entry_points(found: Registry, entries: list[EntryPoint]) -> None:
    """Adds the packages behind `entries` to `found`, one by one, warning about those that do not fit."""
    for entry in entries:
        # Not asked of its package: to know the name of that, its metadata would have to be parsed.
        if entry.value.partition(".")[0] in ("xdsl", "stepwell"):
            continue
        package = _package_of(entry)
        problem = _load_entry_point(found, entry, package)
        found.plugins.append(LoadedPlugin(entry.group, entry.name, package, entry.value, problem))
        if problem is not None:
            print(f"warning: plug-in '{entry.name}' of package {package}: {problem}", file=sys.stderr)


def _package_of(entry: EntryPoint) -> str:
    distribution = entry.dist
    return entry.value.partition(":")[0] if distribution is None else distribution.name


def _load_entry_point(found: Registry, entry: EntryPoint, package: str) -> str | None:
    """Loads one entry point; returns why it was skipped, wholly or in part, `None` when it was not."""
    try:
        loaded = entry.load()
    except (Exception, SystemExit) as error:
        return f"skipped, it cannot be loaded: {type(error).__name__}: {error}"
    if isinstance(loaded, Universe) and entry.group == UNIVERSE_GROUP:
        taken = found.add_universe(loaded, package)
    elif isinstance(loaded, StepwellPlugin) and entry.group == PLUGIN_GROUP:
        taken = found.add_plugin(loaded, package)
    else:
        wanted = "Universe" if entry.group == UNIVERSE_GROUP else "StepwellPlugin"
        return f"skipped, {entry.value} is of type {type(loaded).__name__}, expected {wanted}"
    return None if not taken else f"names skipped: {'; '.join(taken)}"
