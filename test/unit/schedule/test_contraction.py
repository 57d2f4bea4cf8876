"""
Products and convolutions as register tiles, against NumPy written on its own.

The operands are small integers, so every sum is exact in any order and results are compared bit by bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from ml_dtypes import bfloat16
from numpy.typing import DTypeLike
from stepwell.core.ir.verification import verify_module
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects import tile
from stepwell.machine.x86_64 import X86_64_V4
from stepwell.schedule.kernels.register_tiles import choose_tile, fits, split_columns, split_evenly

EXAMPLES = 300 if FULL else 6
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16}
Array = np.ndarray[Any, Any]


def tensor(*sizes: int, dtype: str = "f32") -> str:
    return f"tensor<{'x'.join(map(str, sizes))}x{dtype}>"


def small_integers(seed: int, *sizes: int, dtype: str = "f32") -> Array:
    return np.random.default_rng(seed).integers(-3, 4, sizes).astype(DTYPES[dtype])


def program(arguments: list[str], result: str, lines: list[str]) -> str:
    """A function of a fused group, called by main; its arguments are %0, %1 …, the last line makes %r."""
    named = ", ".join(f"%{number}: {type_}" for number, type_ in enumerate(arguments))
    values = ", ".join(f"%{number}" for number in range(len(arguments)))
    body = "\n  ".join(lines)
    return f"""
func.func @main({named}) -> {result} {{
  %r = func.call @group({values}) : ({", ".join(arguments)}) -> {result}
  func.return %r : {result}
}}
func.func private @group({named}) -> {result} attributes {{graph.primitive}} {{
  {body}
  func.return %r : {result}
}}"""


def check(text: str, expected: Array, *inputs: Array, tiled: bool = True) -> None:
    """Native code gives `expected`, and does so by register tiles."""
    ctx = make_context()
    module = parse_text(ctx, text, "program.mlir")
    for pass_ in parse_pipeline("lower-graph-to-loops,fuse-loops,inline-loops,schedule-cpu"):
        pass_.apply(ctx, module)
    verify_module(module)
    assert any(isinstance(op, tile.MmaOp) for op in module.walk()) == tiled
    for level in (1, 3):
        found = np.asarray(stepwell.compile(text, opt_level=level, cache=False)(*inputs))
        np.testing.assert_array_equal(found.reshape(expected.shape), expected)


@settings(max_examples=EXAMPLES)
@given(
    rows=st.integers(1, 70),
    depth=st.integers(1, 70) | st.sampled_from([256, 300, 513, 784]),
    columns=st.integers(2, 70) | st.sampled_from([128, 200, 384]),
    epilogue=st.sampled_from(["", "bias", "bias-relu", "residual", "row", "scalar"]),
    dtype=st.sampled_from(["f32", "f32", "f64"]),
    seed=st.integers(0, 1000),
)
def test_products(rows: int, depth: int, columns: int, epilogue: str, dtype: str, seed: int) -> None:
    a, b = (
        small_integers(seed, rows, depth, dtype=dtype),
        small_integers(seed + 1, depth, columns, dtype=dtype),
    )
    types = [tensor(rows, depth, dtype=dtype), tensor(depth, columns, dtype=dtype)]
    result = tensor(rows, columns, dtype=dtype)
    expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(DTYPES[dtype])
    inputs = [a, b]
    name = "%p" if epilogue else "%r"
    lines = [f"{name} = graph.matmul %0, %1 : ({types[0]}, {types[1]}) -> {result}"]
    if epilogue:
        shape = {"bias": (columns,), "bias-relu": (columns,), "residual": (rows, columns), "row": (rows, 1)}
        sizes = shape.get(epilogue, ())
        extra = small_integers(seed + 2, *sizes, dtype=dtype)
        types.append(tensor(*sizes, dtype=dtype) if sizes else f"tensor<{dtype}>")
        inputs.append(extra)
        expected = expected + extra
        last = "%s" if epilogue.endswith("relu") else "%r"
        lines.append(f"{last} = graph.add %p, %2 : ({result}, {types[2]}) -> {result}")
        if epilogue.endswith("relu"):
            lines.append(f"%r = graph.relu %s : ({result}) -> {result}")
            expected = np.maximum(expected, 0)
    check(program(types, result, lines), expected, *inputs)


@settings(max_examples=EXAMPLES)
@given(
    rows=st.integers(1, 40),
    columns=st.integers(2, 70) | st.sampled_from([96, 200]),
    extra=st.sampled_from(["bias", "residual", "row"]),
    threads=st.sampled_from([1, 2]),
    seed=st.integers(0, 1000),
)
def test_long_epilogues(rows: int, columns: int, extra: str, threads: int, seed: int) -> None:
    """Loops over some rows of a tile at a time, for products with much to do on each element."""
    a, b = small_integers(seed, rows, 20), small_integers(seed + 1, 20, columns)
    sizes = {"bias": (columns,), "residual": (rows, columns), "row": (rows, 1)}[extra]
    added = small_integers(seed + 2, *sizes)
    types = [tensor(*each.shape) for each in (a, b, added)]
    result = tensor(rows, columns)
    lines = [
        f"%p = graph.matmul %0, %1 : ({types[0]}, {types[1]}) -> {result}",
        f"%s = graph.add %p, %2 : ({result}, {types[2]}) -> {result}",
        f"%t = graph.tanh %s : ({result}) -> {result}",
        f"%e = graph.exp %t : ({result}) -> {result}",
        f"%r = graph.add %e, %2 : ({result}, {types[2]}) -> {result}",
    ]
    found = stepwell.compile(program(types, result, lines), cache=False, threads=threads)(a, b, added)
    expected = np.exp(np.tanh(a.astype(np.float64) @ b + added)) + added
    np.testing.assert_allclose(np.asarray(found).reshape(rows, columns), expected, rtol=1e-5, atol=1e-5)


def convolve(x: Array, w: Array, stride: int, padding: int, dilation: int) -> Array:
    """NHWC by HWIO, one product of matrices per place of the window."""
    kh, kw, _, channels = w.shape
    padded = np.pad(x.astype(np.float64), ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    high = (padded.shape[1] - dilation * (kh - 1) - 1) // stride + 1
    wide = (padded.shape[2] - dilation * (kw - 1) - 1) // stride + 1
    total = np.zeros((x.shape[0], high, wide, channels))
    for i in range(kh):
        for j in range(kw):
            top, left = i * dilation, j * dilation
            window = padded[
                :,
                top : top + stride * (high - 1) + 1 : stride,
                left : left + stride * (wide - 1) + 1 : stride,
            ]
            total += window @ w[i, j].astype(np.float64)
    return total.astype(np.float32)


@settings(max_examples=EXAMPLES)
@given(
    images=st.integers(1, 2),
    sizes=st.tuples(st.integers(5, 14), st.integers(5, 14)),
    channels=st.tuples(st.integers(1, 20), st.integers(2, 40)),
    kernel=st.integers(1, 3),
    stride=st.integers(1, 2),
    padding=st.integers(0, 2),
    dilation=st.integers(1, 2),
    relu=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_convolutions(
    images: int,
    sizes: tuple[int, int],
    channels: tuple[int, int],
    kernel: int,
    stride: int,
    padding: int,
    dilation: int,
    relu: bool,
    seed: int,
) -> None:
    x = small_integers(seed, images, *sizes, channels[0])
    w = small_integers(seed + 1, kernel, kernel, *channels)
    bias = small_integers(seed + 2, channels[1])
    expected = convolve(x, w, stride, padding, dilation)
    types = [tensor(*x.shape), tensor(*w.shape), tensor(channels[1])]
    result = tensor(*expected.shape)
    options = (
        f"strides = [{stride}, {stride}], padding = [{padding}, {padding}, {padding}, {padding}], "
        f'dilation = [{dilation}, {dilation}], data_layout = "NHWC", kernel_layout = "HWIO"'
    )
    expected = expected + bias
    lines = [
        f"%c = graph.conv2d %0, %1, {options} : ({types[0]}, {types[1]}) -> {result}",
        f"{'%s' if relu else '%r'} = graph.add %c, %2 : ({result}, {types[2]}) -> {result}",
    ]
    if relu:
        lines.append(f"%r = graph.relu %s : ({result}) -> {result}")
        expected = np.maximum(expected, 0)
    check(program(types, result, lines), expected, x, w, bias)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("layout", [("NCHW", "OIHW"), ("NHWC", "HWIO")])
@pytest.mark.parametrize("groups", [1, 2, 8])
def test_grouped_convolutions(layout: tuple[str, str], groups: int) -> None:
    """However the channels are grouped, tiled or not."""
    data, kernel = layout
    x, w = small_integers(1, 2, 9, 10, 8), small_integers(2, 3, 3, 8 // groups, 16)
    parts = [
        convolve(
            x[..., g * 8 // groups : (g + 1) * 8 // groups],
            w[..., g * 16 // groups : (g + 1) * 16 // groups],
            1,
            1,
            1,
        )
        for g in range(groups)
    ]
    expected = np.concatenate(parts, axis=3)
    if data == "NCHW":
        x, w, expected = (
            np.ascontiguousarray(v)
            for v in (x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1), expected.transpose(0, 3, 1, 2))
        )
    types, result = [tensor(*x.shape), tensor(*w.shape)], tensor(*expected.shape)
    line = (
        f'%r = graph.conv2d %0, %1, padding = [1, 1, 1, 1], groups = {groups}, data_layout = "{data}", kernel_layout '
        f'= "{kernel}" : ({types[0]}, {types[1]}) -> {result}'
    )
    found = np.asarray(stepwell.compile(program(types, result, [line]), cache=False)(x, w))
    np.testing.assert_array_equal(found.reshape(expected.shape), expected)


@pytest.mark.parametrize("transposed", [False, True])
def test_batches(transposed: bool) -> None:
    """Each batch has its own right operand; a transposed one is packed."""
    a, b = small_integers(1, 3, 20, 33), small_integers(2, 3, 33, 50)
    expected = np.matmul(a, b)
    if transposed:
        b = np.ascontiguousarray(b.transpose(0, 2, 1))
    types, result = [tensor(*a.shape), tensor(*b.shape)], tensor(*expected.shape)
    lines = [f"%r = graph.matmul %0, %1 : ({types[0]}, {types[1]}) -> {result}"]
    if transposed:
        lines = [
            f"%t = graph.permute_dims %1, axes = [0, 2, 1] : ({types[1]}) -> {tensor(3, 33, 50)}",
            f"%r = graph.matmul %0, %t : ({types[0]}, {tensor(3, 33, 50)}) -> {result}",
        ]
    check(program(types, result, lines), expected, a, b)


def test_tiles_fit_the_registers() -> None:
    for rows in (1, 2, 7, 14, 64, 1000):
        for columns in (1, 10, 16, 33, 64, 100, 1000):
            chosen = choose_tile(rows, columns, 4, X86_64_V4)
            assert fits(chosen.rows, -(-chosen.columns // 16), X86_64_V4)
            assert chosen.rows <= rows and chosen.columns <= columns


@settings(max_examples=EXAMPLES)
@given(extent=st.integers(1, 3000), most=st.integers(1, 100))
def test_splits_cover_the_extent(extent: int, most: int) -> None:
    even = split_evenly(extent, most)
    assert sum(size * count for size, count in even) == extent
    assert max(size for size, _ in even) <= most and max(s for s, _ in even) - min(s for s, _ in even) <= 1
    columns = split_columns(extent, most)
    assert sum(size * count for size, count in columns) == extent
    assert all(size == most for size, _ in columns[:-1])


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("level", [1, 3])
@pytest.mark.parametrize("size", [(20, 40, 33), (2, 2, 1)])
@pytest.mark.parametrize(("name", "dtype"), [("f16", np.float16), ("bf16", bfloat16), ("f32", np.float32)])
def test_sums_in_double_precision(
    name: str, dtype: DTypeLike, size: tuple[int, int, int], level: int, constant: bool
) -> None:
    """Tiles extend small floats to f32, and made IR that was not valid (found by `stepwell fuzz`, seed 139)."""
    m, k, n = size
    given, weight, made = f"tensor<{m}x{k}x{name}>", f"tensor<{k}x{n}x{name}>", f"tensor<{m}x{n}xf64>"
    argument, op = ("", f'%w = graph.weight "w" : {weight}') if constant else (f", %w: {weight}", "")
    text = f"""
func.func @main(%x: {given}{argument}) -> {made} {{
  {op}
  %y = graph.matmul %x, %w, out_dtype = f64 : ({given}, {weight}) -> {made}
  func.return %y : {made}
}}"""
    random = np.random.default_rng(0)
    x, w = (random.standard_normal(shape).astype(dtype) for shape in ((m, k), (k, n)))
    executable = stepwell.compile(text, weights={"w": w} if constant else None, opt_level=level, cache=False)
    verify_module(parse_text(make_context(), executable.ir("scf"), "scf"))
    (found,) = executable(x) if constant else executable(x, w)
    np.testing.assert_allclose(found, x.astype(np.float64) @ w.astype(np.float64), rtol=1e-12, atol=1e-13)
