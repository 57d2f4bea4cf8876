"""Products of bytes as the IR asks for: the numbers they give, and what is refused."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwell.core.passes.context import PassContext
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse, parse_text
from stepwell.machine.named import machine_named
from stepwell.runtime.tuning.job import Job
from stepwell.runtime.tuning.measure import measure
from stepwell.runtime.tuning.spaces.space import Space
from stepwell.schedule.tuned.kernels import Kernel, kernels_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

PRODUCT = """
func.func @main(%x: tensor<{m}x{k}x{t}>{parameter}) -> tensor<{m}x{n}x{r}> {{
  {weight}
  %z = graph.matmul %x, %w, out_dtype = {r} : (tensor<{m}x{k}x{t}>, tensor<{k}x{n}x{t}>) -> tensor<{m}x{n}x{r}>
  return %z : tensor<{m}x{n}x{r}>
}}
"""

HOST = machine_named("host").features
DOTS = "avx512vnni" in HOST
REGISTERS = "amx-int8" in HOST


def kernel_of(m: int, n: int, k: int, constant: bool, t: str = "i8", r: str = "i32") -> Kernel:
    weight = f'%w = graph.weight "w" : tensor<{k}x{n}x{t}>' if constant else ""
    parameter = "" if constant else f", %w: tensor<{k}x{n}x{t}>"
    module = parse(PRODUCT.format(m=m, n=n, k=k, t=t, r=r, weight=weight, parameter=parameter))
    run_pipeline(make_context(), module, "graph-optimize,to-loops")
    return kernels_of(module)[-1]


def scheduled(kernel: Kernel, tiling: str) -> ModuleOp:
    """The kernel with a schedule beside it."""
    module = kernel.module.clone()
    program = f"""schedule.program {{
      %b = schedule.get_block "block0" in @kernel
      schedule.annotate %b "stepwell.tiling" with {tiling}
    }}"""
    (op,) = parse_text(make_context(), program, "schedule").ops
    op.detach()
    module.body.block.add_op(op)
    return module


def lowered(kernel: Kernel, tiling: str, target: str, pipeline: str = "prepack-weights,schedule-cpu") -> str:
    module = scheduled(kernel, tiling)
    with PassContext(opt_level=3, config={"target": target}):
        run_pipeline(make_context(), module, f"apply-schedule,{pipeline}")
    return str(module)


@settings(max_examples=60 if FULL else 4)
@given(
    m=st.integers(2, 70),
    n=st.integers(16, 100),
    k=st.integers(16, 80),
    constant=st.booleans(),
    rows=st.integers(1, 8),
    vectors=st.integers(1, 3),
    panels=st.integers(0, 3),
)
def test_every_tiling_gives_the_product(
    m: int, n: int, k: int, constant: bool, rows: int, vectors: int, panels: int
) -> None:
    """With what this machine has: the default where it has neither instruction."""
    tiling = f"#schedule.dots<rows = {rows}, columns = {16 * vectors}>" if DOTS else ""
    if panels and REGISTERS and m >= 16:
        tiling = f"#schedule.tile_registers<panels = {panels}>"
    if m < 16 and not constant:
        tiling = ""
    kernel = kernel_of(m, n, k, constant)
    generator = np.random.default_rng(m * n * k)
    x, w = (generator.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
    exe = stepwell.compile(
        scheduled(kernel, tiling) if tiling else kernel.module,
        pipeline="apply-schedule,finish",
        weights={"w1": w} if constant else None,
        cache=False,
        tuning=False,
    )
    expected = x.astype(np.int64) @ w.astype(np.int64)
    np.testing.assert_array_equal(exe(*([x] if constant else [x, w]))[0], expected.astype(np.int32))


@pytest.mark.parametrize("constant", [False, True])
def test_dot_products_are_taken_where_there_are_tile_registers(constant: bool) -> None:
    kernel = kernel_of(64, 96, 64, constant)
    text = lowered(kernel, "#schedule.dots<rows = 4, columns = 48>", "sapphire-rapids")
    assert 'using "vpdpbusd"' in text and 'using "amx"' not in text and "vector<4x48xi32>" in text


def test_dot_products_of_bf16_may_be_asked_for_with_flush() -> None:
    kernel, dots = kernel_of(64, 96, 64, True, "bf16", "f32"), "#schedule.dots<rows = 4, columns = 48>"
    text = lowered(kernel, dots, "sapphire-rapids", "prepack-weights{flush=all},schedule-cpu{flush=all}")
    assert 'using "vdpbf16ps"' in text and "vector<4x48xf32>" in text and "memref<2x32x48x2xbf16>" in text
    with pytest.raises(DiagnosticException, match="the block is no product of bytes"):
        lowered(kernel, dots, "sapphire-rapids")


def test_panels_of_a_block_are_as_many_as_asked_for() -> None:
    kernel = kernel_of(64, 256, 64, False)
    text = lowered(kernel, "#schedule.tile_registers<panels = 2>", "sapphire-rapids")
    assert 'using "amx"' in text and "tensor_loop.for %n0 in 4" in text


REFUSED = [
    ("dots<rows = 4, columns = 40>", "cascade-lake", "40 columns are no whole vectors of 16 elements"),
    ("dots<rows = 8, columns = 64>", "x86-64-v4", "tiles of 8x64 sums take too many registers for 'x86-64-v4'"),
    ("dots<rows = 30, columns = 48>", "cascade-lake", "tiles of 30x48 sums take too many registers for 'cascade-lake'"),
    ("dots<rows = 4, columns = 48>", "aarch64-neon",
     "the block is no product of bytes that the target has dot products for"),
    ("tile_registers<panels = 2>", "cascade-lake",
     "the block is no product that tile registers of the target are made for"),
]  # fmt: skip


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize(("tiling", "target", "reason"), REFUSED)
def test_what_does_not_fit_is_an_error(tiling: str, target: str, reason: str, constant: bool) -> None:
    with pytest.raises(DiagnosticException) as found:
        lowered(kernel_of(64, 96, 64, constant), f"#schedule.{tiling}", target)
    assert f"cannot have 'stepwell.tiling' = #schedule.{tiling}: {reason}" in str(found.value)


def test_with_flush_tile_registers_are_stronger_than_a_tiling_in_single_precision() -> None:
    """A schedule that was tuned without tile registers took them away (found by reading)."""
    kernel = kernel_of(64, 96, 64, False, "bf16", "f32")
    tiling = "#schedule.tiling<rows = 4, columns = 32, packed>"
    assert 'using "amx"' not in lowered(kernel, tiling, "sapphire-rapids")
    flushed = lowered(kernel, tiling, "sapphire-rapids", "prepack-weights{flush=all},schedule-cpu{flush=all}")
    assert 'using "amx"' in flushed and "stepwell.tiling" not in flushed


def test_the_choices_are_those_of_the_target() -> None:
    kernel = kernel_of(64, 256, 64, True)
    (knob,) = Space(kernel, "sapphire-rapids").knobs
    words = [str(value) for value in knob.values[1:]]
    assert knob.name == "bytes" and knob.values[0] is None
    assert "#schedule.tile_registers<panels = 1>" in words and any("schedule.dots" in word for word in words)
    (knob,) = Space(kernel, "cascade-lake").knobs
    assert all("schedule.dots" in str(value) for value in knob.values[1:])
    (knob,) = Space(kernel, "x86-64-v4").knobs
    assert all("schedule.dots" in str(value) for value in knob.values[1:])
    assert not any(each.name == "bytes" for each in Space(kernel, "aarch64-neon").knobs)


def test_candidates_compute_what_the_default_does() -> None:
    kernel = kernel_of(33, 70, 50, True)
    space, random = Space(kernel, "host"), Random(3)
    for _ in range(12 if FULL else 2):
        program = space.program(tuple(random.randrange(len(knob.values)) for knob in space.knobs))
        assert program is not None
        module = kernel.module.clone()
        (op,) = parse_text(make_context(), program, "candidate").ops
        op.detach()
        module.body.block.add_op(op)
        outcome = measure(Job(str(kernel.module), str(module), rounds=1, round_seconds=0.0))
        assert outcome.status == "ok", f"{outcome.detail}\n{program}"
