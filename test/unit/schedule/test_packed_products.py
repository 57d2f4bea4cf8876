"""
Products with packed weights: native code and the interpreter against NumPy, which unpacks by itself; what is edited,
and what is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from named_machines import runs_here, scheduled_for
from stepwell.core.messages.diagnostics import OperationError, StepwellError
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.dialects.schedule import PackedAttr
from stepwell.testing import interpret

Array = np.ndarray[Any, Any]

SHAPES = [
    (1, 64, 64, 4, 32, False),
    (3, 48, 96, 8, 32, False),
    (2, 40, 50, 4, 16, True),
    (7, 130, 256, 4, 128, True),
    (4, 65, 512, 8, 64, True),
    *([(1, 1, 31, 8, 16, True), (13, 33, 160, 4, 256, False), (6, 200, 1024, 4, 32, True)] if FULL else []),
    (3, 70, 64, 8, 64, False),
    (7, 21, 96, 8, 96, True),
    (2, 33, 64, 4, 64, False),
]
"""Rows, outputs, inputs, bits, block, and whether each block has a zero point of its own."""

MANY_ROWS = [
    (17, 64, 64, 4, 32, False),
    (9, 70, 50, 4, 16, True),
    (40, 45, 96, 8, 96, True),
    (13, 300, 130, 8, 32, False),
    *([(130, 1, 31, 8, 16, True), (65, 1000, 64, 4, 64, True), (8, 7, 8, 8, 8, False)] if FULL else []),
]

REST = "prepack-weights,apply-schedule-plan,merge-prepare-functions,finish"
"""The passes that come after the plan."""


def program(m: int, n: int, k: int, bits: int, block: int, own_zeros: bool, bias: bool = False) -> str:
    blocks = -(-k // block)
    zeros = (
        f'graph.weight "z" : tensor<{n}x{blocks}xui8>' if own_zeros else f"graph.full {2 ** (bits - 1)} : tensor<ui8>"
    )
    zeros_type = zeros.rpartition(" : ")[2]
    weights = f"tensor<{n}x{blocks * block * bits // 8}xui8>"
    return f"""
func.func @main(%x: tensor<{m}x{k}xf32>, %b: tensor<{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %w = graph.weight "w" : {weights}
  %s = graph.weight "s" : tensor<{n}x{blocks}xf32>
  %z = {zeros}
  %p = graph.matmul_packed %x, %w, %s, %z, bits = {bits}, block_size = {block}
      : (tensor<{m}x{k}xf32>, {weights}, tensor<{n}x{blocks}xf32>, {zeros_type}) -> tensor<{m}x{n}xf32>
  %r = graph.add %p, %b : (tensor<{m}x{n}xf32>, tensor<{n}xf32>) -> tensor<{m}x{n}xf32>
  %y = graph.relu %r : (tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  func.return {"%y" if bias else "%p"} : tensor<{m}x{n}xf32>
}}"""


def weights_for(n: int, k: int, bits: int, block: int, own_zeros: bool) -> tuple[dict[str, Array], Array]:
    """Random weights, and the real numbers that they stand for, one row per output."""
    random, blocks = np.random.default_rng(n + k), -(-k // block)
    packed = random.integers(0, 256, (n, blocks * block * bits // 8), np.uint8)
    scale = ((random.random((n, blocks)) - 0.3) / 20).astype(np.float32)
    zeros = random.integers(0, 2**bits, (n, blocks), np.uint8) if own_zeros else np.full((n, blocks), 2 ** (bits - 1))
    real = np.zeros((n, k))
    for row in range(n):
        for place in range(k):
            byte = int(packed[row, place * bits // 8])
            number = byte if bits == 8 else byte >> 4 if place % 2 else byte & 15
            real[row, place] = (number - int(zeros[row, place // block])) * float(scale[row, place // block])
    given = {"w": packed, "s": scale} | ({"z": zeros} if own_zeros else {})
    return given, real


def check(found: Array, x: Array, real: Array) -> None:
    """The error is at most a few units of the sum of absolute values, each input as large as the greatest near it."""
    wide = np.abs(x).astype(np.float64)
    for first in range(0, x.shape[1], 32):
        wide[:, first : first + 32] = wide[:, first : first + 32].max(axis=1, keepdims=True)
    bound = 2.0**-22 * (wide @ np.abs(real).T)
    assert (np.abs(found - x.astype(np.float64) @ real.T) <= bound).all()


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_those_of_the_real_numbers(shape: tuple[int, int, int, int, int, bool]) -> None:
    m, n, k, bits, block, own_zeros = shape
    weights, real = weights_for(n, k, bits, block, own_zeros)
    compiled = stepwell.compile(program(*shape), weights=weights, cache=False)
    assert "tile.mma" in compiled.ir("scf") and "f32 to i32" in compiled.ir("scf")
    x = np.random.default_rng(1).standard_normal((m, k)).astype(np.float32)
    check(compiled(x, np.zeros(n, np.float32))[0], x, real)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("machine", ["zen4", "alder-lake", "x86-64-v3", "x86-64", "neoverse-v2", "aarch64-neon"])
@pytest.mark.parametrize("bits", [4, 8])
def test_every_machine_computes_the_same(machine: str, bits: int) -> None:
    shape = (1, 21, 48, bits, 32, True)
    weights, real = weights_for(21, 48, bits, 32, True)
    module = parse(program(*shape))
    passes = "graph-optimize,to-loops,prepack-weights{{target={0}}},apply-schedule-plan{{target={0}}}"
    run_pipeline(make_context(), module, passes.format(f'"{machine}"'))
    assert "nibbles" in str(module) or bits == 8
    x = np.random.default_rng(2).standard_normal((1, 48)).astype(np.float32)
    check(interpret(module, [x, np.zeros(21, np.float32)], "main", weights=weights)[0], x, real)


@pytest.mark.ci_cases(1)
@pytest.mark.skipif(not runs_here("x86-64-v3"), reason="LLVM encodes none for this machine")
@pytest.mark.parametrize("machine", ["x86-64-v3", "x86-64"])
def test_native_code_without_dot_products(machine: str) -> None:
    weights, real = weights_for(40, 64, 4, 32, False)
    with scheduled_for(machine):
        compiled = stepwell.compile(program(1, 40, 64, 4, 32, False), weights=weights, cache=False)
    assert ("pmadd.ub.sw" in compiled.ir("llvm-ir")) == (machine == "x86-64-v3")
    x = np.random.default_rng(3).standard_normal((1, 64)).astype(np.float32)
    check(compiled(x, np.zeros(40, np.float32))[0], x, real)


@pytest.mark.ci_cases(1)
@pytest.mark.skipif(not runs_here("x86-64-v3"), reason="LLVM encodes none for this machine")
@pytest.mark.parametrize("machine", ["x86-64-v3", "x86-64"])
@pytest.mark.parametrize("shape", MANY_ROWS)
def test_weights_of_many_rows_become_floats(machine: str, shape: tuple[int, int, int, int, int, bool]) -> None:
    """A panel at a time, where no instruction is as fast. Threads have panels of their own, and give the same bits."""
    m, n, k, bits, block, own_zeros = shape
    weights, real = weights_for(n, k, bits, block, own_zeros)
    with scheduled_for(machine):
        one, two = (
            stepwell.compile(program(*shape), weights=weights, cache=False, threads=threads) for threads in (1, 2)
        )
    assert "floats" in one.ir("scf") and "nibbles" not in one.ir("scf")
    x, none = np.random.default_rng(3).standard_normal((m, k)).astype(np.float32), np.zeros(n, np.float32)
    check(one(x, none)[0], x, real)
    np.testing.assert_array_equal(one(x, none)[0], two(x, none)[0])


@pytest.mark.parametrize("machine", ["x86-64-v3", "x86-64", "aarch64-neon"])
@pytest.mark.parametrize("bits", [4, 8])
def test_floats_in_the_interpreter(machine: str, bits: int) -> None:
    """What follows is done on tiles there too."""
    shape = (9, 21, 48, bits, 32, True)
    weights, real = weights_for(21, 48, bits, 32, True)
    module = parse(program(*shape, bias=True))
    passes = "graph-optimize,to-loops,prepack-weights{{target={0}}},apply-schedule-plan{{target={0}}}"
    run_pipeline(make_context(), module, passes.format(f'"{machine}"'))
    assert 'tensor_loop.block "floats"' in str(module) and 'tensor_loop.block "relu"' not in str(module)
    x, b = (np.random.default_rng(2).standard_normal(each).astype(np.float32) for each in ((9, 48), (21,)))
    (found,) = interpret(module, [x, b], "main", weights=weights)
    np.testing.assert_allclose(found, np.maximum(x @ real.T + b, 0), rtol=1e-4, atol=1e-4)


def test_a_zero_point_that_is_a_weight() -> None:
    """One byte for all weights, which is not known when the kernel is made."""
    text = program(9, 21, 64, 8, 32, False).replace("graph.full 128 : tensor<ui8>", 'graph.weight "z" : tensor<ui8>')
    weights, _ = weights_for(21, 64, 8, 32, False)
    weights["z"] = np.array(77, np.uint8)
    real = (weights["w"].astype(np.float64) - 77) * np.repeat(weights["s"], 32, axis=1)
    with scheduled_for("x86-64"):
        compiled = stepwell.compile(text, weights=weights, cache=False)
    assert "floats" in compiled.ir("scf")
    x = np.random.default_rng(3).standard_normal((9, 64)).astype(np.float32)
    check(compiled(x, np.zeros(21, np.float32))[0], x, real)


def test_whole_numbers_are_exact() -> None:
    weights, _ = weights_for(64, 64, 4, 32, False)
    weights["s"][...] = 0.5
    compiled = stepwell.compile(program(2, 64, 64, 4, 32, False), weights=weights, cache=False)
    x = np.random.default_rng(4).integers(-1000, 1000, (2, 64)).astype(np.float32)
    numbers = np.stack([weights["w"] & 15, weights["w"] >> 4], axis=-1).reshape(64, 64).astype(np.float64) - 8
    np.testing.assert_array_equal(compiled(x, np.zeros(64, np.float32))[0], x @ numbers.T / 2)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_makes_its_row_nan(number: float) -> None:
    weights, _ = weights_for(64, 64, 4, 32, False)
    compiled = stepwell.compile(program(2, 64, 64, 4, 32, False), weights=weights, cache=False)
    x = np.ones((2, 64), np.float32)
    x[1, 40] = number
    (found,) = compiled(x, np.zeros(64, np.float32))
    assert np.isfinite(found[0]).all() and np.isnan(found[1]).all()


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("size", [0.0, 1e-44, 1e-38, 1e38])
def test_numbers_of_any_size(size: float) -> None:
    weights, real = weights_for(64, 64, 4, 32, False)
    compiled = stepwell.compile(program(1, 64, 64, 4, 32, False), weights=weights, cache=False)
    x = np.full((1, 64), size, np.float32)
    np.testing.assert_allclose(compiled(x, np.zeros(64, np.float32))[0], x @ real.T, rtol=1e-4, atol=1e-35)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(("bits", "own_zeros"), [(4, True), (4, False), (8, False)])
def test_what_follows_is_done_on_tiles(bits: int, own_zeros: bool) -> None:
    """One zero point for all is a number in the kernel that holds what follows too."""
    shape = (3, 70, 64, bits, 32, own_zeros)
    weights, real = weights_for(70, 64, bits, 32, own_zeros)
    compiled = stepwell.compile(program(*shape, bias=True), weights=weights, cache=False)
    assert all(f'tensor_loop.block "{name}"' not in compiled.ir("tensor_loop") for name in ("add", "relu"))
    x, b = (np.random.default_rng(5).standard_normal(each).astype(np.float32) for each in ((3, 64), (70,)))
    np.testing.assert_allclose(compiled(x, b)[0], np.maximum(x @ real.T + b, 0), rtol=1e-4, atol=1e-4)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize(("parts", "error"), [(2, 2e-4), (3, 1e-6), (4, 3e-7)])
def test_more_parts_are_more_exact(parts: int, error: float) -> None:
    weights, real = weights_for(32, 256, 4, 32, False)
    module = planned(program(1, 32, 256, 4, 32, False), PackedAttr.of(1, 16, parts))
    with scheduled_for("x86-64-v4"):
        exe = stepwell.compile(
            module,
            pipeline="prepack-weights,apply-schedule-plan,merge-prepare-functions,finish",
            weights=weights,
            cache=False,
        )
    x = np.random.default_rng(6).standard_normal((1, 256)).astype(np.float32)
    wanted = x @ real.T
    assert np.abs(exe(x, np.zeros(32, np.float32))[0] - wanted).max() <= error * np.abs(wanted).max()


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(("bits", "block", "own_zeros"), [(4, 32, False), (4, 128, True), (8, 64, True)])
def test_rows_that_are_rounded_have_one_part(bits: int, block: int, own_zeros: bool) -> None:
    """Each block is rounded to 127 steps up to its greatest number, here by division. Zeros and NaN stay."""
    weights, real = weights_for(70, 256, bits, block, own_zeros)
    text = program(5, 70, 256, bits, block, own_zeros)
    text = text.replace(f"block_size = {block}", f"block_size = {block}, rounded_bits = 8")
    compiled = stepwell.compile(text, weights=weights, cache=False)
    assert "tile.mma" in compiled.ir("scf")
    x = np.random.default_rng(8).standard_normal((5, 256)).astype(np.float32)
    x[1, :block], x[2, 7], x[3, 9] = 0, np.nan, np.inf
    blocks = x.reshape(5, -1, block).astype(np.float64)
    step = np.abs(blocks).max(axis=2, keepdims=True) / 127
    with np.errstate(invalid="ignore"):
        near = np.where(step == 0, 0, np.rint(blocks / np.where(step == 0, 1, step))) * step
    (found,) = compiled(x, np.zeros(70, np.float32))
    assert np.isnan(found[2:4]).all()
    np.testing.assert_allclose(found[[0, 1, 4]], near.reshape(5, -1)[[0, 1, 4]] @ real.T, rtol=1e-4, atol=1e-4)


def planned(text: str, chosen: PackedAttr) -> Any:
    module = parse(text)
    run_pipeline(make_context(), module, "graph-optimize,to-loops,plan-schedules")
    (block,) = (op for op in module.walk() if isinstance(op.attributes.get("stepwell.tiling"), PackedAttr))
    block.attributes["stepwell.tiling"] = chosen
    return module


@pytest.mark.parametrize(
    ("chosen", "reason"),
    [
        ((1, 24, 3), "24 columns are no whole vectors of 16 that divide a panel of 64"),
        ((1, 64, 1), "a number has 1 parts, expected 2 to 4, or 0 to make the weights floats"),
        ((1, 64, 5), "a number has 5 parts, expected 2 to 4, or 0 to make the weights floats"),
        ((6, 96, 0), "tiles of 6x96 do not fit in the 32 registers of 'zen4'"),
        ((6, 64, 3), "they take 108 registers, too many for the 32 of 'zen4'"),
    ],
)
def test_decisions_that_do_not_fit(chosen: tuple[int, int, int], reason: str) -> None:
    module = planned(program(6, 64, 64, 4, 32, False), PackedAttr.of(*chosen))
    with pytest.raises(OperationError, match=reason):
        run_pipeline(make_context(), module, 'prepack-weights{target="zen4"}')


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [((0, 16, 0), "rows = 0, expected at least 1"), ((1, 16, -1), "parts = -1, expected at least 0")],
)
def test_numbers_that_mean_nothing(numbers: tuple[int, int, int], reason: str) -> None:
    text = str(planned(program(3, 70, 64, 4, 32, True), PackedAttr.of(2, 16, 0)))
    rows, columns, parts = numbers
    wrong = f"#schedule.packed<rows = {rows}, columns = {columns}, parts = {parts}>"
    with pytest.raises(StepwellError, match=reason):
        parse(text.replace("#schedule.packed<rows = 2, columns = 16, parts = 0>", wrong))


def test_rounded_numbers_are_bytes() -> None:
    text = program(6, 64, 64, 4, 32, False).replace("block_size = 32", "block_size = 32, rounded_bits = 8")
    module = planned(text, PackedAttr.of(6, 32, 0))
    with pytest.raises(OperationError, match="numbers are rounded to 8 bits, so they have 1 part and not 0"):
        run_pipeline(make_context(), module, 'prepack-weights{target="zen4"}')


@pytest.mark.parametrize("columns", [16, 24, 48])
def test_floats_that_are_asked_for(columns: int) -> None:
    """On any machine, and for few rows too. Panels are as wide as the tiles."""
    weights, real = weights_for(70, 64, 4, 32, True)
    module = planned(program(3, 70, 64, 4, 32, True), PackedAttr.of(2, columns, 0))
    assert "parts = 0" in str(module)
    exe = stepwell.compile(str(module), pipeline=REST, weights=weights, cache=False)
    x = np.random.default_rng(6).standard_normal((3, 64)).astype(np.float32)
    check(exe(x, np.zeros(70, np.float32))[0], x, real)


def test_other_blocks_have_no_use_for_the_decision() -> None:
    module = parse(
        """
func.func @main(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %y = graph.exp %x : (tensor<8x64xf32>) -> tensor<8x64xf32>
  func.return %y : tensor<8x64xf32>
}"""
    )
    run_pipeline(make_context(), module, "graph-optimize,to-loops")
    for op in module.walk():
        if op.name == "tensor_loop.block":
            op.attributes["stepwell.tiling"] = PackedAttr.of(1, 64, 3)
    with pytest.raises(OperationError, match="the block is no product with packed weights that are known when the"):
        run_pipeline(make_context(), module, "plan-schedules")


def test_level_0_keeps_the_loops() -> None:
    weights, _ = weights_for(8, 32, 4, 32, False)
    compiled = stepwell.compile(program(1, 8, 32, 4, 32, False), weights=weights, cache=False, opt_level=0)
    assert "nibbles" not in compiled.ir("scf")
