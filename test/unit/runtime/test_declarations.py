"""AUDIT G5: functions that are declared and called but defined nowhere."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from xdsl.utils.exceptions import PassFailedException

PROGRAM = """func.func private @NAME(f32) -> f32
func.func @main(%x: memref<4xf32> {stepwell.role = "input"}, %y: memref<4xf32> {stepwell.role = "output"}) {
  %c = arith.constant 0 : index
  %a = memref.load %x[%c] : memref<4xf32>
  %b = func.call @NAME(%a) : (f32) -> f32
  memref.store %b, %y[%c] : memref<4xf32>
  func.return
}"""


@pytest.mark.parametrize("cache", [False, True])
def test_a_function_that_is_defined_nowhere_is_an_error_at_its_declaration(cache: bool):
    with pytest.raises(PassFailedException) as caught:
        stepwell.compile(PROGRAM.replace("NAME", "ext"), cache=cache)
    diagnostic = getattr(caught.value, "diagnostic")  # noqa: B009
    assert diagnostic.message == "'llvm.func': function @ext has no body and is not a function of this process"
    assert diagnostic.hint == "give it a body, or compile it by a code generator (docs/external.md)"
    assert str(diagnostic.point) == "<text>:1:1"


def test_functions_of_the_c_library_are_there():
    program = stepwell.compile(PROGRAM.replace("NAME", "fabsf"), cache=False)
    assert program(np.full(4, -3.0, np.float32))[0][0] == 3.0
