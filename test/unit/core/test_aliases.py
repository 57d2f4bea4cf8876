"""AUDIT C1: the names that users of other systems type for an op are shown first in "did you mean"."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.text.aliases import ALIASES, RECIPES, SYSTEMS, WITHOUT_NAMES, ops_called
from stepwell.core.text.parsing import make_context, parse
from stepwell.core.text.unknown import unknown_op
from stepwell.dialects.graph import Graph
from stepwell.tools.pages.aliases import page

OPS = [op.name.removeprefix("graph.") for op in Graph.operations]
PAIRS = sorted({(name, op) for op, systems in ALIASES.items() for names in systems for name in names})
OTHERS = [(name, op) for name, op in PAIRS if name not in OPS]
SCIPY = {"erf", "expit", "log_softmax", "softmax"}


def test_the_table_is_complete():
    assert list(ALIASES) == OPS
    without = [op for op, systems in ALIASES.items() if not any(systems)]
    assert without == list(WITHOUT_NAMES) and all(WITHOUT_NAMES.values())
    assert {len(systems) for systems in ALIASES.values()} == {len(SYSTEMS)}


def hint(name: str) -> str | None:
    return unknown_op(make_context(), name)[1]


@pytest.mark.parametrize(("name", "op"), OTHERS)
def test_a_name_of_another_system_leads_to_the_op(name: str, op: str):
    shown = hint(name if "." in name else f"graph.{name}")
    assert shown is not None and shown.startswith("did you mean 'graph.") and f"'graph.{op}'" in shown


@pytest.mark.parametrize("name", [name for name, op in PAIRS if name in OPS])
def test_a_name_that_is_an_op_leads_to_it_first(name: str):
    assert ops_called(f"torch.{name}")[0] == f"graph.{name}"


@pytest.mark.parametrize("name", RECIPES)
def test_a_name_of_several_ops_leads_to_them(name: str):
    assert hint(f"graph.{name}") == f"several graph ops make it: {RECIPES[name]}"
    called = re.findall(r"(\w+)\(", RECIPES[name])
    assert called and set(called) <= set(OPS)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("graph.mul", "did you mean 'graph.multiply'?"),
        ("graph.sub", "did you mean 'graph.subtract'?"),
        ("graph.transpose", "did you mean 'graph.permute_dims'?"),
        ("graph.cast", "did you mean 'graph.astype'?"),
        ("graph.linear", "several graph ops make it: add(matmul(x, w), b)"),
        ("graph.unsqueeze", "did you mean 'graph.expand_dims'?"),
        ("graph.bmm", "did you mean 'graph.matmul'?"),
        ("graph.flatten", "did you mean 'graph.reshape'?"),
        ("graph.hardswish", "several graph ops make it: multiply(x, clip(add(divide(x, 6), 0.5), 0, 1))"),
        ("graph.Max", "did you mean 'graph.max' or 'graph.maximum'?"),
        ("graph.LeakyRelu", "did you mean 'graph.leaky_relu'?"),
        ("graph.unsqeeze", "did you mean 'graph.expand_dims'?"),
        ("graph.sofmax", "did you mean 'graph.softmax'?"),
        ("mul", "did you mean 'graph.multiply'?"),
        ("aten.mul.Tensor", "did you mean 'graph.multiply'?"),
        ("torch.nn.functional.silu", "did you mean 'graph.silu'?"),
        ("stablehlo.dot_general", "did you mean 'graph.matmul'?"),
        ("tosa.negate", "did you mean 'graph.negative'?"),
        ("onnx.Gemm", "several graph ops make it: add(matmul(a, b), c)"),
        ("grap.relu", "did you mean 'graph'?"),
    ],
)
def test_the_hint(name: str, message: str):
    assert hint(name) == message


def test_the_message_has_its_place():
    with pytest.raises(StepwellError) as caught:
        parse("func.func @main(%x: tensor<4xf32>) {\n  %y = graph.mul %x, %x : tensor<4xf32>\n}")
    assert str(caught.value) == (
        "<text>:2:8: error: op 'graph.mul' is unknown\n"
        "    %y = graph.mul %x, %x : tensor<4xf32>\n"
        "         ^^^^^^^^^\n"
        "hint: did you mean 'graph.multiply'?"
    )


def test_the_names_exist():
    """NumPy and ONNX are here to be asked. PyTorch, TOSA and StableHLO were looked up by hand."""
    schemas = import_module("onnx").defs
    for numpy_names, _, onnx_names, *_ in ALIASES.values():
        for name in numpy_names:
            assert name in SCIPY or hasattr(np, name) or hasattr(np.ndarray, name), name
        assert all(schemas.has(name) for name in onnx_names), onnx_names


def test_the_page_is_up_to_date():
    text = (Path(__file__).resolve().parents[3] / "docs" / "aliases.md").read_text()
    assert text == page(), "run python -m stepwell.tools.pages.aliases > docs/aliases.md"
