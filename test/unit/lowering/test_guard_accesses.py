"""Accesses that loops do not decide fail cleanly, at their place, however the loop around them runs."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from stepwell import te
from stepwell.core.ir.verification import VerificationError
from stepwell.core.messages.diagnostics import listening
from stepwell.core.text.parsing import make_context, parse
from stepwell.lowering import GuardAccessesPass, LowerLoopsToSCFPass, create_prim_func
from stepwell.runtime.errors import ExecutionError
from xdsl.dialects.builtin import ModuleOp

TAKE = """
tensor_loop.func @main(%A: memref<64xf32>, %I: memref<16xi64>) outs(%S: memref<16xf32>) {
  tensor_loop.for %i in 16 KIND {
    tensor_loop.block "take" spatial(%vi in 16 = %i) {
      %k = memref.load %I[%vi] : memref<16xi64>
      %j = arith.index_cast %k : i64 to index
      %a = memref.load %A[%j] : memref<64xf32>
      memref.store %a, %S[%vi] : memref<16xf32>
    }
  }
}
"""


@pytest.mark.parametrize("kind", ["", "parallel", "vectorized", "unrolled"])
@pytest.mark.parametrize("level", [0, 3])
def test_an_index_from_data_fails_at_its_place(kind: str, level: int) -> None:
    program = stepwell.compile(stepwell.parse(TAKE.replace("KIND ", kind + " ").replace("  {", " {")), opt_level=level)
    data = np.arange(64, dtype=np.float32)
    right = np.array([0, 63, *range(14)])
    np.testing.assert_array_equal(program(data, right)[0], data[right])
    for wrong in (64, -1, 1 << 62, -(1 << 63)):
        indices = right.copy()
        indices[5] = wrong
        with pytest.raises(ExecutionError, match=r"<text>:7:7: error: memref.load: index out of range"):
            program(data, indices)


STORE = """
func.func @main(%I: memref<4xi64> {stepwell.role = "input"}, %S: memref<8xi64> {stepwell.role = "output"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i64
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %zero, %S[%i] : memref<8xi64>
  }
  scf.for %i = %c0 to %c4 step %c1 {
    %k = memref.load %I[%i] : memref<4xi64>
    %j = arith.index_cast %k : i64 to index
    memref.store %k, %S[%j] : memref<8xi64>
  }
  func.return
}
"""


def test_functions_on_memrefs_are_checked() -> None:
    program = stepwell.compile(stepwell.parse(STORE))
    np.testing.assert_array_equal(program(np.array([7, 0, 3, 3]))[0], [0, 0, 0, 3, 0, 0, 0, 7])
    with pytest.raises(ExecutionError, match=r"<text>:14:5: error: memref.store: index out of range"):
        program(np.array([7, 0, 8, 3]))


def texts(program: str, pass_: GuardAccessesPass | LowerLoopsToSCFPass) -> tuple[str, list[str]]:
    """What a pass makes of a program, and its remarks."""
    module = parse(program)
    found: list[str] = []
    with listening(lambda diagnostic: found.append(diagnostic.message)):
        pass_.apply(make_context(), module)
    return str(module), found


def test_checks_can_be_left_away_for_functions_on_memrefs() -> None:
    assert "cf.assert" in texts(STORE, GuardAccessesPass())[0]
    assert "cf.assert" not in texts(STORE, GuardAccessesPass(check_bounds=False))[0]
    assert "cf.assert" not in texts(STORE, LowerLoopsToSCFPass(check_bounds=False))[0]
    with stepwell.PassContext(config={"check-bounds": False}):
        assert "cf.assert" not in texts(STORE, GuardAccessesPass())[0]
        assert "cf.assert" in texts(TAKE.replace("KIND ", ""), GuardAccessesPass())[0]


def test_remarks_count_what_is_checked_and_proven() -> None:
    assert texts(STORE, GuardAccessesPass())[1] == ["'func.func': @main: 1 access is checked, 2 proven"]
    again, remarks = texts(texts(STORE, GuardAccessesPass())[0], GuardAccessesPass())
    assert remarks == []
    assert again.count("cf.assert") == 1


def test_what_cannot_be_checked_is_an_error() -> None:
    text = """
    func.func @f(%A: memref<8xf32>, %n: index) {
      %B = memref.subview %A[0] [2] [%n] : memref<8xf32> to memref<2xf32, strided<[?]>>
      func.return
    }"""
    expected = "it can neither be proven to stay inside its buffer nor checked, since its strides are not known"
    with pytest.raises(Exception, match=expected):
        texts(text, GuardAccessesPass())


def test_an_alignment_that_is_assumed_is_checked() -> None:
    text = """
    func.func @f(%A: memref<8xf32>) {
      %B = memref.assume_alignment %A, 64 : memref<8xf32>
      func.return
    }"""
    once = texts(text, GuardAccessesPass())[0]
    assert 'cf.assert %4, "memref.assume_alignment: alignment"' in once
    assert texts(once, GuardAccessesPass())[0].count("cf.assert") == 1


def test_tensor_expressions_beyond_their_arguments_are_refused() -> None:
    a = te.placeholder((8,), "f32", name="A")
    for result, reached in (
        (te.compute((9,), lambda i: a[i], name="C"), "0 to 8"),
        (te.compute((3,), lambda i: a[i + 10], name="C"), "10 to 12"),
    ):
        message = f"index 0 is {reached} here, but dimension 0 of %A has 8 elements"
        with pytest.raises(VerificationError, match=message):
            stepwell.compile(ModuleOp([create_prim_func([a, result])]))
