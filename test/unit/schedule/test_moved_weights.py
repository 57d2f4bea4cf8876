"""Weights that are only moved before they are laid out: they are laid out from where they are."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from named_machines import scheduled_for
from stepwell.core.ir.walk import ops_of
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.dialects.tensor_loop import FuncOp

Array = np.ndarray[Any, Any]

NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def small_integers(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).integers(-3, 4, shape)


def type_of(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def product(stored: tuple[int, ...], order: tuple[int, ...], split: int, rows: int, element: str) -> str:
    """`x @ w`, where w is the stored weight with its axes in another order, the first `split` of which are the rows."""
    moved = tuple(stored[axis] for axis in order)
    matrix = int(np.prod(moved[:split])), int(np.prod(moved[split:]))
    s, m, w = type_of(stored, element), type_of(moved, element), type_of(matrix, element)
    x, y = type_of((rows, matrix[0]), element), type_of((rows, matrix[1]), element)
    return f"""
func.func @main(%x: {x}) -> {y} {{
  %s = graph.weight "w" : {s}
  %m = graph.permute_dims %s, axes = {list(order)} : ({s}) -> {m}
  %w = graph.reshape %m, shape = [{matrix[0]}, {matrix[1]}] : ({m}) -> {w}
  %y = graph.matmul %x, %w : ({x}, {w}) -> {y}
  func.return %y : {y}
}}"""


def kernels(text: str, pipeline: str = "graph-optimize,to-loops,plan-schedules,prepack-weights") -> list[str]:
    module = parse(text)
    run_pipeline(make_context(), module, pipeline)
    return [op.sym_name.data for op in ops_of(module, FuncOp)]


@settings(max_examples=200 if FULL else 15)
@given(
    sizes=st.lists(st.integers(1, 20), min_size=2, max_size=4),
    order=st.integers(0, 23),
    split=st.integers(1, 3),
    rows=st.integers(1, 40),
    element=st.sampled_from(sorted(NUMPY)),
    machine=st.sampled_from(["x86-64-v4", "zen5", "sapphire-rapids", "alder-lake", "neoverse-v2"]),
    seed=st.integers(0, 99),
)
def test_products_with_permuted_weights(
    sizes: list[int], order: int, split: int, rows: int, element: str, machine: str, seed: int
) -> None:
    stored = tuple(sizes)
    every = list(permutations(range(len(sizes))))
    axes, split = every[order % len(every)], min(split, len(sizes) - 1)
    text = product(stored, axes, split, rows, element)
    w = small_integers(seed, *stored).transpose(axes)
    matrix = w.reshape(int(np.prod(w.shape[:split])), -1)
    x = small_integers(seed + 1, rows, matrix.shape[0])
    weights = {"w": small_integers(seed, *stored).astype(NUMPY[element])}
    with scheduled_for(machine):
        executable = stepwell.compile(text, weights=weights, threads=2, cache=False)
    (found,) = executable(x.astype(NUMPY[element]))
    np.testing.assert_array_equal(np.asarray(found), (x @ matrix).astype(NUMPY[element]))


CONVOLUTION = """
func.func @main(%x: tensor<1x{pixels}x{pixels}x{i}x{t}>) -> tensor<1x{made}x{made}x{o}x{t}> {{
  %s = graph.weight "w" : tensor<{o}x{i}x{taps}x{taps}x{t}>
  %w = graph.permute_dims %s, axes = [2, 3, 1, 0]
      : (tensor<{o}x{i}x{taps}x{taps}x{t}>) -> tensor<{taps}x{taps}x{i}x{o}x{t}>
  %y = graph.conv2d %x, %w, strides = [{stride}, {stride}], data_layout = "NHWC", kernel_layout = "HWIO"
      : (tensor<1x{pixels}x{pixels}x{i}x{t}>, tensor<{taps}x{taps}x{i}x{o}x{t}>) -> tensor<1x{made}x{made}x{o}x{t}>
  func.return %y : tensor<1x{made}x{made}x{o}x{t}>
}}"""


@pytest.mark.parametrize(
    ("machine", "element"),
    [
        *[(machine, "f32") for machine in ("zen5", "sapphire-rapids", "alder-lake", "neoverse-v2")],
        ("zen5", "f16"),
        ("zen5", "bf16"),
    ],
)
@pytest.mark.parametrize(
    ("taps", "stride", "i", "o"), [(1, 1, 32, 70), (3, 2, 12, 40), (7, 2, 3, 64), (3, 1, 33, 17), (1, 1, 1, 16)]
)
def test_convolutions_with_filters_of_onnx(machine: str, element: str, taps: int, stride: int, i: int, o: int) -> None:
    kind = ml_dtypes.bfloat16 if element == "bf16" else NUMPY[element]
    pixels = 15
    made = (pixels - taps) // stride + 1
    text = CONVOLUTION.format(pixels=pixels, made=made, taps=taps, stride=stride, i=i, o=o, t=element)
    x, w = small_integers(1, 1, pixels, pixels, i), np.clip(small_integers(2, o, i, taps, taps), -1, 1)
    windows = np.lib.stride_tricks.sliding_window_view(x, (taps, taps), axis=(1, 2))[:, ::stride, ::stride]
    expected = np.einsum("nhwcij,ocij->nhwo", windows, w)
    with scheduled_for(machine):
        executable = stepwell.compile(text, weights={"w": w.astype(kind)}, threads=2, cache=False)
    (found,) = executable(x.astype(kind))
    np.testing.assert_array_equal(np.asarray(found).astype(np.float64), expected.astype(kind).astype(np.float64))


@pytest.mark.parametrize("element", ["i8", "ui8"])
@pytest.mark.parametrize("machine", ["x86-64-v3", "zen5"])
def test_filters_of_bytes(machine: str, element: str) -> None:
    """Kernels have bytes without a sign, which weights of `ui8` have."""
    kind = np.uint8 if element == "ui8" else np.int8
    image, filters = f"tensor<1x5x5x32x{element}>", f"tensor<48x32x3x3x{element}>"
    sums = element.replace("8", "32")
    turned, result = f"tensor<3x3x32x48x{element}>", f"tensor<1x3x3x48x{sums}>"
    text = f"""
func.func @main(%x: {image}) -> {result} {{
  %s = graph.weight "w" : {filters}
  %w = graph.permute_dims %s, axes = [2, 3, 1, 0] : ({filters}) -> {turned}
  %y = graph.conv2d %x, %w, data_layout = "NHWC", kernel_layout = "HWIO", out_dtype = {sums}
      : ({image}, {turned}) -> {result}
  func.return %y : {result}
}}"""
    x, w = (np.abs(small_integers(seed, *shape)) for seed, shape in ((1, (1, 5, 5, 32)), (2, (48, 32, 3, 3))))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))
    with scheduled_for(machine):
        executable = stepwell.compile(text, weights={"w": w.astype(kind)}, threads=1, cache=False)
    (found,) = executable(x.astype(kind))
    np.testing.assert_array_equal(found, np.einsum("nhwcij,ocij->nhwo", windows, w))


def test_nothing_turns_the_weights_before() -> None:
    """The kernel that only moves elements is gone. One prepare function packs both weights of the side-car."""
    text = product((70, 64), (1, 0), 1, 8, "f32")
    assert kernels(text) == ["matmul", "pack_panels0"]


def test_large_weights_are_turned_in_tiles() -> None:
    text = product((2048, 1040), (1, 0), 1, 8, "f32")
    module = parse(text)
    run_pipeline(make_context(), module, "graph-optimize,to-loops,plan-schedules,prepack-weights")
    (pack,) = [op for op in ops_of(module, FuncOp) if op.sym_name.data == "pack_panels0"]
    assert "tile.transpose" in str(pack)
    w = small_integers(0, 2048, 1040)
    x = small_integers(1, 8, 1040)
    (found,) = stepwell.compile(text, weights={"w": w.astype(np.float32)}, cache=False)(x.astype(np.float32))
    np.testing.assert_array_equal(found, x @ w.T)


def test_subnormal_weights_become_zeros() -> None:
    for shape in ((70, 64), (2048, 1040)):
        w = np.full(shape, 1e-40, np.float32)
        text = product(shape, (1, 0), 1, 2, "f32")
        (found,) = stepwell.compile(text, weights={"w": w}, cache=False)(np.full((2, shape[1]), 1e30, np.float32))
        np.testing.assert_array_equal(found, np.zeros((2, shape[0]), np.float32))


def test_no_weights_that_are_computed() -> None:
    """A weight that is computed, and not only moved, is made first."""
    w, m = type_of((70, 64), "f32"), type_of((64, 70), "f32")
    text = f"""
func.func @main(%x: tensor<8x64xf32>) -> tensor<8x70xf32> {{
  %s = graph.weight "w" : {w}
  %e = graph.exp %s : ({w}) -> {w}
  %m = graph.permute_dims %e, axes = [1, 0] : ({w}) -> {m}
  %y = graph.matmul %x, %m : (tensor<8x64xf32>, {m}) -> tensor<8x70xf32>
  func.return %y : tensor<8x70xf32>
}}"""
    assert len(kernels(text)) == 3
    values, x = (np.random.default_rng(0).standard_normal(s).astype(np.float32) for s in ((70, 64), (8, 64)))
    (found,) = stepwell.compile(text, weights={"w": values}, cache=False)(x)
    np.testing.assert_allclose(found, x.astype(np.float64) @ np.exp(values.astype(np.float64)).T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("stored", "moved", "expected"),
    [
        ((70, 64), "strided_slice %s, axes = [1], begin = [-1], end = [-65], strides = [-1]", lambda w: w[:, ::-1]),
        ((90, 64), "strided_slice %s, axes = [0], begin = [0], end = [70], strides = [1]", lambda w: w[:70]),
        ((90, 64), "strided_slice %s, axes = [0], begin = [20], end = [90], strides = [1]", lambda w: w[20:]),
        ((70, 128), "strided_slice %s, axes = [1], begin = [0], end = [128], strides = [2]", lambda w: w[:, ::2]),
        ((1, 64), "broadcast_to %s, shape = [70, 64]", lambda w: np.broadcast_to(w, (70, 64))),
    ],
)
def test_weights_that_are_moved_in_other_ways(
    stored: tuple[int, int], moved: str, expected: Callable[[Array], Array]
) -> None:
    """Reversed, left out or repeated elements: whatever the panels are made of, the product is right."""
    s, m = type_of(stored, "f32"), type_of((70, 64), "f32")
    text = f"""
func.func @main(%x: tensor<8x70xf32>) -> tensor<8x64xf32> {{
  %s = graph.weight "w" : {s}
  %m = graph.{moved} : ({s}) -> {m}
  %y = graph.matmul %x, %m : (tensor<8x70xf32>, {m}) -> tensor<8x64xf32>
  func.return %y : tensor<8x64xf32>
}}"""
    w, x = small_integers(0, *stored).astype(np.float32), small_integers(2, 8, 70).astype(np.float32)
    (found,) = stepwell.compile(text, weights={"w": w}, cache=False)(x)
    np.testing.assert_array_equal(found, x @ expected(w))


def test_a_weight_that_something_else_reads_stays() -> None:
    """The turned weight is a result too: it is made for that, and the panels are made of the weight as it is stored."""
    w, m = type_of((70, 64), "f32"), type_of((64, 70), "f32")
    text = f"""
func.func @main(%x: tensor<8x64xf32>) -> (tensor<8x70xf32>, {m}) {{
  %s = graph.weight "w" : {w}
  %m = graph.permute_dims %s, axes = [1, 0] : ({w}) -> {m}
  %y = graph.matmul %x, %m : (tensor<8x64xf32>, {m}) -> tensor<8x70xf32>
  func.return %y, %m : tensor<8x70xf32>, {m}
}}"""
    values, x = small_integers(0, 70, 64).astype(np.float32), small_integers(1, 8, 64).astype(np.float32)
    found, turned = stepwell.compile(text, weights={"w": values}, cache=False)(x)
    np.testing.assert_array_equal(found, x @ values.T)
    np.testing.assert_array_equal(turned, values.T)
