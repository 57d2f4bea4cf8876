"""Tilings asked for in the IR: the numbers they give, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from named_machines import scheduled_for
from stepwell.core.text.parsing import parse
from xdsl.utils.exceptions import DiagnosticException

PRODUCT = """
func.func @main(%x: tensor<{m}x{k}xf32>{parameter}) -> tensor<{m}x{n}xf32> {{
  {weight}
  %r = graph.call_kernel @product(%x, %w) : (tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32>
  return %r : tensor<{m}x{n}xf32>
}}
tensor_loop.func private @product(%A: memref<{m}x{k}xf32>, %B: memref<{k}x{n}xf32>) outs(%C: memref<{m}x{n}xf32>) {{
  tensor_loop.grid (%i, %j, %k) in ({m}, {n}, {k}) {{
    tensor_loop.block "mm" spatial(%vi in {m} = %i, %vj in {n} = %j) reduce(%vk in {k} = %k)
        attributes {{stepwell.tiling = {tiling}}} {{
      init {{
        %z = arith.constant 0.0 : f32
        memref.store %z, %C[%vi, %vj] : memref<{m}x{n}xf32>
      }}
      %a = memref.load %A[%vi, %vk] : memref<{m}x{k}xf32>
      %b = memref.load %B[%vk, %vj] : memref<{k}x{n}xf32>
      %c = memref.load %C[%vi, %vj] : memref<{m}x{n}xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %C[%vi, %vj] : memref<{m}x{n}xf32>
    }}
  }}
  tensor_loop.grid (%x, %y) in ({m}, {n}) {{
    tensor_loop.block "relu" spatial(%vx in {m} = %x, %vy in {n} = %y) {{
      %u = memref.load %C[%vx, %vy] : memref<{m}x{n}xf32>
      %zero = arith.constant 0.0 : f32
      %v = arith.maximumf %u, %zero : f32
      memref.store %v, %C[%vx, %vy] : memref<{m}x{n}xf32>
    }}
  }}
}}
"""


def text_of(m: int, n: int, k: int, tiling: str, constant: bool = False) -> str:
    weight = f'%w = graph.weight "w" : tensor<{k}x{n}xf32>' if constant else ""
    parameter = "" if constant else f", %w: tensor<{k}x{n}xf32>"
    return PRODUCT.format(m=m, n=n, k=k, tiling=tiling, weight=weight, parameter=parameter)


def written(rows: int, vectors: int, packed: bool, parts: int, panels: int, outside: bool) -> str:
    words = [f"rows = {rows}", f"columns = {16 * vectors}", f"parts = {parts}"]
    words += ["packed"] * packed + [f"panels = {panels}"] * (panels > 0) + ["panels_outside"] * outside
    return f"#schedule.tiling<{', '.join(words)}>"


@settings(max_examples=150 if FULL else 6)
@given(
    m=st.integers(2, 20),
    n=st.integers(2, 130),
    part=st.integers(2, 12),
    parts=st.integers(1, 3),
    rows=st.integers(1, 8),
    vectors=st.integers(1, 3),
    flags=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    panels=st.integers(0, 4),
)
def test_every_legal_tiling_gives_the_product(
    m: int, n: int, part: int, parts: int, rows: int, vectors: int, flags: tuple[bool, ...], panels: int
) -> None:
    packed, outside, constant = flags
    k = part * parts
    text = text_of(m, n, k, written(rows, vectors, packed, parts, panels, outside), constant)
    generator = np.random.default_rng(m * n * k)
    x, w = (generator.integers(-3, 4, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    with scheduled_for("x86-64-v4"):
        exe = stepwell.compile(text, cache=False, threads=1, tuning=False, weights={"w": w} if constant else None)
    np.testing.assert_array_equal(exe(*([x] if constant else [x, w]))[0], np.maximum(x @ w, 0))


def test_the_tiling_is_what_the_tiles_are_cut_by() -> None:
    text = text_of(12, 64, 40, "#schedule.tiling<rows = 3, columns = 32>")
    with scheduled_for("x86-64-v4"):
        assert "vector<3x32xf32>" in stepwell.compile(text, cache=False, tuning=False).ir("tensor_loop")


def test_a_tile_larger_than_the_result_is_cut_to_it() -> None:
    text = text_of(2, 16, 8, "#schedule.tiling<rows = 6, columns = 64>")
    with scheduled_for("x86-64-v4"):
        assert "vector<2x16xf32>" in stepwell.compile(text, cache=False, tuning=False).ir("tensor_loop")


REFUSED = {
    "rows = 9, columns = 64": "9x64 elements take 41 registers, too many for the 32 of 'x86-64-v4'",
    "rows = 4, columns = 20": "20 columns are no whole vectors of 16 elements",
    "rows = 4, columns = 32, parts = 7": "7 parts do not divide the 40 steps of the sum",
}


@pytest.mark.parametrize("words", REFUSED)
@pytest.mark.parametrize("constant", [False, True])
def test_a_tiling_that_does_not_fit_is_an_error(words: str, constant: bool) -> None:
    module = parse(text_of(12, 128, 40, f"#schedule.tiling<{words}>", constant))
    with scheduled_for("x86-64-v4"), pytest.raises(DiagnosticException) as found:
        stepwell.compile(module, weights={"w": np.zeros((40, 128), np.float32)}, cache=False, tuning=False)
    assert f"block \"mm\" cannot have 'stepwell.tiling' = #schedule.tiling<{words}>: {REFUSED[words]}" in str(
        found.value
    )


def test_a_tiling_on_what_is_no_contraction_is_an_error() -> None:
    tiling = "#schedule.tiling<rows = 4, columns = 32>"
    text = text_of(12, 128, 40, tiling).replace('block "relu" spatial', 'block "relu" spatial')
    text = text.replace("= %y) {", f"= %y) attributes {{stepwell.tiling = {tiling}}} {{")
    text = text.replace("fastmath<reassoc,contract>", "")  # a sum in order: its loops stay
    with pytest.raises(DiagnosticException, match="the block is no contraction that register tiles are made for"):
        stepwell.compile(text, cache=False, tuning=False)


def test_another_attribute_of_that_name_is_an_error() -> None:
    with pytest.raises(DiagnosticException, match="'stepwell.tiling' is 3 : i64, expected a #schedule.tiling"):
        stepwell.compile(text_of(12, 128, 40, "3 : i64"), cache=False, tuning=False)
