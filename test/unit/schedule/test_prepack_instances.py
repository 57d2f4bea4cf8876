"""One prepare function packs all weights of a side-car that the calls of a kernel take."""

from __future__ import annotations

import numpy as np
import stepwell
from stepwell.core.ir.verification import verify_module
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.roles import INSTANCES, PREPARE
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.graph.constants import WeightOp
from xdsl.dialects import func

TEXT = """
builtin.module attributes {stepwell.weights = "given.safetensors"} {
  func.func @main(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
    %a = graph.weight "a" : tensor<64x64xf32>
    %b = graph.weight "b" : tensor<64x64xf32>
    %1 = graph.matmul %x, %a : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    %2 = graph.matmul %1, %b : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    %3 = graph.matmul %2, %a : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    func.return %3 : tensor<8x64xf32>
  }
}
"""


def test_weights_of_one_kernel_share_a_prepare_function() -> None:
    context = make_context()
    module = parse_text(context, TEXT, "weights")
    run_pipeline(context, module, "lower-graph-to-loops,prepack-weights")
    verify_module(module)
    prepare = [op for op in module.ops if isinstance(op, func.FuncOp) and PREPARE in op.attributes]
    assert [op.sym_name.data for op in prepare] == ["prepare_panels0"]
    assert str(prepare[0].attributes[INSTANCES]) == '{prepare_panels1 = ["b"]}'
    keys = [op.weight_key for op in module.walk() if isinstance(op, WeightOp)]
    assert sorted(keys) == ["@prepare_panels1#0", "a"]


def test_each_call_takes_the_panels_of_its_own_weight() -> None:
    random = np.random.default_rng(0)
    a, b, x = (random.standard_normal(shape).astype(np.float32) for shape in ((64, 64), (64, 64), (8, 64)))
    program = stepwell.compile(TEXT, weights={"a": a, "b": b}, threads=1)
    (found,) = program(x)
    wanted = x.astype(np.float64) @ a @ b @ a
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-2)
