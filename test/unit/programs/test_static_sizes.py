"""Programs of known shapes whose ops take sizes as tensors (AUDIT C11)."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse


@pytest.mark.parametrize("level", range(4))
def test_c11_a_static_program_that_takes_sizes_as_tensors_compiles(level: int) -> None:
    text = """
    func.func @main(%x: tensor<6xi64>) -> tensor<?x3xi64> {
      %from = graph.constant dense<0> : tensor<i64>
      %to = graph.constant dense<6> : tensor<i64>
      %by = graph.constant dense<1> : tensor<i64>
      %r = graph.arange %from, %to, %by : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
      %y = graph.add %x, %r : (tensor<6xi64>, tensor<?xi64>) -> tensor<6xi64>
      %s = graph.constant dense<[2, 3]> : tensor<2xi64>
      %z = graph.dynamic_reshape %y, %s : (tensor<6xi64>, tensor<2xi64>) -> tensor<?x3xi64>
      return %z : tensor<?x3xi64>
    }"""
    compiled = stepwell.compile(text, opt_level=level)
    assert compiled.signature == "main(x: tensor<6xi64>) -> (result0: tensor<2x3xi64>)"
    np.testing.assert_array_equal(compiled(np.arange(6))[0], [[0, 2, 4], [6, 8, 10]])


def test_c11_without_specialisation_the_hint_names_it() -> None:
    text = """
    func.func @main(%x: tensor<6xi64>, %s: tensor<2xi64>) -> tensor<2x3xi64> {
      %z = graph.dynamic_reshape %x, %s : (tensor<6xi64>, tensor<2xi64>) -> tensor<2x3xi64>
      return %z : tensor<2x3xi64>
    }"""
    with pytest.raises(StepwellError) as caught:
        run_pipeline(make_context(), parse(text), "lower-graph-to-loops")
    assert caught.value.diagnostic.hint == (
        "specialize-shapes makes ops that take sizes static, where these follow from shapes and constants"
    )
