"""docs/graph.md is what the definitions say, and the definitions cover docs/semantics.md."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from stepwell.dialects.graph import FAMILIES, Graph, documentation, ops_of
from xdsl.ir import Operation

DOCS = Path(__file__).parents[3] / "docs"


def test_reference_page_is_up_to_date() -> None:
    text = (DOCS / "graph.md").read_text(encoding="utf-8")
    assert text == documentation.reference_page(), "run python -m stepwell.dialects.graph.documentation > docs/graph.md"


def rows_of_semantics() -> set[str]:
    """The ops named in the first column of the tables."""
    found: set[str] = set()
    for line in (DOCS / "semantics.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| `"):
            for cell in re.findall(r"`([^`]*)`", line.split(" | ")[0]):
                cell = re.sub(r"\(.*?\)", "", cell.removeprefix("graph."))
                found |= {word for word in re.split(r"\s+", cell) if re.fullmatch(r"[a-z_0-9]+", word)}
    return found - {"v", "dense"}


def test_every_row_of_the_semantics_is_an_op() -> None:
    assert {op.name.removeprefix("graph.") for op in Graph.operations} == rows_of_semantics()


@pytest.mark.parametrize("op", list(Graph.operations), ids=lambda op: op.name)
def test_op_is_documented(op: type[Operation]) -> None:
    text = inspect.cleandoc(op.__doc__ or "")
    assert text and not text.startswith(f"{op.__name__}("), "its own docstring, not one made by dataclass"
    assert f"{op.name} " in text.split("```mlir")[1], "an example"
    assert op.__name__ == "".join(part.capitalize() for part in op.name.split(".")[1].split("_")) + "Op"


def test_every_op_is_in_a_family() -> None:
    assert [op for family in FAMILIES for op in ops_of(family)] == list(Graph.operations)


def test_explainer_tells_types() -> None:
    take = next(op for op in Graph.operations if op.name == "graph.take")
    assert documentation.explain(take) == (
        "types:\n  operand: f16 bf16 f32 f64, i8 … i64, ui8 … ui64, i2 i4 ui2 ui4, i1, f8E4M3FN f8E5M2\n"
        "  indices: i8 … i64, ui8 … ui64\n  axis: an integer"
    )
    assert documentation.explain(Operation) is None
