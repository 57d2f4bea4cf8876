"""
What follows from the functions of primitives: methods, `methods.pyi`, tables of docs/schedules.md; and what each must
have: a docstring with its parts, legal and illegal cases, FileChecks, a row about its handles.

`STEPWELL_UPDATE_DOCS=1` writes the stub and the tables.
"""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path

import pytest
from random_schedules import PRIMITIVES
from schedule_cases import ILLEGAL, LEGAL, primitive_of
from stepwell.dialects.schedule import STEPS
from stepwell.schedule.primitives.steps import Primitive
from stepwell.schedule.primitives.table import MODULES, all_primitives
from stepwell.schedule.program.interactive import Schedule
from stepwell.schedule.program.methods import signature_of

from .test_primitives import GONE

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "schedules.md"
FOLDER = ROOT / "test" / "filecheck" / "schedule" / "primitives"
STUB = ROOT / "schedule" / "program" / "methods.pyi"
HELPERS = {
    "check_plain",
    "check_reads_own",
    "known_extent",
    "read_buffer",
    "written_buffer",
}
NAMES = [op.name.partition(".")[2] for op in STEPS]
START = (
    "<!-- Made by STEPWELL_UPDATE_DOCS=1 pytest test/unit/schedule/test_primitives_page.py; do not edit below. -->\n"
)
TABLE_START = "<!-- Made by STEPWELL_UPDATE_DOCS=1 pytest test/unit/schedule/test_primitives_page.py; do not edit -->\n"
TABLE_END = "<!-- end of the table of primitives -->\n"
STUB_HEAD = """# Made by STEPWELL_UPDATE_DOCS=1 pytest test/unit/schedule/test_primitives_page.py; do not edit.

import inspect
from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap

from ..primitives.steps import Primitive
from .handles import BlockHandle, Handle, LoopHandle, Number, NumberHandle

def signature_of(primitive: Primitive) -> inspect.Signature: ...

class PrimitiveMethods:
    def _record(self, primitive: Primitive, arguments: dict[str, Any]) -> Any: ...
"""
HEAD = """
The cases are in `test/support/schedule_cases.py`. A legal one is run natively and compared with NumPy. On other shapes
it works or says why not. An illegal one is refused with a message that is quoted there, and the culprits are marked.
The files are in `test/filecheck/schedule/primitives`. The column *ends* names those handles of the case that are stale
afterwards. All others stay valid.

| primitive | legal cases | illegal cases | files | ends |
|---|---|---|---|---|
"""


def cases(table: dict[str, tuple[str, str, str]], name: str) -> list[str]:
    return [case for case in table if primitive_of(case) == name]


def page() -> str:
    rows = [
        f"| `{name}` | {'; '.join(cases(LEGAL, name))} | {'; '.join(cases(ILLEGAL, name))} "
        f"| `{name}.mlir`, `{name}_refused.mlir` | {GONE[name][2] or 'none'} |"
        for name in NAMES
    ]
    return HEAD + "\n".join(rows) + "\n"


def functions() -> dict[str, object]:
    """The public functions of the modules of primitives that are defined there."""
    return {
        name: value
        for module in MODULES
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }


def test_every_public_primitive_is_a_step_and_a_method() -> None:
    assert set(functions()) - HELPERS - {"region_under", "buffer_of"} == set(NAMES)
    assert [primitive.name for primitive in all_primitives()] == NAMES
    methods = {name for name, _ in inspect.getmembers(Schedule, inspect.isfunction) if not name.startswith("_")}
    assert methods - {"program", "show"} == set(NAMES) == set(PRIMITIVES)


def parts(primitive: Primitive) -> list[str]:
    """The paragraphs of the docstring, lines that belong together joined."""
    text = inspect.cleandoc(primitive.function.__doc__ or "")
    return [paragraph if paragraph[0] == " " else " ".join(paragraph.split()) for paragraph in text.split("\n\n")]


def arguments(primitive: Primitive) -> list[str]:
    """The parameters that the docstring describes, in order."""
    text = inspect.cleandoc(primitive.function.__doc__ or "").partition("\nArgs:\n")[2].partition("\n\n")[0]
    return re.findall(r"^    (\w+): \S", text, re.MULTILINE)


def faults(primitive: Primitive) -> list[str]:
    """What the docstring of a primitive lacks."""
    found = []
    if arguments(primitive) != [each.name for each in primitive.parameters]:
        found.append(f"Args of {arguments(primitive)}, expected {[each.name for each in primitive.parameters]}")
    if len([each for each in parts(primitive) if each.startswith("Legal ")]) != 1:
        found.append("one paragraph says when it is legal: 'Legal where …'")
    if len([each for each in parts(primitive) if each.startswith("Before and after")]) != 1:
        found.append("one example: 'Before and after …'")
    return found


@pytest.mark.parametrize("primitive", all_primitives(), ids=lambda each: each.name)
def test_every_primitive_says_what_it_does(primitive: Primitive) -> None:
    assert faults(primitive) == []
    method = getattr(Schedule, primitive.name)
    assert method.__doc__ == primitive.function.__doc__
    assert list(inspect.signature(method).parameters) == ["self", *arguments(primitive)]


def test_a_bare_docstring_is_found() -> None:
    def swap(loop: object, other: object) -> None:
        """
        Swaps loops.

        Args:
            loop: One.
        """

    assert len(faults(Primitive(STEPS[0], swap))) == 3


def stub() -> str:
    """The stub of `methods.py`: what type checkers see."""
    return STUB_HEAD + "".join(declaration(each) for each in all_primitives())


def declaration(primitive: Primitive) -> str:
    """A method as the stub has it, as the formatter would write it."""
    signature = signature_of(primitive)
    parameters = [shown(each) for each in signature.parameters.values()]
    line = f"    def {primitive.name}({', '.join(parameters)}) -> {signature.return_annotation}: ...\n"
    if len(line) > 121:
        line = line.replace("(self, ", "(\n        self, ").replace(") ->", "\n    ) ->")
    if max(map(len, line.split("\n"))) > 120:
        line = line.replace(", ".join(parameters), ",\n        ".join(parameters) + ",")
    return line


def shown(parameter: inspect.Parameter) -> str:
    default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}".replace("'", '"')
    star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    annotation = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
    return f"{star}{parameter.name}{annotation}{default}"


def table() -> str:
    rows = []
    for primitive in all_primitives():
        legal = next(each for each in parts(primitive) if each.startswith("Legal "))
        rows.append(f"| `{primitive.name}` | {parts(primitive)[0]} | {legal.removeprefix('Legal ')} |\n")
    return "\n| primitive | what it does | when it is legal |\n|---|---|---|\n" + "".join(rows) + "\n"


def compare(file: Path, text: str) -> None:
    """Compares a generated file, or brings it up to date."""
    if os.environ.get("STEPWELL_UPDATE_DOCS"):
        file.write_text(text, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text, f"STEPWELL_UPDATE_DOCS=1 brings {file.name} up to date"


def test_the_stub_is_up_to_date() -> None:
    compare(STUB, stub())


def test_the_table_of_primitives_is_up_to_date() -> None:
    before, mark, rest = PAGE.read_text(encoding="utf-8").partition(TABLE_START)
    assert mark and TABLE_END in rest
    compare(PAGE, before + mark + table() + TABLE_END + rest.partition(TABLE_END)[2])


@pytest.mark.parametrize("name", NAMES)
def test_every_primitive_has_cases_and_files(name: str) -> None:
    assert cases(LEGAL, name) and cases(ILLEGAL, name)
    for suffix, command in (("", "// RUN: stepwell-opt"), ("_refused", "// RUN: not stepwell-opt")):
        text = (FOLDER / f"{name}{suffix}.mlir").read_text()
        assert text.startswith(command) and f"schedule.{name}" in text and "// CHECK" in text


def test_the_cases_are_of_primitives() -> None:
    assert {primitive_of(case) for case in (*LEGAL, *ILLEGAL)} == set(NAMES)


def test_the_table_is_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, mark, after = text.partition(START)
    assert mark, "the page has lost its mark"
    if os.environ.get("STEPWELL_UPDATE_DOCS"):
        PAGE.write_text(before + mark + page(), encoding="utf-8")
        return
    assert after == page()
