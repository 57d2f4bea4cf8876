"""Steps on programs that few people write: a step is refused, or what it leaves verifies and computes the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core.messages.diagnostics import OperationError
from stepwell.core.text.errors import diagnostic_of
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.schedule.program.interactive import Schedule
from xdsl.dialects.builtin import UnitAttr

LAST = """
tensor_loop.func @main(%A: memref<6x8xi32>) outs(%B: memref<6xi32>) {
  tensor_loop.grid (%i, %j) in (6, 8) {
    tensor_loop.block "last" spatial(%v in 6 = %i, %w in 8 = %j) {
      %a = memref.load %A[%v, %w] : memref<6x8xi32>
      memref.store %a, %B[%v] : memref<6xi32>
    }
  }
}"""

NEGATIVE = """
tensor_loop.func @main(%A: memref<8x32xi32>) outs(%B: memref<8x32xi32>) {
  tensor_loop.grid (%x, %y) in (8, 32) {
    tensor_loop.block "neg" spatial(%vx in 8 = %x, %vy in 32 = %y) {
      %u = memref.load %A[%vx, %vy] : memref<8x32xi32>
      memref.store %u, %B[%vx, %vy] : memref<8x32xi32>
    }
  }
}"""

ROWS = """
tensor_loop.func @main(%A: memref<6x8xi32>) outs(%B: memref<6xi32>) {
  tensor_loop.grid (%i, %k) in (6, 8) {
    tensor_loop.block "m" spatial(%v in 6 = %i) reduce(%r in 8 = %k) {
      init {
        %z = arith.constant 9 : i32
        memref.store %z, %B[%v] : memref<6xi32>
      }
      %a = memref.load %A[%v, %r] : memref<6x8xi32>
      %b = memref.load %B[%v] : memref<6xi32>
      %t = arith.addi %b, %a : i32
      memref.store %t, %B[%v] : memref<6xi32>
    }
  }
}"""


def schedule_of(text: str) -> Schedule:
    return Schedule(parse_text(make_context(), text, "f.mlir"))


def refusal(error: OperationError) -> tuple[str, str | None]:
    """Returns the first line of the message, and the hint."""
    found = diagnostic_of(error)
    return found.message.split("\n")[0].partition("': ")[2], found.hint


def test_a_padded_spatial_axis_chooses_the_element_that_is_stored() -> None:
    schedule = schedule_of(LAST)
    with pytest.raises(OperationError) as refused:
        schedule.pad_to_tile(schedule.get_block("last", "main"), [1, 3])
    assert refusal(refused.value) == (
        'block "last" writes the same elements for each %w, which is padded',
        "a padded spatial axis is an index of the store",
    )
    schedule.pad_to_tile(schedule.get_block("last", "main"), [4, 4])
    values = np.arange(48, dtype=np.int32).reshape(6, 8)
    assert np.array_equal(stepwell.compile(str(schedule.module), cache=False)(values)[0], values[:, 7])


BLOCK_KEYS = (
    "expected a prefix of your own, or one of stepwell.grain, stepwell.maximum, stepwell.prepacked, stepwell.reason, "
    "stepwell.rows, stepwell.rows_at_once, stepwell.share, stepwell.strip, stepwell.tiling"
)


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("stepwell.unchecked", None),
        ("stepwell.tilng", "did you mean 'stepwell.tiling'?"),
        ("schedule.foo", None),
        ("tensor_loop.kind", None),
        ("graph.primitive", None),
    ],
)
def test_a_schedule_sets_no_attribute_that_passes_read_except_decisions(key: str, hint: str | None) -> None:
    schedule = schedule_of(LAST)
    block = schedule.get_block("last", "main")
    with pytest.raises(OperationError) as refused:
        schedule.annotate(block, key, UnitAttr())
    assert refusal(refused.value) == (f'a schedule cannot set "{key}" on a block, {BLOCK_KEYS}', hint)
    schedule.annotate(block, "mypkg.key", UnitAttr())
    schedule.annotate(block, "stepwell.grain", 5000)
    with pytest.raises(OperationError) as refused:
        schedule.annotate(schedule.get_loops(block)[0], "stepwell.grain", 5000)
    message = 'a schedule cannot set "stepwell.grain" on a loop, expected a prefix of your own, as in "mypkg.key"'
    assert refusal(refused.value) == (message, None)
    stepwell.parse(str(schedule.module))


def test_a_part_of_a_loop_may_never_run() -> None:
    schedule = schedule_of(NEGATIVE)
    (rows, _) = schedule.get_loops(schedule.get_block("neg", "main"))
    schedule.loop_partition(schedule.split(rows, [5, 3])[0], [3])
    values = np.arange(256, dtype=np.int32).reshape(8, 32)
    assert np.array_equal(stepwell.compile(str(schedule.module), cache=False)(values)[0], values)


def test_a_loop_around_a_block_that_holds_a_reduction_is_cut() -> None:
    schedule = schedule_of(ROWS)
    i, k = schedule.get_loops(schedule.get_block("m", "main"))
    schedule.blockize(k)
    schedule.loop_partition(i, [2])
    values = np.arange(48, dtype=np.int32).reshape(6, 8)
    assert np.array_equal(stepwell.compile(str(schedule.module), cache=False)(values)[0], values.sum(1) + 9)


INNER = """
tensor_loop.func @main(%A: memref<6x8xi32>) outs(%B: memref<6xi32>) {
  tensor_loop.for %i in 6 {
    tensor_loop.for %k in 8 {
      tensor_loop.block "outer" spatial(%u in 6 = %i) reduce(%q in 8 = %k) {
        tensor_loop.block "m" spatial(%v in 6 = %u) reduce(%r in 8 = %q) {
          init {
            %z = arith.constant 9 : i32
            memref.store %z, %B[%v] : memref<6xi32>
          }
          %a = memref.load %A[%v, %r] : memref<6x8xi32>
          %b = memref.load %B[%v] : memref<6xi32>
          %t = arith.addi %b, %a : i32
          memref.store %t, %B[%v] : memref<6xi32>
        }
      }
    }
  }
}"""


def test_a_loop_that_the_init_of_an_inner_block_runs_by_is_not_cut() -> None:
    schedule = schedule_of(INNER)
    _, k = schedule.get_loops(schedule.get_block("outer", "main"))
    with pytest.raises(OperationError) as refused:
        schedule.loop_partition(k, [2])
    assert refusal(refused.value) == (
        'the reduce axes of block "m" depend on loops outside of the block around it',
        "decompose_reduction first",
    )


@pytest.mark.parametrize("which", [0, 1])
def test_an_empty_reduction_is_factored(which: int) -> None:
    empty = ROWS.replace("6x8", "6x0").replace("(6, 8)", "(6, 0)").replace("in 8", "in 0")
    schedule = schedule_of(empty)
    _, k = schedule.get_loops(schedule.get_block("m", "main"))
    schedule.rfactor(schedule.split(k, [None, 2])[which], 1)
    (found,) = stepwell.compile(str(schedule.module), cache=False)(np.zeros((6, 0), np.int32))
    assert np.array_equal(found, np.full(6, 9))


def test_a_loop_is_parallel_where_the_verifier_proves_it() -> None:
    schedule = schedule_of(NEGATIVE)
    block = schedule.get_block("neg", "main")
    outer, inner = schedule.split(schedule.fuse(*schedule.get_loops(block)), [2, None])
    schedule.reorder(inner, outer)
    before = str(schedule.module)
    with pytest.raises(OperationError) as refused:
        schedule.parallel(inner)
    assert refusal(refused.value) == (
        "%xy1 cannot run in parallel: it is not proven that its iterations touch different elements of %B",
        "mark another loop of the nest, or mark it before loops are fused",
    )
    assert str(schedule.module) == before
    schedule.reorder(outer, inner)
    schedule.parallel(outer)
    stepwell.parse(str(schedule.module))


@pytest.mark.parametrize("mapping", ["(d0, d1) -> (d1, d0)", "affine_map<(x, y) -> (y, x)>"])
def test_a_map_may_be_text(mapping: Any) -> None:
    schedule = schedule_of(NEGATIVE)
    schedule.transform_layout(schedule.get_block("neg", "main"), "read", 0, mapping)
    assert "memref<32x8xi32>" in str(schedule.module)
    assert "by affine_map<(d0, d1) -> (d1, d0)>" in str(schedule.program())


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ("(d0, d1) -> (d2)", "'(d0, d1) -> (d2)' is no affine map, expected one such as '(i, j) -> (j, i)'"),
        ("f32", "'f32' is no affine map, expected one such as '(i, j) -> (j, i)'"),
        (3, "3 is no affine map, expected one or its text, such as '(i, j) -> (j, i)'"),
    ],
)
def test_what_is_no_map_is_refused(mapping: Any, message: str) -> None:
    schedule = schedule_of(NEGATIVE)
    with pytest.raises(TypeError) as refused:
        schedule.transform_layout(schedule.get_block("neg", "main"), "read", 0, mapping)
    assert str(refused.value) == message
