"""
Functions in which the order of iterations counts more than it seems: inits that several iterations run for one element,
blocks that run twice for one point, stores of which the last stays. What a primitive would change is refused; the rest
computes the same.
"""

from __future__ import annotations

import numpy as np
import pytest
from schedule_cases import FLAGS, product
from stepwell.core.ir.verification import verify_module
from stepwell.core.text.errors import diagnostic_of
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.tensor_loop import FuncOp
from stepwell.runtime.native.loop_runner import run_loops
from stepwell.schedule.primitives.nests import runs_once
from stepwell.schedule.program.apply_schedule import ApplySchedulePass
from stepwell.schedule.program.interactive import Schedule
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.utils.exceptions import PassFailedException


def row_sum(loops: str, extents: str, row: str = "%i", column: str = "%k", at: str = "") -> str:
    """`C[row] = sum of A[row]` by way of a temporary S, at `at` in it where given, over 4 rows and 8 columns."""
    index = f"%two = arith.constant 2 : index\n      %h = arith.{at}si %vi, %two : index" if at else ""
    element = "%h" if at else "%vi"
    return f"""
tensor_loop.func @f(%A: memref<4x8xf32>) outs(%C: memref<4xf32>) {{
  %S = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid ({loops}) in ({extents}) {{
    tensor_loop.block "sum" spatial(%vi in 4 = {row}) reduce(%vk in 8 = {column}) {{
      init {{
        %z = arith.constant 0.0 : f32
        {index.replace("%two", "%two0").replace("%h", "%h0")}
        memref.store %z, %S[{element.replace("h", "h0")}] : memref<4xf32>
      }}
      {index}
      %a = memref.load %A[%vi, %vk] : memref<4x8xf32>
      %s = memref.load %S[{element}] : memref<4xf32>
      %n = arith.addf %s, %a fastmath<reassoc> : f32
      memref.store %n, %S[{element}] : memref<4xf32>
    }}
  }}
  tensor_loop.grid (%x) in ({2 if at else 4}) {{
    tensor_loop.block "copy" spatial(%vx in {2 if at else 4} = %x) {{
      %u = memref.load %S[%vx] : memref<4xf32>
      memref.store %u, %C[%vx] : memref<4xf32>
    }}
  }}
}}"""


DIAGONALS = """
tensor_loop.func @f(%A: memref<4x6xf32>) outs(%C: memref<9xf32>) {
  %S = tensor_loop.alloc : memref<4x6xf32>
  tensor_loop.grid (%k, %i) in (6, 4) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i, %vk in 6 = %k) {
      %a = memref.load %A[%vi, %vk] : memref<4x6xf32>
      memref.store %a, %S[%vi, %vk] : memref<4x6xf32>
    }
  }
  tensor_loop.grid (%x, %y) in (4, 6) {
    tensor_loop.block "copy" spatial(%vx in 4 = %x, %vy in 6 = %y) {
      %u = memref.load %S[%vx, %vy] : memref<4x6xf32>
      %d = arith.addi %vx, %vy : index
      memref.store %u, %C[%d] : memref<9xf32>
    }
  }
}"""
"""Of the elements of a diagonal the one in the last row stays."""

RUNNING = """
tensor_loop.func @f(%A: memref<4x8xi32>) outs(%S: memref<4xi32>, %R: memref<4xi32>) {
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %z = arith.constant 0 : i32
        memref.store %z, %S[%vi] : memref<4xi32>
        memref.store %z, %R[%vi] : memref<4xi32>
      }
      %a = memref.load %A[%vi, %vk] : memref<4x8xi32>
      %s = memref.load %S[%vi] : memref<4xi32>
      %n = arith.addi %s, %a : i32
      memref.store %n, %S[%vi] : memref<4xi32>
      %r = memref.load %R[%vi] : memref<4xi32>
      %t = arith.addi %r, %n : i32
      memref.store %t, %R[%vi] : memref<4xi32>
    }
  }
}"""
"""R sums up the partial sums that S goes through."""

ROWS = row_sum("%i, %k", "4, 8")
EMPTY = ROWS.replace("(4, 8)", "(4, 0)").replace(
    "outs(%C: memref<4xf32>)", "outs(%C: memref<4xf32>) attributes {stepwell.written}"
)
"""No init runs. The mark keeps the verifier from refusing the reads."""
REPEATED = row_sum("%i, %r, %k", "4, 3, 8")
REPEATED_INSIDE = row_sum("%i, %k, %r", "4, 8, 3")
TWICE = row_sum("%i, %k", "8, 8", row="%i floordiv 2")
COLUMN_TWICE = row_sum("%i, %k", "4, 16", column="%k floordiv 2")
SHARED = row_sum("%i, %k", "4, 8", at="floordiv")
SHARED_OUTSIDE = row_sum("%k, %i", "8, 4", at="floordiv")

REFUSED: dict[str, tuple[str, str, str, str]] = {
    "fuse repeated": (REPEATED, "%i, %r, %k", "%f = schedule.fuse %r, %k",
                      "the init of block \"sum\" would run once for all: different iterations of %r"),
    "fuse repeated rows": (REPEATED, "%i, %r, %k", "%f = schedule.fuse %i, %r, %k", "different iterations of %r"),
    "fuse twice": (TWICE, "%i, %k", "%f = schedule.fuse %i, %k", "different iterations of %i"),
    "fuse shared": (SHARED, "%i, %k", "%f = schedule.fuse %i, %k", "different iterations of %i"),
    "fuse empty": (EMPTY, "%i, %k", "%f = schedule.fuse %i, %k",
                   "a loop has no iterations: the init in the others would not run"),
    "fuse all of a reduction": (ROWS, "%i, %k", "%k0, %k1 = schedule.split %k [?, 13]\n%f, %g = schedule.rfactor %k1\n"
                                "%l, %m, %n = schedule.get_loops %f : 3\n%h = schedule.fuse %l, %m",
                                "no reduce loop would be left of block \"sum_rf\", whose init would run under"),
    "decompose repeated": (REPEATED, "%i, %r, %k", "%d = schedule.decompose_reduction %b, %r",
                           "would run once for all: different iterations of %r"),
    "decompose twice": (TWICE, "%i, %k", "%d = schedule.decompose_reduction %b, %i", "different iterations of %i"),
    "decompose shared": (SHARED, "%i, %k", "%d = schedule.decompose_reduction %b, %i", "different iterations of %i"),
    "partition mixed": (ROWS, "%i, %k", "%f = schedule.fuse %i, %k\n%p, %q = schedule.loop_partition %f [12]",
                        "%ik runs through reduce and spatial axes of block \"sum\" at once"),
    "partition shared": (SHARED_OUTSIDE, "%k, %i", "%p, %q = schedule.loop_partition %i [1]",
                         "every part would run the init of block \"sum\": different iterations of %i"),
    "partition beside repeated": (row_sum("%k, %r, %i", "8, 2, 4"), "%k, %r, %i",
                                  "%p, %q = schedule.loop_partition %i [1]",
                                  "every part would run the init of block \"sum\": different iterations of %r"),
    "partition around repeated": (REPEATED_INSIDE, "%i, %k, %r",
                                  "%k0, %k1 = schedule.split %k [2, 4]\n%p, %q = schedule.loop_partition %k1 [1]",
                                  "different iterations of %r"),
    "rfactor repeated": (REPEATED_INSIDE, "%i, %k, %r", "%p, %q = schedule.rfactor %k",
                         "may run more than once for the same values of its axes"),
    "rfactor shared": (SHARED_OUTSIDE, "%k, %i", "%p, %q = schedule.rfactor %k",
                       "may write an element of %S more than once"),
    "compute_at repeated": (REPEATED_INSIDE, "%i, %k, %r", "schedule.compute_at %b, %x",
                            "may run more than once for the same values of its axes"),
    "compute_at twice": (COLUMN_TWICE, "%i, %k", "schedule.compute_at %b, %x",
                         "may run more than once for the same values of its axes"),
    "reverse_compute_at": (DIAGONALS, "%k, %i", "schedule.reverse_compute_at %c, %i",
                           "block \"copy\" may write an element of %C more than once"),
    "reverse_compute_inline": (DIAGONALS, "%k, %i", "schedule.reverse_compute_inline %c",
                               "block \"copy\" may write an element of %C more than once"),
    "reorder running": (RUNNING, "%i, %k", "%k0, %k1 = schedule.split %k [2, 4]\nschedule.reorder %k1, %k0",
                        ("the updates of %S in block \"sum\" may not be regrouped (the block uses it for more than "
                         "the update)")),
    "vectorize running": (RUNNING, "%i, %k", "schedule.vectorize %k",
                          "the updates of %S in block \"sum\" may not be regrouped"),
    "vectorize differences": (ROWS.replace("arith.addf", "arith.subf"), "%i, %k", "schedule.vectorize %k",
                              "may not be regrouped ('arith.subf' is not associative)"),
    "annotate with a property": (ROWS, "%i, %k",
                                 '%u = schedule.add_unit_loop %b\nschedule.annotate %i "kind" with 4 : i64',
                                 "\"kind\" is a property of a 'tensor_loop.for', expected another key"),
}  # fmt: skip
"""Function, loops of "sum", steps, what is said."""

KEPT: dict[str, tuple[str, str, str]] = {
    "fuse rows": (ROWS, "%i, %k", "%f = schedule.fuse %i, %k"),
    "fuse inside": (SHARED_OUTSIDE, "%k, %i", "%f = schedule.fuse %k, %i"),
    "fuse outside": (REPEATED, "%i, %r, %k", "%f = schedule.fuse %i, %r"),
    "decompose rows": (ROWS, "%i, %k", "%d = schedule.decompose_reduction %b, %i"),
    "decompose inside": (REPEATED, "%i, %r, %k", "%d = schedule.decompose_reduction %b, %k"),
    "decompose shared": (SHARED_OUTSIDE, "%k, %i", "%d = schedule.decompose_reduction %b, %k"),
    "decompose fused": (ROWS, "%i, %k",
                        ("%f = schedule.fuse %i, %k\n%p, %q = schedule.split %f [?, 8]\n"
                         "%d = schedule.decompose_reduction %b, %q")),
    "partition outside": (SHARED, "%i, %k", "%p, %q = schedule.loop_partition %i [1]"),
    "partition inside": (row_sum("%k, %i", "8, 4"), "%k, %i", "%p, %q = schedule.loop_partition %i [1]"),
    "partition repeated": (REPEATED, "%i, %r, %k", "%p, %q = schedule.loop_partition %k [3]"),
    "partition of a part": (ROWS, "%i, %k",
                            "%k0, %k1 = schedule.split %k [2, 4]\n%p, %q = schedule.loop_partition %k1 [1]"),
    "partition around": (REPEATED_INSIDE, "%i, %k, %r", "%p, %q = schedule.loop_partition %k [3]"),
    "rfactor": (ROWS, "%i, %k", "%k0, %k1 = schedule.split %k [20, 3]\n%p, %q = schedule.rfactor %k0"),
    "compute_at": (ROWS, "%i, %k", "schedule.compute_at %b, %x"),
    "compute_at named by numbers": (ROWS.replace("%vk", "%v0"), "%i, %k", "schedule.compute_at %b, %x"),
}  # fmt: skip


def scheduled(function: str, loops: str, steps: str) -> ModuleOp:
    program = f"""
schedule.program {{
  %b = schedule.get_block "sum" in @f
  {loops} = schedule.get_loops %b : {loops.count("%")}
  {'%c = schedule.get_block "copy" in @f' if '"copy"' in function else ""}
  {"%x = schedule.get_loops %c : 1" if "%x)" in function else ""}
  {steps}
}}"""
    context = make_context()
    module = parse_text(context, function + program, "case.mlir")
    verify_module(module)
    ApplySchedulePass().apply(context, module)
    return module


def results(module: ModuleOp) -> list[np.ndarray]:
    (function,) = (op for op in module.walk() if isinstance(op, FuncOp))
    generator = np.random.default_rng(0)
    arrays = [
        generator.integers(-3, 4, a.type.get_shape()).astype(np.int32 if "i32" in str(a.type) else np.float32)
        for a in function.body.block.args
        if isinstance(a.type, MemRefType)
    ]
    run_loops(module, "f", arrays)
    return arrays


@pytest.mark.ci_cases(13)
@pytest.mark.parametrize("name", REFUSED)
def test_steps_for_which_the_order_counts_are_refused(name: str) -> None:
    function, loops, steps, reason = REFUSED[name]
    with pytest.raises(PassFailedException) as caught:
        scheduled(function, loops, steps)
    diagnostic = diagnostic_of(caught.value)
    assert reason in diagnostic.message and "\n>" in diagnostic.message


def test_blocks_in_grids_that_nobody_has_split_run_once_or_not() -> None:
    for function, once in ((ROWS, True), (REPEATED, False), (COLUMN_TWICE, False)):
        module = parse_text(make_context(), function, "case.mlir")
        assert runs_once(Schedule(module).get_block("sum", "f").op) is once


def test_a_product_in_a_grid_is_tensorized_at_once() -> None:
    module = parse_text(make_context(), product(12, 20, 16, FLAGS), "case.mlir")
    schedule = Schedule(module)
    schedule.tensorize(schedule.get_block("mm", "f"), "mma")
    assert "tile.mma" in str(module)


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("name", KEPT)
def test_steps_beside_them_keep_the_results(name: str) -> None:
    function, loops, steps = KEPT[name]
    module = parse_text(make_context(), function, "case.mlir")
    for found, wanted in zip(results(scheduled(function, loops, steps)), results(module), strict=True):
        np.testing.assert_array_equal(found, wanted)
