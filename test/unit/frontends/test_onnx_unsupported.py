"""Operators without converters: replaced by ONNX's own definitions, or reported all at once with a stub to fill in."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import stepwell
from onnx_broken_models import info, model, node
from stepwell.frontends import from_onnx
from stepwell.frontends.onnx import registry
from stepwell.frontends.onnx.unsupported import UnsupportedError, stub

from .test_onnx_importer import X, function, run


def refused(made: onnx.ModelProto) -> UnsupportedError:
    with pytest.raises(UnsupportedError) as caught:
        from_onnx(made)
    return caught.value


def foreign(*nodes: onnx.NodeProto) -> onnx.ModelProto:
    made = model(nodes)
    made.opset_import.append(onnx.helper.make_opsetid("com.acme", 3))
    return made


MANY = (
    node("Wobble", "x", "a", "first", scale=1.0, mode="wide"),
    node("Conve", "a x", "b", "second"),
    node("Wobble", "b", "c", scale=2.0, turn=1),
    node("Relu", "c", "d"),
    node("Wobble", "d d", "e f", "fourth", domain="com.acme"),
    node("Wobble", "e", "y", "fifth"),
)


def test_all_of_it_at_once() -> None:
    assert str(refused(foreign(*MANY))) == (
        "error: model '<model>': 3 operators are not supported\n"
        "  Wobble (opset 20), 3 nodes: 'first', '3', 'fifth'\n"
        "  Conve (opset 20), node 'second'; nearest is Conv\n"
        "  com.acme:Wobble (opset 3), node 'fourth'\n"
        "hint: write a converter: docs/onnx.md; stepwell-import-onnx --stub FILE.py makes a file to fill in"
    )


def test_many_nodes_and_many_operators_stay_on_one_screen() -> None:
    nodes = [node(f"Strange{number}", "x", f"a{number}") for number in range(40)]
    nodes += [node("Odd", "x", f"b{number}", f"n{number}") for number in range(9)]
    text = str(refused(model([*reversed(nodes), node("Relu", "x", "y")])))
    assert "41 operators are not supported" in text
    assert "  Odd (opset 20), 9 nodes: 'n8', 'n7', 'n6' and 6 more" in text
    assert "  and 29 more" in text
    assert len(text.splitlines()) < 20


def test_operators_of_bodies_are_reported_too() -> None:
    body = onnx.helper.make_graph([node("Wobble", "x", "b", "inner")], "body", [], [info("b")])
    choice = node("If", "c", "y", then_branch=body, else_branch=body)
    made = model([choice], inputs=[info("c", (), onnx.TensorProto.BOOL), info("x")])
    assert "Wobble (opset 20), 2 nodes: 'inner', 'inner'" in str(refused(made))


def test_nothing_is_converted_before_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[Any] = []
    monkeypatch.setattr("stepwell.frontends.onnx.importer.Importer.module", lambda *_: called.append(1))
    refused(foreign(*MANY))
    assert not called


# Stubs

STUB = """
@converter("Wobble", since=20)
def wobble(b: Emitter, x0: Value, *, mode=None, scale=None, turn=None) -> Value:
    \"\"\"Wobble: 1 input, 1 output.\"\"\"
    raise NotImplementedError("Wobble")
"""


def test_a_stub_is_a_module_of_converters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = stub(refused(foreign(*MANY)).missing)
    assert STUB in text
    assert "def com_acme_wobble(b: Emitter, x0: Value, x1: Value) -> tuple[Value, Value]:" in text
    assert '"""com.acme:Wobble: 2 inputs, 2 outputs."""' in text
    ast.parse(text)
    registry.load()
    monkeypatch.setattr(registry, "_table", {key: list(found) for key, found in registry._table.items()})
    path = tmp_path / "mine.py"
    path.write_text(text)
    runpy.run_path(str(path))
    with pytest.raises(stepwell.frontends.OnnxError, match="node 'first' .*NotImplementedError: Wobble"):
        from_onnx(foreign(*MANY))


# Definitions


def test_an_operator_is_replaced_by_its_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Softplus has a converter; without one its definition is taken, whose ops are at the node."""
    registry.load()
    table = {key: found for key, found in registry._table.items() if key != ("", "Softplus")}
    monkeypatch.setattr(registry, "_table", table)
    module = from_onnx(model([node("Softplus", "x", "y", "soft")]))
    np.testing.assert_allclose(run(module, X)[0], np.log1p(np.exp(X)), rtol=1e-5)
    names = [str(op.location) for op in function(module).body.block.ops if op.operands]
    assert any('loc("soft"' in name for name in names)


def test_definitions_get_the_defaults_of_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    registry.load()
    table = {key: found for key, found in registry._table.items() if key != ("", "Selu")}
    monkeypatch.setattr(registry, "_table", table)
    found = run(from_onnx(model([node("Selu", "x", "y")])), X)[0]
    alpha, gamma = 1.67326319217681884765625, 1.05070102214813232421875
    wanted = gamma * np.where(X > 0, X, alpha * (np.exp(X) - 1))
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
