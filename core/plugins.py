"""
What is installed: dialects, passes, targets and pipelines of xDSL, of Stepwell and of other packages.

xDSL's own loader stops at the first entry point that fails or clashes. Here each is read by itself: a failing one,
or a name that is taken, is skipped with one warning on standard error that names the package and the cause.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from xdsl.universe import XDSL_UNIVERSE, Universe

from .. import universe as own
from ..lazy_dataclass import dataclass
from .installed import OWN, PLUGIN_GROUP, UNIVERSE_GROUP, plugged_in, root_module
from .messages.diagnostics import Diagnostic, StepwellError, did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from xdsl.ir import Dialect
    from xdsl.passes import ModulePass
    from xdsl.utils.target import Target

_NOT_PLUGINS: Final = frozenset(
    {"stepwell", "xdsl", "immutabledict", "numpy", "ml_dtypes", "llvmlite", "onnx", "google", "tqdm", "lazy_loader"}
)
"""The packages whose code runs in a compilation without being anybody's plug-in."""


@dataclass(frozen=True)
class StepwellPlugin:
    """
    What a package adds that xDSL's `Universe` cannot carry. A `stepwell.plugins` entry point names such an object.

    `extensions` maps a kind (`"op-explainer"`, `"pattern-table"`, `"codegen"`, …) to named loaders; the room that
    owns the kind says what a loader returns.
    """

    pipelines: Mapping[str, str] = field(default_factory=dict)
    extensions: Mapping[str, Mapping[str, Callable[[], Any]]] = field(default_factory=dict)
    joins: Mapping[str, str] = field(default_factory=dict)
    """Passes that join O1, O2 and O3: the name of a point (docs/extending.md), and the passes to run there."""

    def __repr__(self) -> str:
        added = {kind: list(names) for kind, names in self.extensions.items()}
        return f"StepwellPlugin(pipelines={self.pipelines!r}, extensions={added!r}, joins={self.joins!r})"


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
    joins: dict[str, list[str]] = field(default_factory=dict)
    """The passes of plug-ins at each point of the pipelines, in the order of the plug-ins."""
    plugins: list[LoadedPlugin] = field(default_factory=list)
    owner: dict[tuple[str, str], str] = field(default_factory=dict)
    root: dict[tuple[str, str], str] = field(default_factory=dict)
    """The top-level module that defines a name. Packages are often called otherwise than their module."""

    @property
    def pipelines(self) -> dict[str, str]:
        """Named pipelines: name to pipeline text."""
        joins = {point: ",".join(passes) for point, passes in self.joins.items()}
        return {**self.plugin_pipelines, **own.pipelines(), **joins}

    def extensions_of(self, kind: str) -> dict[str, Callable[[], Any]]:
        """The loaders of one kind, those of Stepwell included, by name."""
        return self.extensions.get(kind, {})

    def load_extensions(self, kind: str, what: str) -> None:
        """
        Calls every loader of a kind. A package whose loader raises is skipped with a warning, and takes no other along.

        `what` is what the loaders give, as the warning names it. An error of Stepwell's own loaders is raised.
        """
        for name, load in self.extensions_of(kind).items():
            try:
                load()
            except Exception as error:
                if self.owner[kind, name] == "stepwell":
                    raise
                problem = f"skipped, they cannot be loaded: {type(error).__name__}: {error}"
                print(f"warning: {what} '{name}': {problem}", file=sys.stderr)

    def add_universe(self, universe: Universe, package: str, root: str | None = None) -> list[str]:
        """
        Adds what is new, and returns a line for each name that was taken. `root` is the module if not named `package`.
        """
        taken: list[str] = []
        root = package if root is None else root
        taken += self._add("dialect", self.dialects, universe.all_dialects, package, root)
        taken += self._add("pass", self.passes, universe.all_passes, package, root)
        taken += self._add("target", self.targets, universe.all_targets, package, root)
        return taken

    def add_plugin(self, plugin: StepwellPlugin, package: str, root: str | None = None) -> list[str]:
        root = package if root is None else root
        taken = self._add_pipelines(plugin.pipelines, package, root)
        for kind, loaders in plugin.extensions.items():
            if kind in own.KINDS:
                taken += self._add(kind, self.extensions.setdefault(kind, {}), loaders, package, root)
            else:
                hint = did_you_mean(kind, own.KINDS) or f"expected one of {', '.join(sorted(own.KINDS))}"
                taken.append(f"there is no kind of extension '{kind}', {hint}")
        for point, passes in plugin.joins.items():
            if point in own.points():
                self.joins.setdefault(point, []).append(passes)
            else:
                taken.append(f"there is no point '{point}' to join, expected one of {', '.join(own.points())}")
        return taken

    def add_pass(self, pass_type: type[ModulePass]) -> str | None:
        """
        Adds a class that was made a pass by a decorator. Returns a line when its name is taken by another package.

        A package may list its pass in its universe too; then the entry there stays.
        """
        name, root = pass_type.name, pass_type.__module__.partition(".")[0]
        owner = self.owner.get(("pass", name))
        if owner is not None and self.root["pass", name] != root:
            return f"pass '{name}' is already defined by {owner}"
        if owner is None or isinstance(self.passes[name], _Defined):
            self.passes[name] = _Defined(pass_type)
            self.owner["pass", name] = self.root["pass", name] = root
        return None

    def _add_pipelines(self, new: Mapping[str, str], package: str, root: str) -> list[str]:
        """Adds named pipelines. A pass, a pipeline of Stepwell and a point are found before one of the same name."""
        shipped = {*own.pipelines(), *own.points()} if new else ()
        taken = [f"pipeline '{name}' is already defined by stepwell" for name in new if name in shipped]
        passes = [name for name in new if name in self.passes and name not in shipped]
        taken += [f"pipeline '{name}' has the name of a pass of {self.owner['pass', name]}" for name in passes]
        free = {name: text for name, text in new.items() if name not in shipped and name not in passes}
        return taken + self._add("pipeline", self.plugin_pipelines, free, package, root)

    def _add(self, kind: str, known: dict[str, Any], new: Mapping[str, Any], package: str, root: str) -> list[str]:
        taken: list[str] = []
        for name, loader in new.items():
            if name in known:
                taken.append(f"{kind} '{name}' is already defined by {self.owner[kind, name]}")
            else:
                known[name] = loader
                self.owner[kind, name] = package
                self.root[kind, name] = root
        return taken


def maker_of(module: str) -> str | None:
    """
    Returns who a Python module belongs to, as `package 'name'` for what entry points brought and as `module 'name'`
    otherwise. Returns `None` for Stepwell, xDSL and what these use.
    """
    root = module.partition(".")[0]
    if root in _NOT_PLUGINS or root in sys.stdlib_module_names and root != "__main__":
        return None
    packages = [each.package for each in registry().plugins if root_module(each.provides) == root]
    return f"package '{packages[0]}'" if packages else f"module '{root}'"


class _Defined:
    """The loader of a class that exists already."""

    def __init__(self, pass_type: type[ModulePass]):
        self.pass_type = pass_type

    def __call__(self) -> type[ModulePass]:
        return self.pass_type


_defined: dict[str, type[ModulePass]] = {}
"""The passes made by decorators, also before there is a registry."""

_building = False


def define_pass(pass_type: type[ModulePass]) -> None:
    """
    Makes a class known by its name. The same class defined anew, as on reload, replaces the old one.

    Raises `StepwellError` naming both owners when the name is taken.
    """
    name = pass_type.name
    earlier = _defined.get(name)
    if earlier is not None and _place(earlier) != _place(pass_type):
        message = f"pass '{name}' of {_place(pass_type)} is already defined by {_place(earlier)}"
        raise StepwellError(Diagnostic(message))
    # While the registry is being built it takes in at its end what is defined by then, and warns of clashes.
    problem = None if _building else registry().add_pass(pass_type)
    if problem is not None:
        raise StepwellError(Diagnostic(f"{problem}; {_place(pass_type)} needs another name for it"))
    _defined[name] = pass_type


def _place(pass_type: type[ModulePass]) -> str:
    return f"{pass_type.__module__}.{pass_type.__qualname__}"


@cache
def registry() -> Registry:
    """Returns the registry of this process. Entry points are read on the first call."""
    global _building
    _building = True
    try:
        return _built_registry()
    finally:
        _building = False


def _built_registry() -> Registry:
    found = Registry()
    found.add_universe(XDSL_UNIVERSE, "xdsl")
    found.add_universe(own.STEPWELL_UNIVERSE, "stepwell")
    found.add_plugin(StepwellPlugin(extensions=own.extensions()), "stepwell")
    load_entry_points(found, _installed_entry_points())
    for pass_type in _defined.values():
        problem = found.add_pass(pass_type)
        if problem is not None:
            print(f"warning: {_place(pass_type)} skipped: {problem}", file=sys.stderr)
    return found


def _installed_entry_points() -> list[EntryPoint]:
    groups = plugged_in(UNIVERSE_GROUP, PLUGIN_GROUP)
    return sorted(groups, key=lambda entry: (entry.group != UNIVERSE_GROUP, entry.name, entry.value))


def load_entry_points(found: Registry, entries: list[EntryPoint]) -> None:
    """Adds the packages behind `entries` to `found`, one by one, warning about those that do not fit."""
    for entry in entries:
        # Not asked of its package: to know the name of that, its metadata would have to be parsed.
        if root_module(entry.value) in OWN:
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
        taken = found.add_universe(loaded, package, root_module(entry.value))
    elif isinstance(loaded, StepwellPlugin) and entry.group == PLUGIN_GROUP:
        taken = found.add_plugin(loaded, package, root_module(entry.value))
    else:
        wanted = "Universe" if entry.group == UNIVERSE_GROUP else "StepwellPlugin"
        return f"skipped, {entry.value} is of type {type(loaded).__name__}, expected {wanted}"
    return None if not taken else f"names skipped: {'; '.join(taken)}"
