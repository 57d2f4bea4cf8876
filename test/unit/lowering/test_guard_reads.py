"""Reads of elements that nothing has written fail cleanly, at their place, where no proof says that there are none."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from stepwell.core.messages.diagnostics import OperationError
from stepwell.core.text.parsing import make_context, parse
from stepwell.lowering import GuardAccessesPass, LowerLoopsToSCFPass, ProveWrittenPass
from stepwell.runtime.errors import ExecutionError

PUT = """
tensor_loop.func @main(%A: memref<16xf32>, %I: memref<16xi64>) outs(%S: memref<16xf32>) {
  ALLOC
  tensor_loop.for %i in 16 {
    tensor_loop.block "put" spatial(%vi in 16 = %i) {
      %k = memref.load %I[%vi] : memref<16xi64>
      %j = arith.index_cast %k : i64 to index
      %a = memref.load %A[%vi] : memref<16xf32>
      memref.store %a, %T[%j] : TYPE
    }
  }
  tensor_loop.for %i in 16 KIND {
    tensor_loop.block "copy" spatial(%vi in 16 = %i) {
      %a = memref.load %T[%vi] : TYPE
      memref.store %a, %S[%vi] : memref<16xf32>
    }
  }
  FREE
}
"""

ALLOCS = {
    "of the function": ("%T = tensor_loop.alloc : TYPE", ""),
    "on the stack": ("%T = memref.alloca() : TYPE", ""),
    "on the heap": ("%T = memref.alloc() : TYPE", "memref.dealloc %T : TYPE"),
}
RIGHT = np.arange(16)[::-1].copy()
DATA = np.arange(16, dtype=np.float32)


def put(alloc: str, kind: str = "", type_: str = "memref<16xf32>") -> str:
    made, freed = ALLOCS[alloc]
    text = PUT.replace("ALLOC", made).replace("FREE", freed).replace("KIND ", f"{kind} " if kind else "")
    return text.replace("TYPE", type_)


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize(("alloc", "kind"), [*((each, "") for each in ALLOCS), ("of the function", "parallel")])
@pytest.mark.parametrize("level", [0, 3])
def test_an_element_that_the_data_leave_out_fails_where_it_is_read(alloc: str, kind: str, level: int) -> None:
    program = stepwell.compile(stepwell.parse(put(alloc, kind)), opt_level=level)
    np.testing.assert_array_equal(program(DATA, RIGHT)[0], DATA[::-1])
    twice = RIGHT.copy()
    twice[3] = twice[4]
    with pytest.raises(ExecutionError, match=r"<text>:14:7: error: memref.load: element was never written"):
        program(DATA, twice)
    np.testing.assert_array_equal(program(DATA, RIGHT)[0], DATA[::-1])


def test_an_output_that_is_not_whole_fails_at_its_function() -> None:
    text = (
        put("of the function")
        .replace("%S[%vi]", "%S[%j]")
        .replace(
            "%a = memref.load %T[%vi] : memref<16xf32>",
            "%k = memref.load %I[%vi] : memref<16xi64>\n%j = arith.index_cast %k : i64 to index\n"
            "%a = memref.load %A[%vi] : memref<16xf32>",
        )
    )
    program = stepwell.compile(stepwell.parse(text))
    np.testing.assert_array_equal(program(DATA, RIGHT)[0], DATA[::-1])
    twice = RIGHT.copy()
    twice[3] = twice[4]
    with pytest.raises(ExecutionError, match=r"tensor_loop.func: an element of %S was never written"):
        program(DATA, twice)


LANES = """
tensor_loop.func @main(%A: memref<8xf32>, %I: memref<1xi64>) outs(%S: memref<8xf32>) {
  %T = tensor_loop.alloc : memref<8xf32>
  tensor_loop.block "copy" {
    %c0 = arith.constant 0 : index
    %n = memref.load %I[%c0] : memref<1xi64>
    %size = arith.index_cast %n : i64 to index
    %mask = vector.create_mask %size : vector<8xi1>
    %pass = arith.constant dense<0.0> : vector<8xf32>
    %a = vector.load %A[%c0] : memref<8xf32>, vector<8xf32>
    vector.maskedstore %T[%c0], %mask, %a : memref<8xf32>, vector<8xi1>, vector<8xf32>
    %t = READ
    vector.store %t, %S[%c0] : memref<8xf32>, vector<8xf32>
  }
}
"""


def test_lanes_are_checked_one_by_one() -> None:
    whole = LANES.replace("READ", "vector.load %T[%c0] : memref<8xf32>, vector<8xf32>")
    masked = LANES.replace(
        "READ",
        "vector.maskedload %T[%c0], %mask, %pass : memref<8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>",
    )
    data = np.arange(8, dtype=np.float32)
    program = stepwell.compile(stepwell.parse(whole))
    np.testing.assert_array_equal(program(data, np.array([8]))[0], data)
    with pytest.raises(ExecutionError, match="vector.load: element was never written"):
        program(data, np.array([7]))
    np.testing.assert_array_equal(
        stepwell.compile(stepwell.parse(masked))(data, np.array([5]))[0], np.where(np.arange(8) < 5, data, 0)
    )


def test_what_is_proven_before_the_schedule_is_not_checked_after_it() -> None:
    text = put("of the function").replace("%T[%j]", "%T[%vi]")
    module = parse(text)
    ProveWrittenPass().apply(make_context(), module)
    assert "stepwell.written" in str(module)
    LowerLoopsToSCFPass().apply(make_context(), module)
    assert "never written" not in str(module) and "stepwell.written" not in str(module)


def test_what_cannot_be_checked_is_refused() -> None:
    module = parse(
        """tensor_loop.func @main(%I: memref<4xi64>) outs(%S: memref<4x2xf32, strided<[4, 1]>>) {
          %c0 = arith.constant 0 : index
          %x = arith.constant 1.0 : f32
          %k = memref.load %I[%c0] : memref<4xi64>
          %j = arith.index_cast %k : i64 to index
          %V = memref.subview %S[0, 0] [4, 1] [1, 1]
            : memref<4x2xf32, strided<[4, 1]>> to memref<4x1xf32, strided<[4, 1]>>
          memref.store %x, %V[%j, %c0] : memref<4x1xf32, strided<[4, 1]>>
        }"""
    )
    with pytest.raises(OperationError) as caught:
        GuardAccessesPass().apply(make_context(), module)
    assert "%S is not proven to be written before it is read, nor can views of it be checked" in str(caught.value)
