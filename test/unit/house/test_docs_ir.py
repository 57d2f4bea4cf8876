"""Every example of docs/ir.md parses, verifies and round-trips in both forms."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from stepwell.core.text.parsing import make_context, parse_text
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

DOCUMENT = Path(__file__).parents[3] / "docs" / "ir.md"
EXAMPLE = re.compile(r"^```mlir\n// example: (?P<name>\S+)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)

EXAMPLES = {match["name"]: match["text"] for match in EXAMPLE.finditer(DOCUMENT.read_text())}


def printed(module: ModuleOp, generic: bool = False) -> str:
    stream = StringIO()
    Printer(stream=stream, print_generic_format=generic).print_op(module)
    return stream.getvalue()


def test_every_fenced_block_of_ir_is_an_example():
    fenced = DOCUMENT.read_text().count("```mlir\n")
    assert len(EXAMPLES) == fenced > 0


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_round_trips(name: str):
    context = make_context()
    module = parse_text(context, EXAMPLES[name], f"{name}.mlir")
    module.verify()
    custom = printed(module)
    for text in (custom, printed(module, generic=True)):
        again = parse_text(context, text)
        again.verify()
        assert printed(again) == custom
