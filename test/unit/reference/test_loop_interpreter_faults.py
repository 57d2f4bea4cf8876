"""Every kind of fault that the interpreter of loops finds, with its message and place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core.text.parsing import make_context
from stepwell.reference import LoopFault
from stepwell.reference.loops.faults import KINDS
from stepwell.reference.loops.state import MAX_DEPTH
from stepwell.testing import interpret

ONES = np.ones(4, np.float32)


def loops(body: str, extent: int = 4, *, kind: str = "", before: str = "", outs: str = "%B: memref<4xf32>") -> str:
    """A loop function on `%A` and its outputs, with one loop around one block."""
    return f"""
    tensor_loop.func @f(%A: memref<4xf32>) outs({outs}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      {before}
      tensor_loop.for %i in {extent} {kind} {{
        tensor_loop.block "b" spatial(%vi in {extent} = %i) {{
          {body}
        }}
      }}
    }}"""


def buffers(body: str, arguments: str = "%A: memref<4xf32>, %B: memref<4xf32>") -> str:
    return f"""
    func.func @f({arguments}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c9 = arith.constant 9 : index
      %zero = arith.constant 0.0 : f32
      {body}
      func.return
    }}"""


def found(text: str, *arrays: Any, max_steps: int = 10_000, max_depth: int = MAX_DEPTH) -> LoopFault:
    """The fault of a program, which is not refused before it runs."""
    with pytest.raises(LoopFault) as caught:
        module = stepwell.parse(text, ctx=make_context(allow_unregistered=True), verify=False)
        interpret(module, arrays or [ONES], "f", max_steps=max_steps, max_depth=max_depth)
    return caught.value


LOAD = "%x = memref.load %A[{}] : memref<4xf32>"
STORE = "memref.store %x, %B[{}] : memref<4xf32>"

CASES: dict[str, tuple[str, tuple[Any, ...], str, str]] = {
    "a load above": (
        loops(f"%k = arith.addi %vi, %c1 : index\n{LOAD.format('%k')}\n{STORE.format('%vi')}"),
        (ONES,),
        "bounds",
        "'memref.load': index 4 is outside of dimension 0 of %A, which has 4",
    ),
    "a store below": (
        loops(f"%k = arith.subi %vi, %c1 : index\n{LOAD.format('%vi')}\n{STORE.format('%k')}"),
        (ONES,),
        "bounds",
        "'memref.store': index -1 is outside of dimension 0 of %B, which has 4",
    ),
    "a load of what nothing has written": (
        loops("%x = memref.load %B[%vi] : memref<4xf32>\n" + STORE.format("%vi")),
        (ONES,),
        "unwritten",
        "'memref.load': element [0] of %B is read, but nothing has written it",
    ),
    "an output that is not written": (
        loops(LOAD.format("%vi") + "\n" + STORE.format("%vi"), 3),
        (ONES,),
        "unwritten",
        "'tensor_loop.func': element [3] of 'B' is returned, but nothing has written it",
    ),
    "a store to an input": (
        loops(LOAD.format("%vi") + "\nmemref.store %x, %A[%vi] : memref<4xf32>"),
        (ONES,),
        "input",
        "'memref.store': %A is written, but it is an input of @f",
    ),
    "two iterations that write": (
        loops(LOAD.format("%vi") + "\n" + STORE.format("%c0"), kind="parallel"),
        (ONES,),
        "race",
        "'memref.store': iterations 0 and 1 of a parallel loop touch element [0] of %B, and one of them writes it",
    ),
    "an axis beyond its extent": (
        """
        tensor_loop.func @f(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
          tensor_loop.for %i in 4 {
            tensor_loop.block "b" spatial(%vi in 3 = %i floordiv 1) {
              %x = memref.load %A[%vi] : memref<4xf32>
              memref.store %x, %B[%vi] : memref<4xf32>
            }
          }
        }""",
        (ONES,),
        "extent",
        "'tensor_loop.block': axis %vi is 3, but its extent is 3",
    ),
    "a step of 0": (
        buffers("scf.for %i = %c0 to %c4 step %c0 {\n}"),
        (ONES, ONES),
        "extent",
        "'scf.for': the step is 0, expected 1 or more",
    ),
    "a view outside of its source": (
        buffers("%v = memref.view %A[%c1][] : memref<4xi8> to memref<f32>", "%A: memref<4xi8>"),
        (np.zeros(4, np.int8),),
        "bounds",
        "'memref.view': bytes 1 to 5 of %A are viewed, which has 4",
    ),
    "a subview outside of its source": (
        buffers("%v = memref.subview %A[2] [3] [1] : memref<4xf32> to memref<3xf32, strided<[1], offset: 2>>"),
        (ONES, ONES),
        "bounds",
        "'memref.subview': index 4 is outside of dimension 0 of %A, which has 4",
    ),
    "a cast outside of its source": (
        buffers(
            "%v = memref.reinterpret_cast %A to offset: [1], sizes: [2, 2], strides: [2, 1]"
            " : memref<4xf32> to memref<2x2xf32, strided<[2, 1], offset: 1>>"
        ),
        (ONES, ONES),
        "bounds",
        "'memref.reinterpret_cast': elements 1 to 4 of %A are viewed, which has 4",
    ),
    "a wrong size": (
        buffers('%d = memref.alloc(%c9) : memref<?xf32>\n%e = "memref.cast"(%d) : (memref<?xf32>) -> memref<4xf32>'),
        (ONES, ONES),
        "bounds",
        "'memref.cast': a buffer of sizes [9] is taken for one of type memref<4xf32>",
    ),
    "lanes outside": (
        buffers("%v = vector.load %A[%c1] : memref<4xf32>, vector<4xf32>"),
        (ONES, ONES),
        "bounds",
        "'vector.load': index 4 is outside of dimension 0 of %A, which has 4",
    ),
    "a tile outside": (
        buffers("%v = tile.load %A[%c1] : memref<4xf32>, vector<1x4xf32>"),
        (ONES, ONES),
        "bounds",
        "'tile.load': index 4 is outside of dimension 0 of %A, which has 4",
    ),
    "a buffer that is freed twice": (
        buffers(
            "%d = memref.alloc() : memref<4xf32>\nmemref.dealloc %d : memref<4xf32>\nmemref.dealloc %d : memref<4xf32>"
        ),
        (ONES, ONES),
        "lifetime",
        "'memref.dealloc': %d is freed twice",
    ),
    "a buffer that is used after it is freed": (
        buffers(
            "%d = memref.alloc() : memref<4xf32>\nmemref.dealloc %d : memref<4xf32>\n"
            "memref.store %zero, %d[%c0] : memref<4xf32>"
        ),
        (ONES, ONES),
        "lifetime",
        "'memref.store': %d is used after its end",
    ),
    "an argument that is freed": (
        buffers("memref.dealloc %A : memref<4xf32>"),
        (ONES, ONES),
        "lifetime",
        "'memref.dealloc': %A is freed, but it does not come from 'memref.alloc'",
    ),
    "a negative size": (
        buffers("%m = arith.subi %c0, %c1 : index\n%d = memref.alloc(%m) : memref<?xf32>"),
        (ONES, ONES),
        "bounds",
        "'memref.alloc': a buffer of sizes [-1] is made; sizes are 0 or more",
    ),
    "an op that is not known": (
        buffers('"test.op"() : () -> ()'),
        (ONES, ONES),
        "unknown",
        "'test.op': the interpreter does not know this op",
    ),
    "too few arrays": (
        buffers(""),
        (ONES,),
        "unknown",
        "'func.func': 1 arrays are given, expected 2 (A, B)",
    ),
    "an array of another shape": (
        buffers(""),
        (ONES, np.ones(5, np.float32)),
        "unknown",
        "'func.func': argument 'B' is memref<4xf32>, found float32 of shape [5]",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_fault_is_found_and_named(name: str) -> None:
    text, arrays, kind, message = CASES[name]
    fault = found(text, *arrays)
    assert (fault.kind, fault.diagnostic.message) == (kind, message)
    assert fault.diagnostic.point is not None and fault.diagnostic.point.file == "<text>"


def test_every_kind_of_fault_has_a_test() -> None:
    assert {kind for _, _, kind, _ in CASES.values()} | {"alias", "endless"} == set(KINDS)


def test_a_race_names_both_places() -> None:
    text = loops(
        LOAD.format("%vi") + "\n" + STORE.format("%vi") + "\n%y = memref.load %B[%c0] : memref<4xf32>", kind="parallel"
    )
    fault = found(text)
    lines = text.splitlines()
    (note,) = fault.diagnostic.notes
    assert fault.kind == "race" and note.message == "'memref.store' is the other access"
    assert fault.diagnostic.point is not None and note.point is not None
    assert "memref.load %B" in lines[fault.diagnostic.point.line - 1]
    assert "memref.store" in lines[note.point.line - 1]
    assert "hint: make the loop serial, or give each iteration its own" in str(fault)


def test_each_iteration_may_have_its_own_buffer() -> None:
    text = loops(
        """%T = memref.alloca() : memref<1xf32>
        %x = memref.load %A[%vi] : memref<4xf32>
        memref.store %x, %T[%c0] : memref<1xf32>
        %y = memref.load %T[%c0] : memref<1xf32>
        memref.store %y, %B[%vi] : memref<4xf32>""",
        kind="parallel",
    )
    (result,) = interpret(text, [ONES])
    assert result.tolist() == [1, 1, 1, 1]


CALLS = """
tensor_loop.func private @copy(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "b" spatial(%vi in 4 = %i) {
      %x = memref.load %A[%vi] : memref<4xf32>
      memref.store %x, %B[%vi] : memref<4xf32>
    }
  }
}
tensor_loop.func private @summed(%A: memref<4xf32>, %T: memref<4xf32> {stepwell.temporary},
    %U: memref<4xf32> {stepwell.temporary}) outs(%B: memref<4xf32>) {
  tensor_loop.for %i in 4 {
    tensor_loop.block "b" spatial(%vi in 4 = %i) {
      %x = memref.load %A[%vi] : memref<4xf32>
      memref.store %x, %B[%vi] : memref<4xf32>
    }
  }
}
func.func private @inner(%A: memref<4xf32>, %B: memref<4xf32>) attributes {stepwell.noalias} {
  %c0 = arith.constant 0 : index
  %x = memref.load %A[%c0] : memref<4xf32>
  memref.store %x, %B[%c0] : memref<4xf32>
  func.return
}
func.func @f(%A: memref<4xf32>) {
  %T = memref.alloc() : memref<4xf32>
  %B = memref.alloc() : memref<4xf32>
  CALL
  func.return
}
"""


@pytest.mark.parametrize(
    "call, message",
    [
        (
            "tensor_loop.call @copy(%A) outs(%A) : (memref<4xf32>) outs(memref<4xf32>)",
            "'tensor_loop.call': call of @copy: number 0 of the outputs shares memory with number 0 of the inputs",
        ),
        (
            "func.call @inner(%A, %A) : (memref<4xf32>, memref<4xf32>) -> ()",
            "'memref.store': %B is written, but it shares memory with another argument of @inner",
        ),
        (
            "tensor_loop.call @summed(%A, %T, %T) outs(%B) "
            ": (memref<4xf32>, memref<4xf32>, memref<4xf32>) outs(memref<4xf32>)",
            "'tensor_loop.call': call of @summed: number 0 of the temporaries shares memory with number 1 of them",
        ),
        (
            "tensor_loop.call @summed(%A, %T, %A) outs(%B) "
            ": (memref<4xf32>, memref<4xf32>, memref<4xf32>) outs(memref<4xf32>)",
            "'tensor_loop.call': call of @summed: number 1 of the temporaries shares memory with number 0 of the "
            "inputs",
        ),
    ],
)
def test_arguments_that_share_memory(call: str, message: str) -> None:
    fault = found(CALLS.replace("CALL", call), ONES)
    assert (fault.kind, fault.diagnostic.message) == ("alias", message)


@pytest.mark.parametrize("calls", [("no",), ("yes", "no")])
def test_a_temporary_holds_nothing_before_and_after_a_call(calls: tuple[str, ...]) -> None:
    made = "\n".join(f"func.call @inner(%A, %{each}) : (memref<1xf32>, i1) -> ()" for each in calls)
    text = """
    func.func private @inner(%T: memref<1xf32> {stepwell.temporary}, %first: i1) {
      %c0 = arith.constant 0 : index
      %x = arith.constant 1.0 : f32
      scf.if %first { memref.store %x, %T[%c0] : memref<1xf32> }
      %y = memref.load %T[%c0] : memref<1xf32>
      func.return
    }
    func.func @f(%A: memref<1xf32>) {
      %yes = arith.constant true
      %no = arith.constant false
      CALLS
      func.return
    }""".replace("CALLS", made)
    fault = found(text, np.ones(1, np.float32))
    assert fault.diagnostic.message == "'memref.load': element [0] of %T is read, but nothing has written it"


def test_an_endless_program_ends() -> None:
    text = buffers(
        """%true = arith.constant true
        %w = scf.while (%k = %c0) : (index) -> index {
          scf.condition(%true) %k : index
        } do {
        ^bb0(%k: index):
          scf.yield %k : index
        }"""
    )
    fault = found(text, ONES, ONES, max_steps=1000)
    assert (fault.kind, fault.diagnostic.hint) == ("endless", "max_steps sets the limit")
    assert fault.diagnostic.message.endswith("the program has not ended after 1000 steps")


@pytest.mark.parametrize("depth", [5, 1000])
def test_calls_without_end_end(depth: int) -> None:
    text = "func.func @f(%n: index) {\n  func.call @f(%n) : (index) -> ()\n  func.return\n}\n"
    fault = found(text, np.int64(1), max_depth=depth)
    assert (fault.kind, fault.diagnostic.hint) == ("endless", "max_depth sets the limit")
    assert fault.diagnostic.message == f"'func.call': calls are nested more than {depth} deep"


def test_an_entry_is_found_or_named() -> None:
    with pytest.raises(stepwell.StepwellError) as caught:
        interpret("func.func @g(%n: index) {\n  func.return\n}\nfunc.func @h(%n: index) {\n  func.return\n}\n", [1])
    assert str(caught.value) == (
        "error: the program has 2 public functions (@g, @h), expected one or @main\nhint: name one by 'entry'"
    )
    with pytest.raises(LoopFault) as missing:
        interpret("func.func @g(%n: index) {\n  func.return\n}\n", [1], "x")
    assert missing.value.diagnostic.message == "'builtin.module': the module has no function @x"


def test_a_function_without_a_body_is_not_interpreted() -> None:
    fault = found(
        "func.func private @g()\nfunc.func @f(%n: index) {\n  func.call @g() : () -> ()\n  func.return\n}\n", 1
    )
    assert fault.diagnostic.message == "'func.call': @g has no body in this module, so it cannot be interpreted"
