"""The public API: what is stated is there, described, listed, and all that documentation and examples use."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import stepwell
from stepwell.tools.pages.api import own_docstring, page, summary
from stepwell.tools.pages.api_listing import PACKAGE, ROOMS, homes, listing, members_of, public_names, room_module

ROOT = Path(__file__).resolve().parents[3]
PUBLIC = {".".join(filter(None, (PACKAGE, room))): frozenset(public_names(room)) for room in ROOMS}

# What is stated is there.


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_can_be_imported(room: str):
    module = room_module(room)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    assert len(module.__all__) == len(set(module.__all__))
    assert set(module.__all__) <= set(dir(module))


STUBS = [room for room in ROOMS if Path(room_module(room).__file__ or "").with_suffix(".pyi").exists()]


@pytest.mark.parametrize("room", STUBS)
def test_dir_is_all(room: str):
    assert dir(room_module(room)) == sorted(room_module(room).__all__)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(stepwell, "no_such_name")  # noqa: B009


def test_modules_do_not_take_the_place_of_public_names():
    """`stepwell.patterns.match` is the function, also after everything else is loaded."""
    program = """
import pkgutil, stepwell
from importlib import import_module
from stepwell.tools.pages.api_listing import ROOMS, public_names, room_module
before = {(room, name): getattr(room_module(room), name) for room in ROOMS for name in public_names(room)}
for room in ("core", "te", "patterns", "rewrites", "schedule", "lowering", "runtime", "analysis", "dialects"):
    for module in pkgutil.walk_packages(import_module(f"stepwell.{room}").__path__, f"stepwell.{room}."):
        import_module(module.name)
print([key for key, value in before.items() if getattr(room_module(key[0]), key[1]) is not value])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_every_pass_is_public():
    passes = {load() for load in import_module("stepwell.universe").STEPWELL_UNIVERSE.all_passes.values()}
    assert {made.__name__ for made in passes if id(made) not in homes()} == set()


# It is listed and described.


def test_the_listing_is_up_to_date():
    text = (ROOT / "test" / "api.txt").read_text(encoding="utf-8")
    assert listing() == text, "run python -m stepwell.tools.pages.api_listing > test/api.txt"


def test_the_page_is_up_to_date():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert page() == text, "run python -m stepwell.tools.pages.api > docs/api.md"


def test_the_example_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path))
    exec(next(code_blocks(page())), {"__name__": "example"})


def undocumented() -> Iterator[str]:
    """Public names, and methods of public classes, without a docstring of their own or of what they override."""
    for room in ROOMS:
        for name in public_names(room):
            value = getattr(room_module(room), name)
            full = ".".join(filter(None, (PACKAGE, room, name)))
            if homes().get(id(value), full) != full:
                continue
            if name != "__version__" and not summary(room, name):
                yield full
            if inspect.isclass(value):
                members = members_of(value)
                yield from (f"{full}.{each}" for each in members if not inspect.getdoc(getattr(value, each)))


def test_public_names_have_docstrings():
    assert list(undocumented()) == [], "write docstrings for these"


def test_names_without_docstring_are_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stepwell.parse, "__doc__", None)
    monkeypatch.setattr(stepwell.core.StepwellPlugin, "__doc__", None)
    monkeypatch.setattr(stepwell.te.Tensor.rank, "__doc__", None)
    assert list(undocumented()) == ["stepwell.core.StepwellPlugin", "stepwell.core.parse", "stepwell.te.Tensor.rank"]


def test_docstrings_that_python_makes_do_not_count():
    from dataclasses import dataclass

    @dataclass
    class Bare:
        field: int

    assert own_docstring(Bare) == ""
    assert own_docstring(stepwell.parse) != ""


# Documentation, examples and the mix-in package use nothing else.

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
MENTION = re.compile(rf"(?<!python -m ){PACKAGE}(?:\.(?:{'|'.join(room for room in ROOMS if room)}))+(?:\.\w+)+")
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
PAGES = sorted([*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md"), *(ROOT / "examples").rglob("*.md")])


def code_blocks(text: str) -> Iterator[str]:
    return (found[1].replace("…", "...") for found in BLOCK.finditer(text))


def private_names(source: str) -> list[str]:
    """The names below `stepwell` that a program imports or reads from a module and that are not public."""
    tree = ast.parse(source)
    modules: dict[str, str] = {}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.split(".")[0] == PACKAGE]
            found += [name for name in names if name != PACKAGE]
            modules |= {alias.asname or PACKAGE: PACKAGE for alias in node.names if alias.name == PACKAGE}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE and not node.level:
            room = node.module or ""
            is_deep = room.count(".") > 1
            for alias in node.names:
                full = f"{room}.{alias.name}"
                if is_deep or alias.name not in PUBLIC.get(room, ()):
                    found.append(full)
                elif full in PUBLIC:
                    modules[alias.asname or alias.name] = full
    return found + [name for node in ast.walk(tree) if (name := _private_attribute(node, modules))]


def _private_attribute(node: ast.AST, modules: dict[str, str]) -> str | None:
    """`stepwell.core.walk` where that is what an expression reads and `walk` is no public name of `core`."""
    if not isinstance(node, ast.Attribute):
        return None
    owner = _module_of(node.value, modules)
    is_private = owner in PUBLIC and node.attr not in PUBLIC[owner] and not node.attr.startswith("__")
    return f"{owner}.{node.attr}" if is_private else None


def _module_of(node: ast.expr, modules: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return modules.get(node.id, "")
    return f"{_module_of(node.value, modules)}.{node.attr}" if isinstance(node, ast.Attribute) else ""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_use_public_names_only(path: Path):
    assert private_names(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_documentation_uses_public_names_only(path: Path):
    text = path.read_text(encoding="utf-8")
    assert [name for block in code_blocks(text) for name in private_names(block)] == []
    assert [name for name in MENTION.findall(text) if not is_public(name)] == []


def is_public(name: str) -> bool:
    """Whether a dotted name in running text is a room, a public name, or an attribute of one."""
    parts = name.split(".")
    owners = [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
    last = max(number for number, owner in enumerate(owners) if owner in PUBLIC)
    return last == len(parts) - 1 or parts[last + 1] in PUBLIC[owners[last]]


@pytest.mark.parametrize(
    "source, private",
    [
        ("import stepwell.core", "stepwell.core"),
        ("import stepwell\nstepwell.universe", "stepwell.universe"),
        ("import stepwell as s\ns.core.walk", "stepwell.core.walk"),
        ("from stepwell import universe", "stepwell.universe"),
        ("from stepwell.core import walk", "stepwell.core.walk"),
        ("from stepwell.core.parsing import parse", "stepwell.core.parsing.parse"),
        ("from stepwell.dialects.graph import AddOp", "stepwell.dialects.graph.AddOp"),
        ("from stepwell.dialects import graph\ngraph.FAMILIES", "stepwell.dialects.graph.FAMILIES"),
        ("def f():\n    from stepwell.tools.opt import main", "stepwell.tools.opt.main"),
    ],
)
def test_a_private_name_is_found(source: str, private: str):
    assert private_names(source) == [private]


@pytest.mark.parametrize(
    "source",
    [
        "import stepwell\nstepwell.compile, stepwell.te.library.relu, stepwell.__version__",
        "from stepwell import te\nte.library.relu(te.placeholder((), 'f32')).shape",
        "from stepwell.dialects import graph as g\ng.AddOp.name",
        "from stepwell.schedule import Schedule",
        "from xdsl.ir import Operation",
        "from .core import private",
    ],
)
def test_public_names_pass(source: str):
    assert private_names(source) == []


def test_a_private_mention_is_found():
    found = MENTION.findall(
        "`stepwell.core.plugins.StepwellPlugin`, `stepwell.core.StepwellPlugin.name`, `stepwell.role`"
    )
    assert [is_public(name) for name in found] == [False, True]
