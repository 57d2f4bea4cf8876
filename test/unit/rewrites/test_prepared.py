"""What follows from constants: answers are kept, and forgotten when an op changes sides."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from stepwell.core.text.parsing import make_context, parse_text
from stepwell.patterns.language.match import Session
from stepwell.rewrites.quantised.scales import _Computed, is_prepared

TEXT = """
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = graph.weight "w" : tensor<4xf32>
  %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.add %a, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = graph.exp %w : (tensor<4xf32>) -> tensor<4xf32>
  %d = graph.add %c, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = graph.multiply %b, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}
"""


def test_answers_follow_changes() -> None:
    ctx = make_context()
    module = parse_text(ctx, TEXT, "test.mlir")
    session = Session(ctx, module)
    match: Any = SimpleNamespace(session=session)
    values = {op.results[0].name_hint: op.results[0] for op in module.walk() if op.results}
    assert [name for name in "wabcde" if is_prepared(match, values[name])] == ["w", "c", "d"]
    assert not is_prepared(match, values["e"])
    session.replace_uses([values["a"]], [values["c"]])
    assert is_prepared(match, values["b"]), "all of its operands follow from weights now"
    assert is_prepared(match, values["e"])


def test_a_value_late_in_a_net_is_not_followed_to_its_inputs_again() -> None:
    count = 300
    lines = [f"%v{n} = graph.exp %v{n - 1} : (tensor<4xf32>) -> tensor<4xf32>" for n in range(1, count)]
    text = "\n".join(
        [
            "func.func @f(%v0: tensor<4xf32>) -> tensor<4xf32> {",
            *lines,
            f"func.return %v{count - 1} : tensor<4xf32>",
            "}",
        ]
    )
    ctx = make_context()
    session = Session(ctx, parse_text(ctx, text, "test.mlir"))
    match: Any = SimpleNamespace(session=session)
    last = [op for op in session.scope.walk() if op.name == "graph.exp"][-1]
    assert not is_prepared(match, last.results[0])
    assert len(session.index(_Computed)._known) == count - 1
