"""How contractions are cut up: the rules of docs/targets.md, and that every way of cutting gives the same result."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from named_machines import scheduled_for
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects import tile
from stepwell.dialects.tensor_loop import BlockOp, GridOp
from stepwell.machine.families import NAMED
from stepwell.machine.machine import Machine
from stepwell.machine.named import machine_named
from stepwell.schedule.kernels import given_tiling
from stepwell.schedule.kernels.contraction import Contraction, contraction_of
from stepwell.schedule.kernels.register_tiles import RegisterTile, choose_tile, fits
from stepwell.schedule.kernels.tilings import Tiling, choose_tiling, rows_near
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue

EXAMPLES = 200 if FULL else 8
V4 = NAMED["x86-64-v4"]


def product(rows: int, columns: int, depth: int) -> str:
    a, b, c = (f"tensor<{x}x{y}xf32>" for x, y in ((rows, depth), (depth, columns), (rows, columns)))
    return f"""func.func @main(%a: {a}, %b: {b}) -> {c} {{
  %c = graph.matmul %a, %b : ({a}, {b}) -> {c}
  func.return %c : {c}
}}"""


def convolution(images: int, extent: int, channels: int, filters: int, kernel: int) -> str:
    x, w = (
        f"tensor<{images}x{extent}x{extent}x{channels}xf32>",
        f"tensor<{kernel}x{kernel}x{channels}x{filters}xf32>",
    )
    y = f"tensor<{images}x{extent}x{extent}x{filters}xf32>"
    pad = kernel // 2
    layouts = f'padding = [{pad}, {pad}, {pad}, {pad}], data_layout = "NHWC", kernel_layout = "HWIO"'
    return f"""func.func @main(%x: {x}, %w: {w}) -> {y} {{
  %y = graph.conv2d %x, %w, {layouts} : ({x}, {w}) -> {y}
  func.return %y : {y}
}}"""


def contraction(text: str) -> Contraction:
    ctx = make_context()
    module = parse_text(ctx, text, "program.mlir")
    for pass_ in parse_pipeline("lower-graph-to-loops,fuse-loops,inline-loops"):
        pass_.apply(ctx, module)
    found = [contraction_of(op) for op in module.walk() if isinstance(op, GridOp)]
    (only,) = [c for c in found if c is not None]
    return only


@pytest.mark.parametrize(
    ("sizes", "parts", "panels"),
    [
        ((1000, 1000, 1000), 1, 3),  # 3 panels of 250 KiB, twice, are 3/4 of L2
        ((1000, 1000, 1024), 1, 3),
        ((1000, 1000, 2048), 2, 3),
        ((1000, 1000, 3000), 3, 3),
        ((1000, 1000, 1031), 1, 2),  # no smaller part divides it
        ((100, 1000, 1000), 1, 2),  # the 391 KiB of a stay in L2 too
        ((100, 1000, 100), 1, 29),
        ((12, 1000, 3000), 1, None),  # two tiles of rows
    ],
)
def test_parts_and_panels(sizes: tuple[int, int, int], parts: int, panels: int | None) -> None:
    tiling = choose_tiling(contraction(product(*sizes)), True, V4)
    assert (tiling.depth_blocks, tiling.panels) == (parts, panels)


@pytest.mark.parametrize(
    ("sizes", "pack"),
    [
        ((114, 64, 64), False),  # 19 tiles of rows
        ((120, 64, 64), True),
        ((24, 256, 256), True),  # 4 tiles of rows, b has 256 KiB
        ((18, 256, 256), False),
        ((24, 192, 256), False),
    ],
)
def test_what_is_copied_into_panels(sizes: tuple[int, int, int], pack: bool) -> None:
    assert choose_tiling(contraction(product(*sizes)), False, V4).pack_b == pack


@pytest.mark.parametrize(
    ("text", "outside"),
    [
        (product(64, 128, 256), True),  # a panel of 64 KiB is read from L1 and L2
        (product(64, 128, 784), False),  # a panel of 196 KiB: the rows of a tile stay in L1 instead
        (product(24, 128, 784), True),  # but b is read by 4 tiles of rows only
        (product(64, 1024, 784), True),  # b does not stay in L2
        (product(128, 384, 1536), True),  # a of one of its two parts has 384 KiB
        (product(700, 128, 100), True),
        (product(1400, 128, 100), False),  # a has 547 KiB
        (convolution(2, 56, 64, 256, 1), False),  # b has 64 KiB
        (convolution(2, 14, 256, 512, 1), True),
        (convolution(1, 14, 128, 128, 3), True),
    ],
)
def test_the_order_of_panels_and_rows(text: str, outside: bool) -> None:
    assert choose_tiling(contraction(text), True, V4).panels_outside == outside


def test_b_as_it_came_takes_room_of_a() -> None:
    """
    A product of 384 KiB of a: outside the rows where the panels of b were made beforehand, inside where they are copied
    first.
    """
    text = product(128, 768, 768)
    assert choose_tiling(contraction(text), True, V4).panels_outside
    assert not choose_tiling(contraction(text), False, V4).panels_outside


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (product(16, 1024, 1024), 6),  # 8x48: three lines a step, two tiles of rows, four steps at once
        (product(128, 3072, 768), 1),
        (product(8, 1024, 1024), 0),  # one tile of rows reads each panel
        (product(64, 512, 512), 0),  # b stays in L2
        (convolution(1, 7, 512, 512, 3), 0),  # two panels do not stay in L2
        (convolution(8, 7, 256, 512, 3), 1),
    ],
)
def test_lines_of_panels_to_come(text: str, lines: int) -> None:
    c = contraction(text)
    assert choose_tiling(c, True, V4).lines_ahead == lines
    assert choose_tiling(c, False, V4).lines_ahead == 0


@pytest.mark.parametrize(
    ("text", "ahead"),
    [
        (product(40000, 64, 256), True),
        (product(3000, 64, 256), False),  # a has 3 MB: most of it is in L2 or close to it
        (product(40000, 160, 256), False),  # panels: the second reads the rows from L1
        (convolution(8, 56, 256, 64, 1), True),  # the rows of all images follow each other
        (convolution(8, 56, 64, 64, 3), False),
    ],
)
def test_rows_to_come(text: str, ahead: bool) -> None:
    assert choose_tiling(contraction(text), True, V4).rows_ahead == ahead


@pytest.mark.parametrize(("element", "rows"), [("f32", 12), ("bf16", 12), ("f16", 10)])
def test_tiles_of_converted_rows_are_lower(element: str, rows: int) -> None:
    assert choose_tiling(contraction(product(120, 32, 128).replace("f32", element)), False, V4).tile.rows == rows


@pytest.mark.parametrize(("machine", "tiles"), [("zen4", [(8, 48), (6, 64)]), ("x86-64-v4", [(8, 48), (13, 32)])])
def test_tiles_of_columns_that_are_extended(machine: str, tiles: list[tuple[int, int]]) -> None:
    """On a Zen 4, tiles of few rows leave time to extend vectors of b. Elsewhere more rows share such a vector."""
    target = machine_named(machine)
    found = [choose_tile(128, 384, 4, target, True, extended=extended) for extended in (False, True)]
    assert [(tile.rows, tile.columns) for tile in found] == tiles


@pytest.mark.parametrize(
    ("text", "machine", "rows"),
    [
        (product(512, 16, 1024), "x86-64-v4", 8),  # all rows share a set of 8 lines
        (product(512, 16, 1024), "sapphire-rapids", 12),  # 12 lines
        (product(512, 16, 512), "x86-64-v4", 16),  # every other row
        (product(512, 16, 1008), "x86-64-v4", 32),
        (product(512, 16, 1025), "x86-64-v4", 8),  # each row starts an element later in the set
        (product(512, 16, 1024), "neoverse-v2", 16),  # sets repeat after 16 KiB
        (product(512, 16, 4096), "neoverse-v2", 4),
        (product(512, 16, 8), "x86-64-v4", 32),  # rows share lines
        (product(512, 16, 1024).replace("f32", "f16"), "x86-64-v4", 16),
        (convolution(1, 7, 1024, 64, 1), "x86-64-v4", 8),
    ],
)
def test_rows_that_stay_in_l1_together(text: str, machine: str, rows: int) -> None:
    target = machine_named(machine)
    assert rows_near(contraction(text), target) == rows
    assert choose_tiling(contraction(text), True, target).tile.rows <= rows


@pytest.mark.parametrize(("element", "parts"), [("f32", 2), ("bf16", 1)])
def test_panels_of_small_floats_are_longer(element: str, parts: int) -> None:
    assert choose_tiling(contraction(product(128, 384, 1536).replace("f32", element)), True, V4).depth_blocks == parts


def test_what_follows_the_last_part_of_a_sum_of_small_floats() -> None:
    """The parts are summed up in f32, and the result of the last goes where it belongs in f16."""
    rng = np.random.default_rng(7)
    a, b = (rng.integers(-1, 2, shape).astype(np.float16) for shape in ((40, 2100), (2100, 70)))
    text = product(40, 70, 2100).replace("f32", "f16")
    text = text.replace("  func.return %c", "  %r = graph.relu %c : (RESULT) -> RESULT\n  func.return %r")
    text = text.replace("RESULT", "tensor<40x70xf16>")
    expected = np.maximum(a.astype(np.int32) @ b.astype(np.int32), 0)
    np.testing.assert_array_equal(stepwell.compile(text)(a, b)[0].astype(np.int32), expected)


def value_of(value: SSAValue, axes: dict[SSAValue, int]) -> int:
    """What index arithmetic gives."""
    match value.owner:
        case arith.ConstantOp(value=IntegerAttr() as number):
            return number.value.data
        case arith.AddiOp(lhs=lhs, rhs=rhs):
            return value_of(lhs, axes) + value_of(rhs, axes)
        case arith.MuliOp(lhs=lhs, rhs=rhs):
            return value_of(lhs, axes) * value_of(rhs, axes)
        case _:
            return axes[value]


def hinted_lines(op: tile.PrefetchOp, shape: Sequence[int], batch: int) -> set[int]:
    """
    The lines of its buffer that `op` asks for in panel 0, its block run for all rows and, as `batch` says, all batches.
    """
    loop, block = op.parent_op(), op.parent_op().parent_op()  # type: ignore[union-attr]
    assert isinstance(loop, scf.ForOp) and isinstance(block, BlockOp)
    found: set[int] = set()
    named = {axis.name_hint.split("_")[0]: axis for axis in block.axes}  # type: ignore[union-attr]
    extents = dict(zip(block.axes, block.extents, strict=True))
    rows = range(extents[named["vm0"]] if "vm0" in named else 1)  # type: ignore[arg-type]
    for number, m0, k in itertools.product(range(batch), rows, range(0, shape[1] // 4 * 4, 4)):
        axes: dict[SSAValue, int] = dict.fromkeys(block.axes, 0)
        axes |= {loop.body.block.args[0]: k, named["vb0"]: number}
        axes |= {named["vm0"]: m0} if "vm0" in named else {}
        indices = [value_of(index, axes) for index in op.indices]
        first = (indices[0] * shape[1] + indices[1]) * shape[2] + indices[2] + op.ahead.value.data
        count = op.count.value.data
        assert first % 16 == count % 16 == 0
        found.update(range(first // 16, (first + count) // 16))
    return found


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("rows", [16, 20, 75])
def test_the_tiles_of_a_panel_ask_for_all_of_the_next(rows: int) -> None:
    depth, columns = 1021, 260
    text = f"""builtin.module attributes {{stepwell.weights = "given.safetensors"}} {{
      func.func @main(%a: tensor<2x{rows}x{depth}xf32>) -> tensor<2x{rows}x{columns}xf32> {{
        %w = graph.weight "w" : tensor<{depth}x{columns}xf32>
        %r = graph.matmul %a, %w : (tensor<2x{rows}x{depth}xf32>, tensor<{depth}x{columns}xf32>)
            -> tensor<2x{rows}x{columns}xf32>
        func.return %r : tensor<2x{rows}x{columns}xf32>
      }}
    }}"""
    a, w = integers(1, 2, rows, depth), integers(2, depth, columns)
    with scheduled_for("x86-64-v4"):
        exe = stepwell.compile(text, weights={"w": w}, cache=False, threads=1)
        np.testing.assert_array_equal(exe(a)[0], a @ w)
        module = parse_text(make_context(), exe.ir("tensor_loop"), "tiles.mlir")
    asked: dict[int, set[int]] = {}
    shape = (0,)
    for op in module.walk():
        if isinstance(op, tile.PrefetchOp):
            (mma,) = [each for each in op.parent.ops if isinstance(each, tile.MmaOp)]  # type: ignore[union-attr]
            shape = op.buffer.type.get_shape()  # type: ignore[attr-defined]
            width = mma.acc.type.get_shape()[1]  # type: ignore[attr-defined]
            asked.setdefault(width, set()).update(hinted_lines(op, shape, 2))
    panel, first = shape[1] // 4 * 4 * shape[2] // 16, shape[1] * shape[2] // 16
    assert set(range(first, first + panel)) <= asked[shape[2]]


def tilings(rows: int, columns: int, depth: int) -> st.SearchStrategy[Tiling]:
    heights = range(1, rows + 1)
    widths = [16 * vectors for vectors in range(1, 7) if 16 * vectors < columns] + [min(columns, 96)]
    tiles = [RegisterTile(height, width) for height in heights for width in widths if fits(height, -(-width // 16), V4)]
    parts = [count for count in range(1, depth + 1) if depth % count == 0][:6]
    return st.builds(
        Tiling,
        st.sampled_from(tiles),
        st.booleans(),
        st.sampled_from(parts),
        st.none() | st.integers(1, 5),
        st.booleans(),
    )


def integers(seed: int, *sizes: int) -> Any:
    """Small ones, so that every sum is exact in any order."""
    return np.random.default_rng(seed).integers(-3, 4, sizes).astype(np.float32)


def compiled_as(tiling: Tiling, text: str, **weights: Any) -> Any:
    """The program of `text`, its contraction cut up like that."""

    def chosen(c: Contraction, prepacked: bool = False, target: Machine = V4) -> Tiling:
        return tiling

    original, given_tiling.choose_tiling = given_tiling.choose_tiling, chosen
    try:
        with scheduled_for("x86-64-v4"):
            return stepwell.compile(text, cache=False, threads=1)
    finally:
        given_tiling.choose_tiling = original


@settings(max_examples=EXAMPLES)
@given(st.data(), st.integers(1, 40), st.integers(2, 150), st.integers(1, 60), st.integers(0, 99))
def test_every_way_of_cutting_a_product(data: Any, rows: int, columns: int, depth: int, seed: int) -> None:
    tiling = data.draw(tilings(rows, columns, depth))
    a, b = integers(seed, rows, depth), integers(seed + 1, depth, columns)
    (found,) = compiled_as(tiling, product(rows, columns, depth))(a, b)
    np.testing.assert_array_equal(found, a @ b)


@settings(max_examples=EXAMPLES // 2)
@given(
    st.data(),
    st.integers(1, 3),
    st.integers(3, 12),
    st.integers(1, 9),
    st.integers(2, 80),
    st.integers(0, 99),
)
def test_every_way_of_cutting_a_convolution_1x1(
    data: Any, images: int, extent: int, channels: int, filters: int, seed: int
) -> None:
    tiling = data.draw(tilings(extent, filters, 1))
    x, w = integers(seed, images, extent, extent, channels), integers(seed + 1, 1, 1, channels, filters)
    (found,) = compiled_as(tiling, convolution(images, extent, channels, filters, 1))(x, w)
    np.testing.assert_array_equal(found, x @ w[0, 0])


@pytest.mark.parametrize("rows", [20, 64])
def test_long_sums_are_cut_into_parts(rows: int) -> None:
    """With an epilogue, which comes after the last part."""
    a, b, bias = integers(1, rows, 2100), integers(2, 2100, 150), integers(3, 150)
    text = f"""func.func @main(%a: tensor<{rows}x2100xf32>, %b: tensor<2100x150xf32>, %d: tensor<150xf32>)
    -> tensor<{rows}x150xf32> {{
      %0 = graph.matmul %a, %b : (tensor<{rows}x2100xf32>, tensor<2100x150xf32>) -> tensor<{rows}x150xf32>
      %1 = graph.add %0, %d : (tensor<{rows}x150xf32>, tensor<150xf32>) -> tensor<{rows}x150xf32>
      %2 = graph.relu %1 : (tensor<{rows}x150xf32>) -> tensor<{rows}x150xf32>
      func.return %2 : tensor<{rows}x150xf32>
    }}"""
    (found,) = stepwell.compile(text, cache=False)(a, b, bias)
    np.testing.assert_array_equal(found, np.maximum(a @ b + bias, 0))
