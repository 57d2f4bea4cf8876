"""Loop functions compute what they say after `schedule-cpu` and `lower-loops-to-scf`, compiled by our own lowering."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llvm_jit import Program
from loop_programs import LoopProgram, loop_programs
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.loops_to_scf.lower_loops_to_scf import LowerLoopsToSCFPass
from stepwell.schedule.default.cpu import ScheduleCPUPass
from xdsl.dialects.builtin import UnknownLoc


def lowered(text: str, schedule: bool) -> str:
    """The scf stair of `text`, verified, equal to its own text parsed again."""
    context = make_context()
    module = parse_text(context, text, "test.mlir")
    module.verify()
    if schedule:
        ScheduleCPUPass().apply(context, module)
        module.verify()
    LowerLoopsToSCFPass().apply(context, module)
    module.verify()
    assert not [op.name for op in module.walk() if op.name.startswith("tensor_loop.")]
    result = str(module)
    assert str(parse_text(context, result)) == result
    return result


def run(text: str, *arrays: np.ndarray, schedule: bool = False) -> None:
    Program(lowered(text, schedule)).call("f", *arrays)


def integers(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Small whole numbers as f32: sums of their products are exact in any order."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float32)


@given(loop_programs(), st.booleans())
def test_any_order_and_split_computes_the_reduction(program: LoopProgram, schedule: bool):
    m, n, k = program.sizes
    a, b = integers((m, k), 1), integers((k, n), 2)
    c = np.full((m, n), np.nan, np.float32)
    run(program.text, a, b, c, schedule=schedule)
    np.testing.assert_array_equal(c, program.expected(a, b), err_msg=program.text)


GRID_IN_GRID = """
tensor_loop.func @f(%A: memref<{m}x{k}xf32>, %B: memref<{k}x{n}xf32>) outs(%C: memref<{m}x{n}xf32>) {{
  tensor_loop.grid (%m, %no) in ({m}, {n}) {{
    tensor_loop.grid (%ni, %ko, %ki) in (1, {k}, 1) {{
      tensor_loop.block "b" spatial(%vm in {m} = %m) reduce(%vk in {k} = %ko + %ki) spatial(%vn in {n} = %no + %ni) {{
        init {{
          %zero = arith.constant 0.0 : f32
          memref.store %zero, %C[%vm, %vn] : memref<{m}x{n}xf32>
        }}
        %a = memref.load %A[%vm, %vk] : memref<{m}x{k}xf32>
        %b = memref.load %B[%vk, %vn] : memref<{k}x{n}xf32>
        %c = memref.load %C[%vm, %vn] : memref<{m}x{n}xf32>
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
        memref.store %s, %C[%vm, %vn] : memref<{m}x{n}xf32>
      }}
    }}
  }}
}}
"""


@pytest.mark.parametrize("sizes", [(0, 0, 0), (0, 3, 2), (5, 3, 0), (6, 5, 8)])
def test_a_grid_around_a_grid_stays_as_it_is(sizes: tuple[int, int, int]) -> None:
    """The decision about the inner one was taken for one about both (found by the property above with all counts)."""
    m, n, k = sizes
    a, b, c = integers((m, k), 1), integers((k, n), 2), np.full((m, n), np.nan, np.float32)
    run(GRID_IN_GRID.format(m=m, n=n, k=k), a, b, c, schedule=True)
    np.testing.assert_array_equal(c, a @ b)


ARGMAX = """
tensor_loop.func @f(%A: memref<3x{k}xf32>) outs(%I: memref<3xi64>, %V: memref<3xf32>) {{
  tensor_loop.grid ({order}) in ({extents}) {{
    tensor_loop.block "argmax" spatial(%vi in 3 = %i) reduce(%vk in {k} = %k) {{
      init {{
        %lowest = arith.constant 0xFF800000 : f32
        %none = arith.constant -1 : i64
        memref.store %none, %I[%vi] : memref<3xi64>
        memref.store %lowest, %V[%vi] : memref<3xf32>
      }}
      %v = memref.load %V[%vi] : memref<3xf32>
      %old = memref.load %I[%vi] : memref<3xi64>
      %a = memref.load %A[%vi, %vk] : memref<3x{k}xf32>
      %j = arith.index_cast %vk : index to i64
      %better = arith.cmpf ogt, %a, %v : f32
      %nv = arith.select %better, %a, %v : f32
      %ni = arith.select %better, %j, %old : i64
      memref.store %nv, %V[%vi] : memref<3xf32>
      memref.store %ni, %I[%vi] : memref<3xi64>
    }}
  }}
}}"""


@pytest.mark.parametrize("schedule", [False, True], ids=["as-written", "scheduled"])
@pytest.mark.parametrize("order", ["%i, %k", "%k, %i"])
def test_argmax_keeps_value_and_first_index(order: str, schedule: bool):
    a = np.array([[1, 5, 5, 2], [0, 0, 0, 0], [7, 1, 2, 7]], np.float32)
    extents = "3, 4" if order == "%i, %k" else "4, 3"
    index, value = np.zeros(3, np.int64), np.zeros(3, np.float32)
    run(ARGMAX.format(k=4, order=order, extents=extents), a, index, value, schedule=schedule)
    np.testing.assert_array_equal(index, [1, 0, 0])
    np.testing.assert_array_equal(value, [5, 0, 7])


@pytest.mark.parametrize("order", ["%i, %k", "%k, %i"])
def test_init_runs_when_the_reduce_extent_is_zero(order: str):
    extents = "3, 0" if order == "%i, %k" else "0, 3"
    index, value = np.zeros(3, np.int64), np.zeros(3, np.float32)
    run(ARGMAX.format(k=0, order=order, extents=extents), np.zeros((3, 0), np.float32), index, value)
    np.testing.assert_array_equal(index, [-1, -1, -1])
    np.testing.assert_array_equal(value, [-np.inf] * 3)


TWO_BLOCKS = """
tensor_loop.func @f(%A: memref<4x8xf32>) outs(%S: memref<4xf32>) {
  %T = tensor_loop.alloc : memref<4x8xf32>
  tensor_loop.for %i in 4 {
    tensor_loop.for %k in 8 {
      tensor_loop.block "double" spatial(%vi in 4 = %i, %vk in 8 = %k) {
        %a = memref.load %A[%vi, %vk] : memref<4x8xf32>
        %t = arith.addf %a, %a : f32
        memref.store %t, %T[%vi, %vk] : memref<4x8xf32>
      }
      tensor_loop.block "sum" spatial(%ui in 4 = %i) reduce(%uk in 8 = %k) {
        init {
          %zero = arith.constant 0.0 : f32
          memref.store %zero, %S[%ui] : memref<4xf32>
        }
        %s = memref.load %S[%ui] : memref<4xf32>
        %t = memref.load %T[%ui, %uk] : memref<4x8xf32>
        %r = arith.addf %s, %t : f32
        memref.store %r, %S[%ui] : memref<4xf32>
      }
    }
    tensor_loop.block "negate" spatial(%wi in 4 = %i) {
      %s = memref.load %S[%wi] : memref<4xf32>
      %n = arith.negf %s : f32
      memref.store %n, %S[%wi] : memref<4xf32>
    }
  }
}"""


def test_blocks_share_a_nest():
    a, s = integers((4, 8)), np.zeros(4, np.float32)
    run(TWO_BLOCKS, a, s)
    np.testing.assert_array_equal(s, -2 * a.sum(axis=1))


GUARDED = """
tensor_loop.func @f(%A: memref<4xf32>) outs(%S: memref<f32> {stepwell.in_place}, %B: memref<4xf32>) {
  tensor_loop.for %k in 4 {
    tensor_loop.block "before" spatial(%vi in 4 = %k) {
      %s = memref.load %S[] : memref<f32>
      memref.store %s, %B[%vi] : memref<4xf32>
    }
    tensor_loop.block "sum" reduce(%vk in 4 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %S[] : memref<f32>
      }
      %s = memref.load %S[] : memref<f32>
      %a = memref.load %A[%vk] : memref<4xf32>
      %t = arith.addf %s, %a : f32
      memref.store %t, %S[] : memref<f32>
    }
  }
}"""


def test_guarded_init_leaves_earlier_reads_alone():
    a = np.array([1, 2, 3, 4], np.float32)
    s, b = np.array(50, np.float32), np.zeros(4, np.float32)
    run(GUARDED, a, s, b)
    np.testing.assert_array_equal(b, [50, 1, 3, 6])
    assert s == 10


WINDOW = """
tensor_loop.func @f(%A: memref<6xf32>) outs(%S: memref<6xf32>) {
  tensor_loop.grid (%k, %i) in (3, 8) {
    tensor_loop.block "window" spatial(%vi in 6 = %i) reduce(%vk in 3 = %k) where(%i + %k < 6) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %S[%vi] : memref<6xf32>
      }
      %j = arith.addi %vi, %vk : index
      %s = memref.load %S[%vi] : memref<6xf32>
      %a = memref.load %A[%j] : memref<6xf32>
      %t = arith.addf %s, %a : f32
      memref.store %t, %S[%vi] : memref<6xf32>
    }
  }
}"""


@pytest.mark.parametrize("loops", ["%k, %i) in (3, 8", "%i, %k) in (8, 3"])
@pytest.mark.parametrize("schedule", [False, True], ids=["as-written", "scheduled"])
def test_predicate_over_spatial_and_reduce_loops(loops: str, schedule: bool):
    """The predicate alone keeps the axis within its extent: the init must not write beyond it either."""
    a, s = integers((6,)), np.full(8, np.nan, np.float32)
    run(WINDOW.replace("%k, %i) in (3, 8", loops), a, s, schedule=schedule)
    np.testing.assert_array_equal(s[:6], [a[i : i + 3].sum() for i in range(6)])
    assert np.isnan(s[6:]).all()


def test_reversed_reduce_axis_still_initialises_first():
    text = GUARDED.replace("reduce(%vk in 4 = %k)", "reduce(%vk in 4 = 3 - %k)")
    a = np.array([1, 2, 3, 4], np.float32)
    s, b = np.array(50, np.float32), np.zeros(4, np.float32)
    run(text, a, s, b)
    np.testing.assert_array_equal(b, [50, 4, 7, 9])
    assert s == 10


COMPUTED = """
tensor_loop.func @f(%A: memref<3x4xf32>) outs(%S: memref<9xf32>) {
  tensor_loop.for %k in 4 {
    tensor_loop.for %i in 3 {
      %c4 = arith.constant 4 : index
      %row = arith.muli %i, %c4 : index
      tensor_loop.block "sum" spatial(%vi in 3 = %i, %vr in 9 = %row) reduce(%vk in 4 = %k) {
        init {
          %zero = arith.constant 0.0 : f32
          memref.store %zero, %S[%vr] : memref<9xf32>
        }
        %s = memref.load %S[%vr] : memref<9xf32>
        %a = memref.load %A[%vi, %vk] : memref<3x4xf32>
        %t = arith.addf %s, %a : f32
        memref.store %t, %S[%vr] : memref<9xf32>
      }
    }
  }
}"""


def test_binding_computed_inside_the_reduce_loop():
    a, s = integers((3, 4)), np.full(9, 7, np.float32)
    run(COMPUTED, a, s)
    np.testing.assert_array_equal(s, [a[0].sum(), 7, 7, 7, a[1].sum(), 7, 7, 7, a[2].sum()])


@pytest.mark.parametrize("text", [WINDOW, GUARDED, TWO_BLOCKS, ARGMAX.format(k=4, order="%i, %k", extents="3, 4")])
def test_every_op_has_a_location(text: str):
    context = make_context()
    module = parse_text(context, text, "test.mlir")
    ScheduleCPUPass().apply(context, module)
    LowerLoopsToSCFPass().apply(context, module)
    assert [op.name for op in module.walk() if isinstance(op.location, UnknownLoc) and op is not module] == []
