"""
Depthwise convolutions on flattened rows, against NumPy written on its own.

The operands are small integers, so every sum is exact in any order and results are compared bit by bit.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
import stepwell
from counts import FULL
from depthwise_programs import (
    Array,
    check,
    check_random,
    convolve,
    image,
    is_flat,
    program,
    scheduled,
    small_integers,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from named_machines import as_machine, runs_here
from stepwell.core.ir.walk import ops_of
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.dialects import tile
from stepwell.dialects.tensor_loop import ForOp
from xdsl.dialects.builtin import VectorType

EXAMPLES = 300 if FULL else 5
ONE = [1, 1]


def operands(height: int, width: int, channels: int, batch: int = 1, kernel: int = 3) -> tuple[Array, Array]:
    return small_integers(1, batch, height, width, channels), small_integers(2, kernel, kernel, 1, channels)


def layers(x: Array, channels: int, padding: str = "[1, 1, 1, 1]", more: str = "") -> str:
    """Properties of a convolution."""
    return f', padding = {padding}, groups = {channels}, data_layout = "NHWC", kernel_layout = "HWIO"{more}'


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    sizes=st.tuples(st.integers(1, 2), st.integers(3, 12) | st.integers(30, 70), st.integers(2, 17)),
    channels=st.integers(2, 15) | st.sampled_from([17, 24, 33, 40, 50]),
    kernel=st.tuples(st.integers(1, 4), st.integers(1, 3)),
    padding=st.tuples(*[st.integers(0, 3)] * 4),
    dilation=st.tuples(st.sampled_from([1, 1, 1, 2]), st.integers(1, 2)),
    epilogue=st.sampled_from(["", "bias", "relu", "bias-relu"]),
    seed=st.integers(0, 1000),
)
def test_random_convolutions(
    sizes: tuple[int, ...],
    channels: int,
    kernel: tuple[int, int],
    padding: tuple[int, ...],
    dilation: tuple[int, int],
    epilogue: str,
    seed: int,
) -> None:
    check_random(sizes, channels, kernel, ONE, padding, dilation, epilogue, seed)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("channels", [3, 8, 24, 33, 40])
@pytest.mark.parametrize("height", [3, 5, 32, 33, 67] if FULL else [5, 67])
def test_rows_are_flattened_where_channels_do_not_fill_vectors(channels: int, height: int) -> None:
    """Bands of up to 32 rows; all of their kinds, the image among what is added."""
    assert is_flat(check(*operands(height, 9, channels), ONE, [1, 1, 1, 1], ONE, "bias-image-relu"))


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("machine", [name for name in ("x86-64", "x86-64-v3") if runs_here(name)] or ["host"])
def test_other_machines(machine: str) -> None:
    with as_machine(machine):
        check(*operands(40, 7, 33), ONE, [1, 1, 1, 1], ONE, "bias-relu")
        check(*operands(6, 7, 5, batch=2), ONE, [1, 1, 1, 1], ONE, "bias-relu")


@pytest.mark.parametrize(("target", "lanes"), [("x86-64-v4", 16), ("x86-64-v3", 8), ("aarch64-neon", 4)])
def test_vectors_are_as_wide_as_registers(target: str, lanes: int) -> None:
    x, w = operands(9, 9, 33)
    module = scheduled(program(x, w, np.zeros_like(x), layers(x, 33), ""), target)
    stored = [op.tile.type for op in ops_of(module, tile.StoreOp)]
    assert is_flat(module) == (target != "aarch64-neon")
    assert max(type_.get_shape()[1] for type_ in stored if isinstance(type_, VectorType)) == lanes


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_what_is_beside_an_output_stays_out_of_it(special: float) -> None:
    """A row starts where the one above ends: neither it nor the neighbouring channels count for a pixel at a border."""
    rng = np.random.default_rng(7)
    x, w = operands(6, 5, 3)
    x[rng.random(x.shape) < 0.1] = special
    w[w == 0] = 1
    expected = np.full_like(x, 0)
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    with np.errstate(invalid="ignore"):
        for i in range(3):
            for j in range(3):
                expected += padded[:, i : i + 6, j : j + 5] * w[i, j, 0]
    text = program(x, w, expected, layers(x, 3), "")
    assert is_flat(scheduled(text))
    (found,) = stepwell.compile(text, opt_level=3, cache=False)(x, w, np.zeros(3, np.float32))
    np.testing.assert_array_equal(found, expected)


def test_threads_share_columns_and_agree_in_every_bit() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((2, 112, 112, 33), dtype=np.float32)
    w = rng.standard_normal((3, 3, 1, 33), dtype=np.float32)
    bias = rng.standard_normal(33, dtype=np.float32)
    text = program(x, w, x, layers(x, 33), "bias-relu")
    module = scheduled(text)
    assert any(op.kind_name == "parallel" for op in ops_of(module, ForOp))
    found = [stepwell.compile(text, opt_level=3, cache=False, threads=threads)(x, w, bias)[0] for threads in (1, 2)]
    np.testing.assert_array_equal(*(each.view(np.int32) for each in found))
    expected = np.maximum(convolve(x, w, ONE, [1, 1, 1, 1], ONE) + bias, 0)
    np.testing.assert_allclose(found[0], expected, rtol=1e-5, atol=1e-5)


def test_the_scheduled_loops_are_text() -> None:
    """Views, copies and columns print, parse and run."""
    x, w = operands(35, 6, 5)
    bias = small_integers(5, 5)
    module = scheduled(program(x, w, x, layers(x, 5), "bias-relu"), "host")
    again = parse(str(module))
    assert str(again) == str(module)
    (found,) = stepwell.compile(str(module), cache=False)(x, w, bias)
    np.testing.assert_array_equal(found, np.maximum(convolve(x, w, ONE, [1, 1, 1, 1], ONE) + bias, 0))


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize(
    ("case", "channels", "more", "padding"),
    [
        ("channels fill vectors", 32, "", "[1, 1, 1, 1]"),
        ("nearly", 127, "", "[1, 1, 1, 1]"),
        ("stride", 33, ", strides = [1, 2]", "[1, 1, 1, 1]"),
        ("rows apart", 33, ", dilation = [2, 1]", "[2, 1, 2, 1]"),
        ("few rows", 33, "", "[0, 1, 0, 1]"),
    ],
)
def test_left_to_vectors_of_channels(case: str, channels: int, more: str, padding: str) -> None:
    """Full vectors, pixels or rows apart, fewer rows of outputs than the window has."""
    x, w = operands(4 if case == "few rows" else 9, 9, channels)
    numbers = [int(each) for each in re.findall(r"\d+", padding)]
    result = convolve(x, w, [1, 2] if case == "stride" else ONE, numbers, [2, 1] if case == "rows apart" else ONE)
    assert not is_flat(scheduled(program(x, w, result, layers(x, channels, padding, more), "")))


def test_sums_per_pixel_are_left_to_vectors_of_channels() -> None:
    """What follows reads a number per pixel, which no vector across pixels has in all of its lanes."""
    types = image(1, 9, 9, 33), image(3, 3, 1, 33), image(1, 9, 9, 1)
    text = f"""func.func @main(%x: {types[0]}, %w: {types[1]}, %p: {types[2]}) -> {types[0]} {{
  %y = graph.conv2d %x, %w{layers(np.zeros(0), 33)} : ({types[0]}, {types[1]}) -> {types[0]}
  %z = graph.add %y, %p : ({types[0]}, {types[2]}) -> {types[0]}
  func.return %z : {types[0]}
}}"""
    module = parse(text)
    run_pipeline(make_context(), module, 'graph-optimize,to-loops,schedule-cpu{target="x86-64-v4"}')
    assert not is_flat(module)
