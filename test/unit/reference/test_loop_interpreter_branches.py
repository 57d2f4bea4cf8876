"""Branches of the cf dialect in the interpreter beside native code, and types that it has no numbers of."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from stepwell.core.ir.verification import VerificationError
from stepwell.reference.loops.faults import LoopFault
from stepwell.testing import interpret

SWITCH = """
func.func @main(%x: memref<1xi32> {stepwell.role = "input"}, %y: memref<1xi32> {stepwell.role = "output"}) {
  %c0 = arith.constant 0 : index
  %ten = arith.constant 10 : i32
  %one = arith.constant 1 : i32
  %z = memref.load %x[%c0] : memref<1xi32>
  cf.switch %z : i32, [
    default: ^end(%ten, %one : i32, i32),
    0: ^end(%one, %one : i32, i32),
    CASE: ^middle(%one : i32)
  ]
^middle(%a: i32):
  %b = arith.addi %z, %a : i32
  cf.br ^end(%b, %ten : i32, i32)
^end(%c: i32, %d: i32):
  %r = arith.muli %c, %d : i32
  memref.store %r, %y[%c0] : memref<1xi32>
  func.return
}
"""


@pytest.mark.parametrize("value, expected", [(0, 1), (-7, -60), (7, 10), (2**31 - 1, 10)])
def test_a_switch(value: int, expected: int) -> None:
    text, x = SWITCH.replace("CASE", "-7"), np.array([value], np.int32)
    assert interpret(text, [x])[0] == expected
    assert stepwell.compile(text, cache=False)(x)[0] == expected


def test_a_switch_without_cases() -> None:
    start, end = SWITCH.index("cf.switch"), SWITCH.index("^middle(%a")
    text = f"{SWITCH[:start]}cf.switch %z : i32, [\n    default: ^end(%ten, %one : i32, i32)\n  ]\n{SWITCH[end:]}"
    assert interpret(text, [np.array([3], np.int32)])[0] == 10


def test_a_case_that_stands_twice() -> None:
    with pytest.raises(VerificationError, match=r"'cf\.switch': case 0 stands twice"):
        stepwell.compile(SWITCH.replace("CASE", "0"), cache=False)


def loop(step: int) -> str:
    return f"""
func.func @main(%x: memref<1xi32> {{stepwell.role = "input"}}, %y: memref<1xi32> {{stepwell.role = "output"}}) {{
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %step = arith.constant {step} : index
  %v = memref.load %x[%c0] : memref<1xi32>
  scf.for %i = %c0 to %c4 step %step {{
    memref.store %v, %y[%c0] : memref<1xi32>
  }}
  func.return
}}"""


@pytest.mark.parametrize("step", [0, -1])
def test_a_step_that_is_not_positive(step: int) -> None:
    stepwell.compile(loop(2), cache=False)
    message = rf"'scf\.for': the step is {step}, expected a positive one: the loop would not end"
    with pytest.raises(VerificationError, match=message):
        stepwell.compile(loop(step), cache=False)


VIEWS = """
func.func @main(%x: memref<4x4xf32> {stepwell.role = "input"}, %y: memref<4x4xf32> {stepwell.role = "output"}) {
  "memref.copy"(%x, %y) : (memref<4x4xf32>, memref<4x4xf32>) -> ()
  %a = memref.subview %y[0, 0] [ROWS, 3] [1, 1] : memref<4x4xf32> to ONE
  %b = memref.subview %y[AT, 1] [ROWS, 3] [1, 1] : memref<4x4xf32> to OTHER
  "memref.copy"(%a, %b) : (ONE, OTHER) -> ()
  func.return
}
"""


def views(rows: int, at: int) -> str:
    one = f"memref<{rows}x3xf32, strided<[4, 1]>>"
    other = f"memref<{rows}x3xf32, strided<[4, 1], offset: {4 * at + 1}>>"
    return VIEWS.replace("ONE", one).replace("OTHER", other).replace("ROWS", str(rows)).replace("AT", str(at))


def test_copies_between_views_that_overlap() -> None:
    x = np.arange(16, dtype=np.float32).reshape(4, 4)
    with pytest.raises(LoopFault, match="the views of the copy share elements at other places, and are not both"):
        interpret(views(3, 1), [x])
    apart = x.copy()
    apart[2:, 1:] = x[:2, :3]
    np.testing.assert_array_equal(interpret(views(2, 2), [x])[0], apart)
    np.testing.assert_array_equal(stepwell.compile(views(2, 2), cache=False)(x)[0], apart)


@pytest.mark.parametrize(
    "body",
    [
        "%a = arith.extsi %v : i32 to i128\n  %r = arith.trunci %a : i128 to i32",
        "%a = arith.trunci %v : i32 to i3\n  %r = arith.extsi %a : i3 to i32",
        "%m = memref.alloca() : memref<4xvector<4xi32>>\n  %r = arith.addi %v, %v : i32",
    ],
)
def test_types_that_numpy_has_no_numbers_of(body: str) -> None:
    text = loop(1).replace("  scf.for", f"  {body}\n  scf.for").replace("store %v", "store %r")
    with pytest.raises(LoopFault, match="is no type whose numbers NumPy has") as raised:
        interpret(text, [np.ones(1, np.int32)])
    assert raised.value.kind == "unknown"
