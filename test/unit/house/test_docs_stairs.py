"""docs/stairs.md shows what the tool prints: every block is produced again and compared."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from xdsl.ir import Operation

PAGE = Path(__file__).parents[3] / "docs" / "stairs.md"
BLOCK = re.compile(r"^```mlir (?P<title>[^\n]+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def program() -> str:
    (found,) = [match["body"] for match in BLOCK.finditer(PAGE.read_text()) if match["title"] == "program"]
    return found


def symbol(op: Operation) -> str:
    name = op.get_attr_or_prop("sym_name")
    return "@" + getattr(name, "data", "")


def output(title: str) -> str:
    """What the passes of a block's title make of the program; of one function only when it starts with its name."""
    wanted, _, pipeline = title.rpartition(" ")
    module = parse(program())
    run_pipeline(make_context(), module, pipeline)
    shown = [str(op) for op in module.ops if not wanted or symbol(op) == wanted]
    return "\n".join(text.rstrip() for text in shown) + "\n"


TITLES = [match["title"] for match in BLOCK.finditer(PAGE.read_text()) if match["title"] != "program"]


@pytest.mark.parametrize("title", TITLES)
def test_the_block_is_what_the_tool_prints(title: str) -> None:
    text = PAGE.read_text()
    expected = output(title)
    if os.environ.get("STEPWELL_UPDATE_DOCS"):
        pattern = re.compile(rf"^```mlir {re.escape(title)}\n.*?^```$", re.MULTILINE | re.DOTALL)
        PAGE.write_text(pattern.sub(lambda _: f"```mlir {title}\n{expected}```", text))
        return
    (found,) = [match["body"] for match in BLOCK.finditer(text) if match["title"] == title]
    assert found == expected


def test_every_block_has_text() -> None:
    assert all(match["body"].strip() for match in BLOCK.finditer(PAGE.read_text()))
