"""Programs on buffers that are written by hand: they leave inputs and weights alone, and run after each pass."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from stepwell.core.ir.verification import VerificationError
from stepwell.core.messages.diagnostics import OperationError
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.errors import diagnostic_of
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.runtime.errors import CompileError, ExecutionError

WRONG = (OperationError, VerificationError)

BUFFER = "memref<2xf32>"
ROLES = f'%x: {BUFFER} {{stepwell.role = "input"}}, %y: {BUFFER} {{stepwell.role = "output"}}'
INDICES = "%c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index"


def entry(body: str, others: str = "", arguments: str = ROLES) -> str:
    return f"{others}\nfunc.func @main({arguments}) {{\n  {INDICES}\n  {body}\n  func.return\n}}"


COPY = f"""%v = memref.load %x[%c0] : {BUFFER}
  memref.store %v, %y[%c0] : {BUFFER}
  memref.store %v, %y[%c1] : {BUFFER}"""

STORES = {
    "directly": (f"memref.store %v, %x[%c0] : {BUFFER}", ""),
    "by a view": (
        f"%s = memref.subview %x[1] [1] [1] : {BUFFER} to memref<1xf32, strided<[1], offset: 1>>\n"
        "  memref.store %v, %s[%c0] : memref<1xf32, strided<[1], offset: 1>>",
        "",
    ),
    "by a copy": (f'"memref.copy"(%y, %x) : ({BUFFER}, {BUFFER}) -> ()', ""),
    "by a call": (
        f"func.call @outer(%y, %x) : ({BUFFER}, {BUFFER}) -> ()",
        f"""
        func.func private @outer(%a: {BUFFER}, %b: {BUFFER}) {{
          func.call @inner(%b) : ({BUFFER}) -> ()
          func.return
        }}
        func.func private @inner(%b: {BUFFER}) {{
          %c0 = arith.constant 0 : index
          %f = arith.constant 1.0 : f32
          memref.store %f, %b[%c0] : {BUFFER}
          func.return
        }}""",
    ),
}


@pytest.mark.parametrize("how", STORES)
def test_inputs_are_not_written(how: str) -> None:
    body, others = STORES[how]
    with pytest.raises(WRONG, match="%x is an input of @main, which is not written") as raised:
        stepwell.compile(entry(f"{COPY}\n  {body}", others), cache=False)
    hint = diagnostic_of(raised.value).hint
    assert hint == "it is the caller's: write to an output, or to a buffer of your own"


def test_weights_are_not_written() -> None:
    weight = f'%x: {BUFFER} {{stepwell.role = "weight", stepwell.key = "w", stepwell.type = tensor<2xf32>}}'
    text = entry(
        f"{COPY}\n  memref.store %v, %x[%c0] : {BUFFER}", "", f'{weight}, %y: {BUFFER} {{stepwell.role = "output"}}'
    )
    with pytest.raises(WRONG, match="%x is a weight of @main, which is not written"):
        stepwell.compile(text, weights={"w": np.ones(2, np.float32)}, cache=False)


def test_calls_that_read_an_input_are_right() -> None:
    others = f"""
    func.func private @copy(%a: {BUFFER}, %b: {BUFFER}) {{
      %c0 = arith.constant 0 : index
      %v = memref.load %a[%c0] : {BUFFER}
      memref.store %v, %b[%c0] : {BUFFER}
      func.return
    }}"""
    text = entry(f"{COPY}\n  func.call @copy(%x, %y) : ({BUFFER}, {BUFFER}) -> ()", others)
    x = np.array([5, 6], np.float32)
    np.testing.assert_array_equal(stepwell.compile(text, cache=False)(x)[0], [5, 5])


@pytest.mark.parametrize("pipeline", ["O0", "O1", "O2", "O3"])
def test_a_program_by_hand_runs_after_its_pipeline(pipeline: str) -> None:
    """Pointers do not say what the buffers were, so the entry gets its signature on the way down."""
    module = parse_text(make_context(), entry(COPY))
    run_pipeline(make_context(), module, pipeline)
    (found,) = stepwell.compile(str(module), pipeline="", cache=False)(np.array([5, 6], np.float32))
    np.testing.assert_array_equal(found, [5, 5])


def test_the_name_of_the_entry_for_c_is_taken() -> None:
    text = entry(COPY) + entry(COPY).replace("@main", "@_stepwell_entry_main")
    with pytest.raises(OperationError, match="@_stepwell_entry_main exists, which is the name of its entry for C"):
        stepwell.compile(text, cache=False)


def test_a_message_may_have_bars() -> None:
    exe = stepwell.compile(entry(f'{COPY}\n  %f = arith.constant false\n  cf.assert %f, "left | right"'), cache=False)
    with pytest.raises(ExecutionError, match=r"left \| right"):
        exe(np.zeros(2, np.float32))


def test_a_weight_without_its_type() -> None:
    weight = f'%x: {BUFFER} {{stepwell.role = "weight", stepwell.key = "w"}}'
    text = entry(COPY, "", f'{weight}, %y: {BUFFER} {{stepwell.role = "output"}}')
    with pytest.raises((OperationError, CompileError), match=r"argument 0 is a weight without 'stepwell\.type'"):
        stepwell.compile(text, weights={"w": np.ones(2, np.float32)}, cache=False)
