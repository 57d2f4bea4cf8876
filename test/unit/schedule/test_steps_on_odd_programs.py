"""Steps on programs that few people write: a step is refused, or what it leaves verifies and computes the same."""

from __future__ import annotations

import numpy as np
import pytest
from stepwell.core.messages.diagnostics import OperationError
from stepwell.core.text.errors import diagnostic_of
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.runtime.compile import compile as compile_program
from stepwell.schedule.program.interactive import Schedule

LAST = """
tensor_loop.func @main(%A: memref<6x8xi32>) outs(%B: memref<6xi32>) {
  tensor_loop.grid (%i, %j) in (6, 8) {
    tensor_loop.block "last" spatial(%v in 6 = %i, %w in 8 = %j) {
      %a = memref.load %A[%v, %w] : memref<6x8xi32>
      memref.store %a, %B[%v] : memref<6xi32>
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
    assert np.array_equal(compile_program(str(schedule.module))(values)[0], values[:, 7])
