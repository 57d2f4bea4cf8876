"""
`--load-plugin FILE.py`: what a package would add by its entry points, from a file.

The file is imported. Every `Universe` and `StepwellPlugin` in it is added, and every dialect, pass and output target
that it defines itself.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from xdsl.ir import Dialect, Operation
from xdsl.passes import ModulePass
from xdsl.universe import XDSL_UNIVERSE, Universe
from xdsl.utils.target import Target

from ...core.messages.diagnostics import Diagnostic, StepwellError, closest, warn
from ...core.messages.files import reason_of
from ...core.messages.points import SourcePoint
from ...core.plugins import LoadedPlugin, StepwellPlugin, registry
from ...universe import STEPWELL_UNIVERSE

FLAG: Final = "--load-plugin"


def plugin_files_in(words: Sequence[str]) -> list[str]:
    """Returns the files that a command line names. `stepwell-opt` needs them before it can read the other flags."""
    found: list[str] = []
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name == FLAG:
            found += [value] if equals else words[index + 1 : index + 2]
    return found


def load_plugin_files(files: Sequence[str]) -> None:
    """
    Loads the plug-ins in the order given, each once per process.

    Raises `StepwellError` where one cannot be read, fails, or adds a name that is taken.
    """
    known = {each.package for each in registry().plugins if each.group == FLAG}
    for file in dict.fromkeys(files):
        if file not in known:
            _load(file)


def _load(file: str) -> None:
    path = Path(file) / "__init__.py" if Path(file).is_dir() else Path(file)
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        problem = f"cannot read plug-in '{file}': {reason_of(error)}"
        raise StepwellError(Diagnostic(problem, hint=_near(Path(file)))) from error
    if path.suffix != ".py":
        raise StepwellError(
            Diagnostic(f"plug-in '{file}' is no Python file", hint="rules are files of -p apply-patterns")
        )
    try:
        module = _imported(path)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise failure(f"plug-in '{file}' cannot be loaded", path, error) from error
    found, root = registry(), module.__name__.partition(".")[0]
    found.plugins.append(LoadedPlugin(FLAG, Path(file).stem, file, module.__name__, None))
    taken = list(_added(module, file, root))
    if taken:
        raise StepwellError(Diagnostic(f"plug-in '{file}': {'; '.join(taken)}"))
    if (without := _without_dialect(module, file, root)) is not None:
        warn(without)


def _near(path: Path) -> str:
    """Returns the hint for a file that cannot be read."""
    beside = path.parent.glob("*.py") if path.parent.is_dir() else ()
    near = closest(path.stem, [each.stem for each in beside])
    return f"did you mean '{near}.py'?" if near else f"{FLAG} takes a Python file, or a folder with an __init__.py"


def _imported(path: Path) -> ModuleType:
    """Imports a file: by its own name, or as a part of the package that it lies in."""
    folder, names = path.resolve().parent, [] if path.name == "__init__.py" else [path.stem]
    while (folder / "__init__.py").exists():
        names.insert(0, folder.name)
        folder = folder.parent
    sys.path.append(str(folder))  # for what lies beside it
    if len(names) > 1 or path.name == "__init__.py":
        return import_module(".".join(names))
    name = path.stem if path.stem not in {*sys.modules, *sys.stdlib_module_names} else f"plugin_{path.stem}"
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    sys.modules[name] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _added(module: ModuleType, file: str, root: str) -> Iterator[str]:
    """Adds what is in a module, and yields a line for each name that is taken."""
    found = registry()
    for value in list(vars(module).values()):
        if isinstance(value, StepwellPlugin):
            yield from found.add_plugin(value, file, root)
        elif isinstance(value, Universe) and value not in (XDSL_UNIVERSE, STEPWELL_UNIVERSE):
            yield from found.add_universe(value, file, root)
    for value in list(vars(module).values()):
        kind, name, universe = _own(value, root)
        if name and found.owner.get((kind, name)) not in (file, root):
            yield from found.add_universe(universe, file, root)


def _own(value: Any, root: str) -> tuple[str, str, Universe]:
    """
    Returns the kind and the name of a dialect, pass or target that the module defines, and a universe of it alone. Of
    anything else they are empty.
    """
    if isinstance(value, Dialect):
        if any(each.__module__.partition(".")[0] == root for each in (*value.operations, *value.attributes)):
            return "dialect", value.name, Universe(all_dialects={value.name: lambda: value})
    elif (
        isinstance(value, type)
        and value.__module__.partition(".")[0] == root
        and isinstance(name := getattr(value, "name", None), str)
    ):
        if issubclass(value, ModulePass):
            return "pass", name, Universe(all_passes={name: lambda: value})
        if issubclass(value, Target):
            return "target", name, Universe(all_targets={name: lambda: value})
    return "", "", Universe()


def _without_dialect(module: ModuleType, file: str, root: str) -> Diagnostic | None:
    """Returns the warning about ops that the module defines and no dialect has: no program can use them."""
    types = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Operation)]
    ops = [each for each in types if each.__module__.partition(".")[0] == root and "." in getattr(each, "name", "")]
    if not ops:
        return None
    found = registry()
    own = [load() for name, load in found.dialects.items() if found.root["dialect", name] == root]
    known = [op for dialect in own for op in dialect.operations]
    missing = [op for op in ops if not any(issubclass(each, op) for each in known)]
    if not missing:
        return None
    names = ", ".join(f"'{op.name}'" for op in missing[:5])
    made = f"Dialect('{missing[0].name.partition('.')[0]}', [{', '.join(op.__name__ for op in missing[:5])}], [])"
    message = f"plug-in '{file}' has ops in no dialect, which no program can use: {names}"
    return Diagnostic(message, "warning", hint=f"{made} in the file adds a dialect")


def failure(what: str, path: Path, error: BaseException) -> StepwellError:
    """Returns the error of a file that raised, at the line of that file which the traceback names last."""
    message = error.diagnostic.message if isinstance(error, StepwellError) else str(error)
    kind = "" if isinstance(error, StepwellError) else f"{type(error).__name__}: "
    frames = [each for each in traceback.extract_tb(error.__traceback__) if _is_same(each.filename, path)]
    point = SourcePoint(str(path), frames[-1].lineno or 1, (frames[-1].colno or 0) + 1) if frames else None
    if isinstance(error, SyntaxError) and _is_same(error.filename, path):
        point, message = SourcePoint(str(path), error.lineno or 1, error.offset or 1), error.msg
    return StepwellError(Diagnostic(f"{what}: {kind}{message}", point=point))


def _is_same(name: str | None, path: Path) -> bool:
    return name is not None and Path(name).resolve() == path.resolve()
