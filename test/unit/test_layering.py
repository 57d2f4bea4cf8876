"""Imports between rooms point downwards only, and never go around the package."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

STAIRS = (
    "tools",
    "frontends",
    "runtime",
    "lowering",
    "schedule",
    "rewrites",
    "analysis",
    "reference",
    "dialects",
    "te",
    "core",
)
"""From top to bottom; a room may import rooms after it."""

TESTING_MAY_IMPORT = {"analysis", "reference", "dialects", "te", "core"}
SHARED_ROOT_MODULES = {"universe"}
NEVER_EACH_OTHER = (("dialects", "graph"), ("dialects", "tensor_loop"))


def python_files(*rooms: str) -> list[Path]:
    return sorted(path for room in rooms for path in (ROOT / room).rglob("*.py"))


def imported_modules(tree: ast.AST, module: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    """
    What a module of the package imports, as path inside the package (`()` is the root), with the line.

    `module` is the path of the package that holds the file. Imports of anything else start with `"<other>"`.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield ("<other>", *alias.name.split(".")), node.lineno
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield ("<other>", *(node.module or "").split(".")), node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = module[: len(module) - (node.level - 1)]
            path = (*base, *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                # `from ..rewrites import engine` imports rewrites.engine as much as `from ..rewrites.engine import x`.
                yield (*path, alias.name), node.lineno


def violation(importer: tuple[str, ...], imported: tuple[str, ...]) -> str | None:
    """Why a file of the package `importer` may not import `imported`; `None` when it may."""
    if imported[0] == "<other>":
        top = imported[1] if len(imported) > 1 else ""
        if top in ("stepwell", "testing", "universe", *STAIRS):
            return f"absolute import of {'.'.join(imported[1:])}"
        return None
    room, target = importer[0], imported[0]
    if room == target:
        return sibling_violation(importer, imported)
    if target in SHARED_ROOT_MODULES:
        return None
    if room == "testing":
        tests_rules = importer[:2] == ("testing", "rules") and target == "rewrites"
        return None if target in TESTING_MAY_IMPORT or tests_rules else f"testing imports {target}"
    if target == "testing":
        return None if room == "tools" else f"{room} imports testing"
    if target not in STAIRS:
        return f"{room} imports {target}, which is no room"
    if STAIRS.index(target) < STAIRS.index(room):
        return f"{room} imports {target}, which stands above it"
    if (room, target) == ("lowering", "rewrites") and imported[1:2] != ("engine",):
        return "lowering imports rules; it may use rewrites.engine only"
    return None


def sibling_violation(importer: tuple[str, ...], imported: tuple[str, ...]) -> str | None:
    pair = {importer[:2], imported[:2]}
    return f"{importer[1]} imports {imported[1]}" if pair == set(NEVER_EACH_OTHER) else None


def without_script_part(tree: ast.Module) -> ast.Module:
    """The module without `if __name__ == "__main__"…`: a script imports the package by its name."""
    body = [node for node in tree.body if not (isinstance(node, ast.If) and "__main__" in ast.dump(node.test))]
    return ast.Module(body, tree.type_ignores)


def violations(path: Path) -> list[str]:
    tree = without_script_part(ast.parse(path.read_text(encoding="utf-8")))
    package = path.relative_to(ROOT).parent.parts
    found = []
    for imported, line in imported_modules(tree, package):
        reason = violation(package, imported)
        if reason is not None:
            found.append(f"{path.relative_to(ROOT)}:{line}: {reason}")
    return found


@pytest.mark.parametrize("room", [*STAIRS, "testing"])
def test_room_imports_downwards_only(room: str):
    assert [line for path in python_files(room) for line in violations(path)] == []


@pytest.mark.parametrize(
    "package, source, reason",
    [
        ("core", "from ..tools import opt", "stands above"),
        ("core", "def f():\n    from ..dialects.graph import AddOp", "stands above"),
        ("dialects/graph", "from ..tensor_loop import loops", "graph imports tensor_loop"),
        ("dialects/tensor_loop", "from ..graph.ops import AddOp", "tensor_loop imports graph"),
        ("lowering", "from ..rewrites.fusion import RULES", "rewrites.engine only"),
        ("rewrites", "from ..lowering.pipelines import PIPELINES", "stands above"),
        ("analysis", "from dialects.graph import AddOp", "absolute import"),
        ("analysis", "import stepwell.dialects", "absolute import"),
        ("te", "from ..testing import lit_format", "imports testing"),
    ],
)
def test_a_wrong_import_is_found(package: str, source: str, reason: str):
    importer = tuple(package.split("/"))
    reasons = [violation(importer, imported) for imported, _ in imported_modules(ast.parse(source), importer)]
    assert any(found is not None and reason in found for found in reasons), reasons


@pytest.mark.parametrize(
    "package, source",
    [
        ("lowering", "from ..rewrites.engine.patterns import Rule"),
        ("lowering", "from ..rewrites import engine"),
        ("core", "from .. import universe"),
        ("dialects/graph", "from ..traits import Kind"),
        ("tools", "from ..testing.run_line import Command"),
        ("te", "import math"),
    ],
)
def test_a_right_import_passes(package: str, source: str):
    importer = tuple(package.split("/"))
    for imported, _ in imported_modules(ast.parse(source), importer):
        assert violation(importer, imported) is None
