"""Imports point downwards only, between rooms and inside them, and nothing imports in a circle."""

from __future__ import annotations

from pathlib import Path

import pytest
from code_size import ROOT, package_files
from import_graph import Import, circles, file_imports, graph, imports_of, module_path
from late_imports import REASONS
from rooms import MAY_NOT, REST, ROOMS, SUBROOMS

SHARED_ROOT_MODULES = {"universe", "lazy_dataclass"}
"""The table of names, which imports nothing of the package before a name is asked for."""

FACADES = ("", *ROOMS)
"""Packages whose `__init__.py` states public names; a module of the package imports what defines them instead."""


def violation(found: Import) -> str | None:
    """Returns why a file may not import something, `None` when it may."""
    importer, imported = found.importer, found.imported
    if imported[0] == "<other>":
        top = imported[1] if len(imported) > 1 else ""
        return f"absolute import of {'.'.join(imported[1:])}" if top in ("stepwell", "universe", *ROOMS) else None
    if is_public_name(imported):
        return f"import of a public name, {'.'.join(imported)}, from the package that states it"
    if imported[0] in SHARED_ROOT_MODULES or not importer:
        return None
    if imported[0] not in ROOMS:
        return f"{'.'.join(imported)} is in no room"
    return forbidden(importer, imported) or upwards(importer, imported)


def upwards(importer: tuple[str, ...], imported: tuple[str, ...]) -> str | None:
    """Returns why an import does not point downwards: between rooms, then between the sub-rooms of one."""
    orders = {"": ROOMS, **SUBROOMS}
    for depth in range(min(len(importer), len(imported))):
        order = orders.get(".".join(importer[:depth]))
        above, below = importer[depth], imported[depth]
        if above == below:
            continue
        if order is None:
            return None
        places = [order.index(name if name in order else REST) for name in (above, below)]
        if places[1] < places[0]:
            return f"{'.'.join(importer[: depth + 1])} imports {'.'.join(imported[: depth + 1])}, which stands above it"
        return None
    return None


def forbidden(importer: tuple[str, ...], imported: tuple[str, ...]) -> str | None:
    """Returns why two rooms are kept apart although one stands lower."""
    for room, others in MAY_NOT.items():
        for other in others:
            path = tuple(other.split("."))
            if importer[: room.count(".") + 1] == tuple(room.split(".")) and imported[: len(path)] == path:
                return f"{room} imports {other}, which it is kept apart from"
    return None


def is_public_name(imported: tuple[str, ...]) -> bool:
    """Returns whether the stub of a room states the name, which is loaded on first use; submodules may be imported."""
    if ".".join(imported[:-1]) not in FACADES:
        return False
    stub = ROOT.joinpath(*imported[:-1], "__init__.pyi")
    is_stated = stub.exists() and f" as {imported[-1]}\n" in stub.read_text(encoding="utf-8")
    module = ROOT.joinpath(*imported)
    return is_stated and not (module.is_dir() or module.with_suffix(".py").exists())


def violations(path: Path) -> list[str]:
    found = [(each, violation(each)) for each in file_imports(path, ROOT)]
    where = path.relative_to(ROOT)
    return [f"{where}:{each.line}: {reason} ({each.kind})" for each, reason in found if reason is not None]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_downwards_only(room: str):
    files = [path for path in package_files(ROOT) if path.relative_to(ROOT).parts[0] == room]
    assert files
    assert [line for path in files for line in violations(path)] == []


def test_files_import_in_no_circle():
    assert [[".".join(module) for module in group] for group in circles(graph(ROOT))] == []


def late_imports(root: Path) -> set[tuple[str, str]]:
    """Returns each file with each module that it imports inside a function: our own, or the top one of a package."""
    files = {module_path(path, root) for path in package_files(root)}
    found: set[tuple[str, str]] = set()
    for path in package_files(root):
        for each in file_imports(path, root):
            is_ours = each.imported[0] != "<other>"
            own = each.imported if each.imported in files else each.imported[:-1]
            name = ".".join(own if is_ours else each.imported[1:2])
            if each.kind == "function":
                found.add((path.relative_to(root).as_posix(), name))
    return found


def test_imports_inside_functions_are_listed_with_a_reason():
    listed = [(path, name) for reason in REASONS for path, names in reason.items() for name in names.split()]
    assert len(listed) == len(set(listed))
    assert sorted(late_imports(ROOT) - {*listed}) == [], "move these to the top, or list them in late_imports.py"
    assert sorted({*listed} - late_imports(ROOT)) == [], "these are gone: take them off late_imports.py"


def test_an_import_inside_a_function_is_found(tmp_path: Path):
    (tmp_path / "one.py").write_text("import os\n\n\ndef f():\n    import onnx.helper\n    from .two import x\n")
    (tmp_path / "two.py").write_text("x = 1\nif TYPE_CHECKING:\n    from .one import f\n")
    assert late_imports(tmp_path) == {("one.py", "onnx"), ("one.py", "two")}


@pytest.mark.parametrize("folder", SUBROOMS)
def test_an_order_names_every_file_and_folder(folder: str):
    children = {path.stem for path in ROOT.joinpath(*folder.split(".")).iterdir() if not path.name.startswith("_")}
    named = set(SUBROOMS[folder]) - {REST}
    assert named <= children
    assert REST in SUBROOMS[folder] or children - named == set()


def test_every_file_of_the_package_is_in_a_room():
    rooms = {module_path(path, ROOT)[:1] for path in package_files(ROOT)}
    assert rooms - {()} == {(name,) for name in (*ROOMS, *SHARED_ROOT_MODULES)}


FORMS = ("{}", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    {}", "def f():\n    {}")
"""The three kinds of import: at the top, for type checkers, inside a function."""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "importer, source, reason",
    [
        ("core/walk", "from ..tools import opt", "stands above"),
        ("core/messages/files", "from ..passes.base import StepwellPass", "core.messages imports core.passes"),
        (
            "patterns/language/match",
            "from ..running.driver import Driver",
            "patterns.language imports patterns.running",
        ),
        ("runtime/program/arrays", "from ..compile import compile", "runtime.program imports runtime.compile"),
        ("lowering/llvm/builder", "from .tiles.groups import x", "lowering.llvm.builder imports lowering.llvm.tiles"),
        ("dialects/graph/base", "from ..tensor_loop import loops", "kept apart"),
        ("dialects/tensor_loop/block", "from ..graph.base import AddOp", "kept apart"),
        ("lowering/x", "from ..rewrites.fusion.rules import RULES", "kept apart"),
        ("rewrites/x", "from ..lowering.pipelines import PIPELINES", "stands above"),
        ("analysis/x", "from dialects.graph import AddOp", "absolute import"),
        ("analysis/x", "import stepwell.dialects", "absolute import"),
        ("te/x", "from ..testing import lit_format", "stands above"),
        ("analysis/x", "from ..core import parse", "public name"),
        ("runtime/x", "from .. import compile", "public name"),
        ("schedule/x", "from . import Schedule", "public name"),
        ("analysis/x", "from ..attic import thing", "in no room"),
    ],
)
def test_a_wrong_import_is_found(form: str, importer: str, source: str, reason: str):
    path = tuple(importer.split("/"))
    found = list(imports_of(form.format(source), path, path[:-1]))
    assert any(reason in (violation(each) or "") for each in found), [violation(each) for each in found]


@pytest.mark.parametrize(
    "importer, source",
    [
        ("lowering/x", "from ..patterns.language.patterns import Rule"),
        ("lowering/x", "from ..patterns.language import patterns"),
        ("core/x", "from .. import universe"),
        ("dialects/graph/x", "from ..traits import Kind"),
        ("tools/x", "from ..testing.run_line import Command"),
        ("te/x", "import math"),
        ("rewrites/x", "from ..patterns.running.driver import Driver"),
        ("core/passes/base", "from ..messages.files import write"),
        ("patterns/running/driver", "from ..language.match import Match"),
        ("analysis/x", "from ..dialects import tile"),
    ],
)
def test_a_right_import_passes(importer: str, source: str):
    path = tuple(importer.split("/"))
    assert [violation(each) for each in imports_of(source, path, path[:-1])] == [None]


def test_a_circle_is_found(tmp_path: Path):
    (tmp_path / "one.py").write_text("from . import two\n")
    (tmp_path / "two.py").write_text("def f():\n    from .three import x\n")
    (tmp_path / "three.py").write_text("if TYPE_CHECKING:\n    from .one import y\n")
    (tmp_path / "four.py").write_text("from .one import y\n")
    assert circles(graph(tmp_path)) == [[("one",), ("three",), ("two",)]]
