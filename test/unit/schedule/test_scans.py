"""Running sums and products down the columns of a matrix, whose rows keep their order, against the reference."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from depthwise_programs import scheduled
from stepwell.core.ir.walk import ops_of
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context
from stepwell.dialects.tensor_loop import ForOp
from stepwell.reference.registry import evaluate


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize(("dtype", "type_"), [(np.float32, "f32"), (np.int64, "i64")])
def test_sums_down_columns_run_on_vectors(reverse: bool, exclusive: bool, dtype: type, type_: str) -> None:
    x = np.random.default_rng(1).integers(-9, 9, (7, 37)).astype(dtype)
    properties = {"axis": 0, "exclusive": exclusive, "reverse": reverse}
    (expected,) = evaluate("graph.cumulative_sum", properties, x)
    given = f"tensor<7x37x{type_}>"
    words = ", ".join(f"{name} = {str(value).lower()}" for name, value in properties.items())
    text = (
        f"func.func @main(%x: {given}) -> {given} {{\n  %y = graph.cumulative_sum %x, {words} : ({given}) -> {given}\n"
        f"  func.return %y : {given}\n}}\n"
    )
    (found,) = stepwell.compile(text, threads=1, cache=False)(x)
    np.testing.assert_array_equal(found, expected)
    assert any(op.kind_name == "vectorized" for op in ops_of(scheduled(text), ForOp))


def test_the_sum_of_one_line_reads_no_line_before_it() -> None:
    """The fuzzer found that every pipeline refused it: `reads -1 to -1 of dimension 0`."""
    given = "tensor<1x3x2xi32>"
    for words in ("axis = 0", "axis = 0, exclusive = true", "axis = 0, reverse = true"):
        module = stepwell.parse(
            f"func.func @main(%x: {given}) -> {given} {{\n"
            f"  %y = graph.cumulative_sum %x, {words} : ({given}) -> {given}\n  func.return %y : {given}\n}}\n"
        )
        run_pipeline(make_context(), module, "lower-graph-to-loops")
        module.verify()
