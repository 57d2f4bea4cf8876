"""
Grouped convolutions as register tiles, against NumPy written on its own.

The operands are small integers, so every sum is exact in any order and results are compared bit by bit.
"""

from __future__ import annotations

import pytest
from counts import FULL
from grouped_programs import Grouped
from hypothesis import given, settings
from hypothesis import strategies as st
from named_machines import as_machine, runs_here
from stepwell.core.ir.walk import ops_of
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.dialects import tile
from stepwell.dialects.schedule import DepthwiseAttr, TilingAttr
from stepwell.dialects.tensor_loop import AllocOp, BlockOp, ForOp, FuncOp, GridOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

EXAMPLES = 300 if FULL else 6
MACHINES = [name for name in ("x86-64", "x86-64-v3") if runs_here(name)] or ["host"]

PAIRS = st.tuples(st.integers(1, 2), st.integers(1, 2))


def scheduled(case: Grouped, target: str = "x86-64-v4", pack: bool = True) -> FuncOp:
    """The loop function of a convolution."""
    module = parse(case.text())
    steps = ["graph-optimize", "to-loops", *([f'prepack-weights{{target="{target}"}}'] if pack else [])]
    run_pipeline(make_context(), module, ",".join([*steps, f'schedule-cpu{{target="{target}"}}']))
    return next(op for op in module.ops if isinstance(op, FuncOp) and "conv2d" in op.sym_name.data)


def repeated(function: FuncOp | ModuleOp) -> list[tile.LoadOp]:
    return [op for op in ops_of(function, tile.LoadOp) if op.repeats > 1]


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    image=st.tuples(st.integers(1, 2), st.integers(1, 9), st.integers(1, 12)),
    groups=st.integers(2, 9),
    ins=st.integers(1, 9) | st.sampled_from([16, 33]),
    outs=st.integers(1, 9) | st.sampled_from([12, 16, 24, 33]),
    kernel=st.tuples(st.integers(1, 3), st.integers(1, 3)) | st.sampled_from([(1, 7), (6, 6)]),
    strides=PAIRS,
    dilation=PAIRS,
    padding=st.tuples(*[st.integers(0, 2)] * 4),
    epilogue=st.sampled_from(["", "bias", "relu", "bias-relu"]),
    constant=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_random_convolutions(
    image: tuple[int, int, int],
    groups: int,
    ins: int,
    outs: int,
    kernel: tuple[int, int],
    strides: tuple[int, int],
    dilation: tuple[int, int],
    padding: tuple[int, ...],
    epilogue: str,
    constant: bool,
    seed: int,
) -> None:
    batch, *extents = image
    height, width = (
        max(extent, by * (taps - 1) + 1) for extent, by, taps in zip(extents, dilation, kernel, strict=True)
    )
    case = Grouped((batch, height, width), groups, ins, outs, kernel, strides, padding, dilation, epilogue, constant)
    case.check(seed)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("ins", "outs"), [(4, 4), (1, 2), (3, 5), (20, 12), (9, 2)])
def test_other_machines(machine: str, ins: int, outs: int) -> None:
    with as_machine(machine):
        Grouped(groups=3, ins=ins, outs=outs, epilogue="bias-relu").check()


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("outs", [4, 32])
def test_several_threads_give_the_same(outs: int) -> None:
    Grouped((2, 30, 30), groups=8, ins=outs, outs=outs, epilogue="bias-relu").check(threads=2)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("outs", [4, 32])
def test_no_copies_and_no_loops_of_numbers(outs: int, constant: bool) -> None:
    """The image is read where it lies. Bias and relu are done on the tiles. Filters given late are read or packed."""
    function = scheduled(Grouped(ins=outs, outs=outs, epilogue="bias-relu", constant=constant), pack=constant)
    images = [op for op in ops_of(function, AllocOp) if op.memref.type.get_shape()[:3] == (1, 11, 11)]
    assert not images and not ops_of(function, GridOp)
    assert not [op for op in ops_of(function, ForOp) if op.kind_name == "vectorized"]
    assert bool(ops_of(function, tile.MmaOp)) == (outs == 32) == (not repeated(function))


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize(
    ("target", "outs", "shared"),
    [("x86-64-v4", 8, True), ("x86-64-v4", 9, False), ("x86-64-v3", 4, True), ("x86-64-v3", 8, False)],
)
def test_groups_share_vectors_where_two_have_room(target: str, outs: int, shared: bool) -> None:
    assert bool(repeated(scheduled(Grouped(ins=8, outs=outs), target))) == shared


def test_large_windows_are_products_of_groups() -> None:
    """Taps of 6x6 are not written out."""
    function = scheduled(Grouped(kernel=(6, 6)))
    assert ops_of(function, tile.MmaOp) and not repeated(function)


def test_integers_are_left_to_others() -> None:
    module = parse(Grouped().text().replace("xf32", "xi32"))
    run_pipeline(make_context(), module, "graph-optimize,to-loops,schedule-cpu")
    assert not ops_of(module, tile.MmaOp) and not repeated(module)


def with_tiling(case: Grouped, tiling: TilingAttr | DepthwiseAttr) -> ModuleOp:
    """The program scheduled, where the block of the convolution asks for a tiling."""
    module = parse(case.text())
    run_pipeline(make_context(), module, "graph-optimize,to-loops")
    (block,) = (op for op in ops_of(module, BlockOp) if op.has_reduce_axes)
    block.attributes["stepwell.tiling"] = tiling
    run_pipeline(make_context(), module, 'prepack-weights{target="x86-64-v4"},schedule-cpu{target="x86-64-v4"}')
    return module


def heights(module: ModuleOp) -> set[int]:
    """The rows of the tiles that are stored to images."""
    stores = [op for op in ops_of(module, tile.StoreOp) if len(op.indices) == 4]
    return {op.box_accesses()[0].sizes[2] for op in stores}


@pytest.mark.parametrize("outs", [4, 32])
def test_a_tiling_that_is_asked_for(outs: int) -> None:
    """A product per group, also where groups would share vectors."""
    module = with_tiling(Grouped(ins=outs, outs=outs), TilingAttr.of(3, 16, True, 1, None, False))
    assert ops_of(module, tile.MmaOp) and not repeated(module)
    assert heights(module) == {3}


def test_a_tile_of_shared_vectors_that_is_asked_for() -> None:
    module = with_tiling(Grouped(padding=(0, 0, 0, 0)), DepthwiseAttr.of(1, 7))
    assert repeated(module) and heights(module) == {7}


def test_a_tile_of_shared_vectors_for_large_groups() -> None:
    with pytest.raises(DiagnosticException, match="the block is no depthwise convolution that register tiles are made"):
        with_tiling(Grouped(ins=32, outs=32), DepthwiseAttr.of(1, 7))


def test_a_tile_of_shared_vectors_that_does_not_fit() -> None:
    with pytest.raises(DiagnosticException, match="3x9 pixels take 49 registers, too many for 'x86-64-v4'"):
        with_tiling(Grouped(), DepthwiseAttr.of(3, 9))
