"""AUDIT C2, C4: the error for an op on tensors that has no tensor expression says what to write in its place."""

from __future__ import annotations

import pytest
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse


@pytest.mark.parametrize(
    ("op", "name", "hint"),
    [
        ("arith.addf %x, %x : tensor<3xf32>", "arith.addf", "use graph.add for arith.addf"),
        ("math.exp %x : tensor<3xf32>", "math.exp", "use graph.exp for math.exp"),
        (
            "tosa.add %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>",
            "tosa.add",
            "use graph.add for tosa.add",
        ),
        (
            "linalg.max ins(%x, %x : tensor<3xf32>, tensor<3xf32>) outs(%x : tensor<3xf32>) -> tensor<3xf32>",
            "linalg.max",
            "use graph.maximum for linalg.max",
        ),
        (
            "tensor.cast %x : tensor<3xf32> to tensor<3xf32>",
            "tensor.cast",
            "graph ops compute on tensors; docs/graph.md lists them",
        ),
        (
            '"my.op"(%x) : (tensor<3xf32>) -> tensor<3xf32>',
            "my.op",
            "the op 'my.op' is unregistered; the package of its dialect must be installed",
        ),
    ],
)
def test_the_hint_names_what_to_use(op: str, name: str, hint: str):
    ctx = make_context(allow_unregistered=True)
    text = f"func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{\n  %y = {op}\n  func.return %y : tensor<3xf32>\n}}"
    module = parse(text, ctx=ctx)
    with pytest.raises(StepwellError) as caught:
        run_pipeline(ctx, module, "O0")
    diagnostic = caught.value.diagnostic
    assert diagnostic.message == f"1 op on tensors has no tensor expression: '{name}' at 2:3"
    assert diagnostic.hint == hint
