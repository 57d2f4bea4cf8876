"""
Convolutions with padding on register tiles without a padded copy, against NumPy written on its own.

The operands are small integers, so every sum is exact in any order and results are compared bit by bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from named_machines import scheduled_for
from stepwell.analysis.work import nanoseconds
from stepwell.core.ir.walk import ops_of
from stepwell.core.passes.context import PassContext
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.dialects import tile
from stepwell.dialects.tensor_loop import AllocOp, BlockOp
from stepwell.dialects.tensor_loop.regions import shape_of
from stepwell.schedule.kernels.contraction import Contraction
from stepwell.schedule.products.borders import Border, Borders, Run
from xdsl.dialects.builtin import ModuleOp

EXAMPLES = 300 if FULL else 5
DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "f16": np.float16}
Array = np.ndarray[Any, Any]
Pair = tuple[int, int]


def numbers(seed: int, *sizes: int, dtype: str = "f32") -> Array:
    return np.random.default_rng(seed).integers(-3, 4, sizes).astype(DTYPES[dtype])


def convolve(x: Array, w: Array, strides: Pair, padding: tuple[int, ...], dilation: Pair, groups: int = 1) -> Array:
    """NHWC by HWIO, one product of matrices per group and place of the window."""
    (kh, kw, inside, outside), (top, left, bottom, right) = w.shape, padding
    padded = np.pad(x.astype(np.float64), ((0, 0), (top, bottom), (left, right), (0, 0)))
    high = (padded.shape[1] - dilation[0] * (kh - 1) - 1) // strides[0] + 1
    wide = (padded.shape[2] - dilation[1] * (kw - 1) - 1) // strides[1] + 1
    total = np.zeros((x.shape[0], high, wide, outside))
    each = outside // groups
    for group in range(groups):
        image = padded[..., group * inside : (group + 1) * inside]
        for i in range(kh):
            for j in range(kw):
                rows = i * dilation[0] + strides[0] * np.arange(high)
                columns = j * dilation[1] + strides[1] * np.arange(wide)
                filters = w[i, j, :, group * each : (group + 1) * each].astype(np.float64)
                with np.errstate(invalid="ignore"):
                    total[..., group * each : (group + 1) * each] += image[:, rows][:, :, columns] @ filters
    return total.astype(x.dtype)


def program(x: Array, w: Array, y: Array, strides: Pair, padding: tuple[int, ...], dilation: Pair, groups: int) -> str:
    kind = next(name for name, dtype in DTYPES.items() if dtype == x.dtype)
    data, filters, result = (f"tensor<{'x'.join(map(str, each.shape))}x{kind}>" for each in (x, w, y))
    return f"""func.func @main(%x: {data}, %w: {filters}) -> {result} {{
  %y = graph.conv2d %x, %w, strides = {list(strides)}, padding = {list(padding)}, dilation = {list(dilation)},
      groups = {groups}, data_layout = "NHWC", kernel_layout = "HWIO" : ({data}, {filters}) -> {result}
  %r = graph.relu %y : ({result}) -> {result}
  func.return %r : {result}
}}"""


def scheduled(text: str, target: str = "x86-64-v4") -> ModuleOp:
    module = parse(text)
    run_pipeline(make_context(), module, f'graph-optimize,to-loops,schedule-cpu{{target="{target}"}}')
    return module


def is_copied(module: ModuleOp) -> bool:
    """Whether a padded copy of the image is made."""
    return any(len(shape_of(op.memref)) == 4 for op in ops_of(module, AllocOp))


def check(
    x: Array,
    w: Array,
    strides: Pair = (1, 1),
    padding: tuple[int, ...] = (0, 0, 0, 0),
    dilation: Pair = (1, 1),
    groups: int = 1,
    levels: tuple[int, ...] = (3,),
) -> ModuleOp:
    """Compares with NumPy, bit by bit; the loops for AVX-512."""
    expected = convolve(x, w, strides, padding, dilation, groups)
    text = program(x, w, expected, strides, padding, dilation, groups)
    for level in levels:
        (found,) = stepwell.compile(text, opt_level=level, cache=False)(x, w)
        np.testing.assert_array_equal(found, np.maximum(expected, 0))
    return scheduled(text)


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    sizes=st.tuples(st.integers(1, 2), st.integers(1, 12), st.integers(1, 20)),
    channels=st.tuples(st.integers(1, 9), st.integers(2, 20) | st.sampled_from([33, 64, 70])),
    kernel=st.tuples(st.integers(1, 5), st.integers(1, 7)),
    strides=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    padding=st.tuples(*[st.integers(0, 4)] * 4),
    dilation=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    groups=st.sampled_from([1, 1, 2]),
    dtype=st.sampled_from(["f32", "f32", "f64", "i32"]),
    seed=st.integers(0, 1000),
)
def test_random_convolutions(
    sizes: tuple[int, ...],
    channels: Pair,
    kernel: Pair,
    strides: Pair,
    padding: tuple[int, ...],
    dilation: Pair,
    groups: int,
    dtype: str,
    seed: int,
) -> None:
    batch, *extents = sizes
    for axis in (0, 1):
        room = extents[axis] + padding[axis] + padding[axis + 2]
        extents[axis] += max(0, dilation[axis] * (kernel[axis] - 1) + 1 - room)
    x = numbers(seed, batch, *extents, channels[0] * groups, dtype=dtype)
    w = numbers(seed + 1, *kernel, channels[0], channels[1] * groups, dtype=dtype)
    check(x, w, strides, padding, dilation, groups)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize(
    ("size", "kernel", "stride", "padding", "dilation"),
    [
        ((16, 16), 3, 2, (1, 1, 1, 1), 1),
        ((15, 17), 3, 2, (1, 1, 1, 1), 1),
        ((16, 16), 3, 2, (0, 0, 1, 1), 1),
        ((20, 20), 5, 2, (2, 2, 2, 2), 1),
        ((22, 30), 7, 2, (3, 3, 3, 3), 1),
        ((9, 9), 3, 1, (1, 1, 1, 1), 1),
        ((14, 26), 3, 1, (6, 6, 6, 6), 6),
        ((3, 3), 3, 1, (4, 4, 4, 4), 1),
    ],
    ids=["half", "odd", "only-behind", "5x5", "7x7", "stride-1", "dilated", "outputs-of-padding-alone"],
)
def test_no_padded_copy(size: Pair, kernel: int, stride: int, padding: tuple[int, ...], dilation: int) -> None:
    x, w = numbers(1, 1, *size, 6), numbers(2, kernel, kernel, 6, 32)
    module = check(x, w, (stride, stride), padding, (dilation, dilation), levels=(1, 3))
    assert ops_of(module, tile.MmaOp) and not is_copied(module)


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("target", ["x86-64", "x86-64-v3", "cascade-lake", "aarch64-neon"])
def test_tiles_of_other_targets(target: str) -> None:
    with scheduled_for(target):
        check(numbers(1, 2, 11, 13, 5), numbers(2, 3, 3, 5, 24), (2, 2), (1, 1, 1, 1))


def test_constant_filters() -> None:
    """Those are in panels before."""
    x, w = numbers(1, 1, 17, 18, 7), numbers(2, 3, 3, 7, 70)
    expected = convolve(x, w, (2, 2), (1, 1, 1, 1), (1, 1))
    text = program(x, w, expected, (2, 2), (1, 1, 1, 1), (1, 1), 1)
    head, body = text.split("{", 1)
    head = head.replace(", %w: tensor<3x3x7x70xf32>", "")
    text = f'{head}{{\n  %w = graph.weight "w" : tensor<3x3x7x70xf32>{body}'
    text = f'builtin.module attributes {{stepwell.weights = "w.safetensors"}} {{\n{text}\n}}'
    (found,) = stepwell.compile(text, weights={"w": w}, cache=False)(x)
    np.testing.assert_array_equal(found, np.maximum(expected, 0))


def test_an_image_of_nan_and_infinity() -> None:
    """What is left out is not read by way of a neighbour: results are those of the sums as they are written."""
    x, w = numbers(1, 1, 8, 14, 4), numbers(2, 3, 3, 4, 16)
    x[0, :, -1], x[0, -1, 3] = np.nan, np.inf
    expected = np.maximum(convolve(x, w, (2, 2), (1, 1, 1, 1), (1, 1)), 0)
    text = program(x, w, expected, (2, 2), (1, 1, 1, 1), (1, 1), 1)
    (found,) = stepwell.compile(text, cache=False)(x, w)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("case", ["number", "runs", "alone"])
def test_copied_all_the_same(case: str) -> None:
    """Padding that is not zero, taps that tiles would spell out too often, an image that somebody else wants padded."""
    images, filters = "tensor<1x9x%dx4xf32>", "tensor<3x3x4x16xf32>"
    width, by = (200, 40) if case == "runs" else (9, 1)
    value = 1.0 if case == "number" else 0.0
    x, padded = images % width, f"tensor<1x11x{width + 2 * by}x4xf32>"
    y = f"tensor<1x9x{width}x16xf32>"
    extra = f", {padded}" if case == "alone" else ""
    result = f"({y}, {padded})" if case == "alone" else y
    text = f"""func.func @main(%x: {x}, %w: {filters}) -> {result} {{
  %p = graph.pad %x, pad_width = [0, 0, 1, 1, {by}, {by}, 0, 0], value = {value} : ({x}) -> {padded}
  %y = graph.conv2d %p, %w, dilation = [1, {by}], data_layout = "NHWC", kernel_layout = "HWIO" : ({padded}, {filters})
      -> {y}
  func.return %y{", %p" if case == "alone" else ""} : {y}{extra}
}}"""
    image, weights = numbers(1, 1, 9, width, 4), numbers(2, 3, 3, 4, 16)
    whole = np.pad(image, ((0, 0), (1, 1), (by, by), (0, 0)), constant_values=value)
    with PassContext(opt_level=3, disabled=["simplify-expr"]):  # which lets the convolution pad
        found = stepwell.compile(text, cache=False)(image, weights)
        np.testing.assert_array_equal(found[0], convolve(whole, weights, (1, 1), (0,) * 4, (1, by)))
        assert all(op.rows is None for op in ops_of(scheduled(text), tile.MmaOp))
    again = stepwell.compile(text, cache=False)(image, weights)
    np.testing.assert_array_equal(again[0], found[0])


def test_runs_of_taps() -> None:
    """7 taps, step 2, 3 columns of padding."""
    border = Border(224, -3, axis=1, by=2, tap=3, step=1, before=True, after=True)
    assert border.runs(0, 6, 7) == [Run(0, 1, 2, 4), Run(1, 2, 1, 5), Run(3, 4, 0, 6)]
    assert border.runs(6, 6, 7) == [Run(0, 7, 0, 6)]
    assert border.runs(106, 6, 7) == [Run(0, 5, 0, 6), Run(5, 2, 0, 5)]
    assert border.runs(200, 2, 7) == []


def test_work_counts_the_rows_that_are_added_to() -> None:
    """Left out sums are no work: that of the first tile is less than that of those behind it."""
    x, w = numbers(1, 1, 5, 36, 8), numbers(2, 1, 3, 8, 64)
    module = check(x, w, (1, 2), (0, 1, 0, 1))
    first, behind = ops_of(module, BlockOp)[:2]
    assert nanoseconds(first) < nanoseconds(behind)


@given(st.data())
def test_g4_heights_are_those_found_row_by_row(data: st.DataObject) -> None:
    def number(low: int, high: int) -> int:
        return data.draw(st.integers(low, high))

    rows, taps, most = number(2, 60), number(1, 7), number(1, 14)
    border = Border(number(1, 60), number(-12, 12), 0, number(1, 4), 1, number(1, 4), True, True)
    borders = Borders(cast(Contraction, _Product(0, (rows, taps))), border, ())
    seen = 0
    for height, start, count in borders.heights(most):
        assert start == seen
        inside = border.runs(start, height * count, taps) == [Run(0, taps, 0, height * count)]
        assert inside or (count == 1 and border.runs(start, height, taps) != [Run(0, taps, 0, height)])
        seen += height * count
    assert seen == rows


@dataclass(frozen=True)
class _Product:
    m: int
    extents: tuple[int, int]

    def extent(self, axis: int) -> int:
        return self.extents[axis]


def test_g4_a_product_of_four_billion_rows_is_scheduled() -> None:
    text = """
    func.func @main(%a: tensor<4294967296x16xf32>, %b: tensor<16x20xf32>) -> tensor<4294967296x20xf32> {
      %c = graph.matmul %a, %b : (tensor<4294967296x16xf32>, tensor<16x20xf32>) -> tensor<4294967296x20xf32>
      return %c : tensor<4294967296x20xf32>
    }"""
    assert "scf.for" in stepwell.compile(text).ir("scf")
