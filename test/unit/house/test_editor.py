"""The grammar for editors: it reads the programs of our tests, and knows ops, values and types by their form."""

from __future__ import annotations

import json
import re
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from stepwell.core.text.parsing import make_context

ROOT = Path(__file__).parents[3]
EDITOR = ROOT / "examples" / "editor"
PROGRAMS = sorted((ROOT / "test" / "filecheck").rglob("*.mlir"))


def read(name: str) -> Any:
    return json.loads((EDITOR / name).read_text(encoding="utf-8"))


RULES = [(rule["name"], re.compile(rule["match"])) for rule in read("syntaxes/mlir.tmLanguage.json")["patterns"]]


def tokens(line: str) -> list[tuple[str, str]]:
    """The coloured parts of a line, as an editor finds them: the earliest match, then the first rule of the list."""
    found, place = [], 0
    while place < len(line):
        matches = [
            (match.start(), number, match)
            for number, (_, rule) in enumerate(RULES)
            if (match := rule.search(line, place))
        ]
        matches = [each for each in matches if each[2].end() > each[0]]
        if not matches:
            break
        _, number, match = min(matches, key=lambda each: each[:2])
        found.append((RULES[number][0].removesuffix(".mlir"), match[0]))
        place = match.end()
    return found


def test_a_line_of_a_program() -> None:
    assert tokens('%0 = graph.relu %x, axes = [1] : (tensor<4x?xf32>) -> !a.b  // "no"') == [
        ("variable.other.value", "%0"),
        ("keyword.operator", "="),
        ("support.function.op", "graph.relu"),
        ("variable.other.value", "%x"),
        ("keyword.operator", "="),
        ("constant.numeric", "1"),
        ("storage.type.shaped", "tensor"),
        ("storage.type.shape", "4"),
        ("storage.type.shape", "?"),
        ("storage.type.element", "f32"),
        ("keyword.operator", "->"),
        ("storage.type", "!a.b"),
        ("comment.line.double-slash", '// "no"'),
    ]


def test_a_line_of_a_rule_and_one_of_a_test() -> None:
    assert [name for name, _ in tokens('pattern.rule "a" fast : %x + 0.5 => %x where single-use(%x)')] == [
        "keyword.control",
        "string.quoted.double",
        "keyword.other.rule",
        "variable.other.value",
        "keyword.operator",
        "constant.numeric",
        "keyword.operator",
        "variable.other.value",
        "keyword.other.rule",
        "variable.other.value",
    ]
    assert tokens("  // CHECK-NEXT: %0") == [("comment.line.check", "// CHECK-NEXT: %0")]


def test_every_op_of_our_dialects_is_one() -> None:
    ctx = make_context()
    dialects = [ctx.get_dialect(name) for name in ("graph", "tensor_loop", "tile", "schedule", "pattern")]
    names = [op.name for dialect in dialects for op in dialect.operations]
    assert len(names) > 150
    for name in names:
        assert [found in ("support.function.op", "keyword.control") for found, _ in tokens(f"{name} %x")][0], name
        assert tokens(name)[0][1] == name


def test_values_types_and_strings_of_all_programs_are_found() -> None:
    """Nothing but punctuation and plain words is left without a colour."""
    left: dict[str, str] = defaultdict(str)
    for path in PROGRAMS[::7]:
        for line in path.read_text(encoding="utf-8").splitlines():
            plain = line
            for _, text in tokens(line):
                plain = plain.replace(text, " ", 1)
            for mark in '%@!"':
                if mark in plain:
                    left[mark] += f"{path.name}: {line}\n"
    assert not {mark: lines for mark, lines in left.items() if mark != "!"}, left


@pytest.mark.parametrize("name", ["package.json", "language-configuration.json"])
def test_files_of_the_extension(name: str) -> None:
    assert read(name)
    package = read("package.json")
    paths = [
        package["contributes"][kind][0][key] for kind, key in (("languages", "configuration"), ("grammars", "path"))
    ]
    assert all((EDITOR / path).is_file() for path in paths)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert package["license"] == project["license"]
