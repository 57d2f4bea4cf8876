"""Entries whose code would reach further than the arrays that callers give are refused, with their place."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from stepwell.core.ir.verification import VerificationError
from stepwell.core.messages.diagnostics import OperationError, render
from stepwell.runtime.errors import CompileError

BUFFERS = """
func.func @main(%A: TYPE {stepwell.role = "input"}, %B: memref<2x3xf32> {stepwell.role = "output"}) SIGNATURE {
  %c1 = arith.constant 1 : index
  %a = memref.load %A[%c1, %c1] : TYPE
  memref.store %a, %B[%c1, %c1] : memref<2x3xf32>
  func.return
}
"""

LOOPS = """
tensor_loop.func @main(%A: TYPE) outs(%B: memref<2x3xf32>) SIGNATURE {
  tensor_loop.grid (%i, %j) in (2, 3) {
    tensor_loop.block "copy" spatial(%vi in 2 = %i, %vj in 3 = %j) {
      %a = memref.load %A[%vi, %vj] : TYPE
      memref.store %a, %B[%vi, %vj] : memref<2x3xf32>
    }
  }
}
"""

PLAIN, ROWS = "memref<2x3xf32>", "memref<2x3xf32, strided<[3, 1]>>"


def program(text: str, type_: str = PLAIN, signature: str = "") -> str:
    given = f"attributes {{stepwell.signature = {signature}}}" if signature else ""
    return text.replace("TYPE", type_).replace("SIGNATURE", given)


def refusal(text: str) -> str:
    with pytest.raises(OperationError) as error:
        stepwell.compile(text)
    message = render(error.value.diagnostic)
    assert message.startswith("<text>:2:1: error: ")
    return message


@pytest.mark.parametrize("text", [BUFFERS, LOOPS])
@pytest.mark.parametrize("type_", [PLAIN, ROWS, "memref<?x3xf32, strided<[?, ?]>>"])
def test_entries_that_fit_run(text: str, type_: str) -> None:
    exe = stepwell.compile(program(text, type_))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    out = np.zeros((2, 3), np.float32)
    exe.run_into([out], x)
    assert out[1, 1] == 4


@pytest.mark.parametrize("text", [BUFFERS, LOOPS])
@pytest.mark.parametrize(
    "type_",
    [
        "memref<2x3xf32, strided<[5, 1]>>",
        "memref<2x3xf32, strided<[1, 2]>>",
        "memref<2x3xf32, strided<[3, 1], offset: 7>>",
        "memref<?x?xf32, strided<[3, 1]>>",
        "memref<?x3xf32, strided<[1, ?]>>",
    ],
)
def test_strides_that_are_not_those_of_rows_are_refused(text: str, type_: str) -> None:
    """NumPy's arrays would be read at other places, some of them outside."""
    message = refusal(program(text, type_))
    assert f"argument 0 is a buffer of type {type_}, expected a row-major one" in message
    assert "hint: write strided<[?, …]> for strides that come with each array" in message


@pytest.mark.parametrize("text", [BUFFERS, LOOPS])
@pytest.mark.parametrize(
    "type_", ["tensor<1x3xf32>", "tensor<2x3xf64>", "tensor<6xf32>", "tensor<?x3xf32>", "memref<2x3xf32>"]
)
def test_a_signature_of_other_types_is_refused(text: str, type_: str) -> None:
    message = refusal(program(text, signature=f"({type_}) -> tensor<2x3xf32>"))
    assert f"argument 0 is a buffer of type memref<2x3xf32>, but 'stepwell.signature' says {type_}" in message


def test_a_signature_counts_the_arguments() -> None:
    message = refusal(program(LOOPS, signature="() -> tensor<2x3xf32>"))
    assert "'stepwell.signature' has 1 types, expected 2, one per argument" in message
    message = refusal(program(BUFFERS, signature="(tensor<2x3xf32>) -> ()"))
    assert "'stepwell.signature' has 0 outputs, but 1 arguments have that role" in message


def test_a_signature_is_a_function_type() -> None:
    message = refusal(program(LOOPS, signature='"tensor"'))
    assert "'stepwell.signature' is \"tensor\", expected a function type on tensors" in message


def test_a_signature_on_tensors_is_the_type_of_the_function() -> None:
    message = refusal("""
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> attributes {stepwell.signature = (tensor<4xf32>) -> tensor<8xf32>} {
  func.return %x : tensor<8xf32>
}
""")
    assert "'stepwell.signature' is (tensor<4xf32>) -> tensor<8xf32>, but the function is of type" in message


WEIGHT = """
func.func @main(
  %x: memref<8xf32> {stepwell.role = "input"},
  %w: memref<WxT> {stepwell.role = "weight", stepwell.key = "w", stepwell.type = tensor<8xf32>},
  %y: memref<8xf32> {stepwell.role = "output"},
  %t: memref<64xi8> {stepwell.role = "arena", stepwell.bytes = BYTES}
) attributes {stepwell.signature = (tensor<8xf32>) -> tensor<8xf32>} {
  func.return
}
"""


@pytest.mark.parametrize("type_", ["9xf32", "8xf64", "?xf32"])
def test_a_weight_is_what_its_type_says(type_: str) -> None:
    message = refusal(WEIGHT.replace("WxT", type_).replace("BYTES", "64"))
    assert f"argument 1 is a buffer of type memref<{type_}>, but 'stepwell.type' says tensor<8xf32>" in message


def test_an_arena_has_its_bytes() -> None:
    message = "argument 3 is an arena of type memref<64xi8>, but 'stepwell.bytes' says 63 bytes"
    with pytest.raises(VerificationError, match=message):
        stepwell.compile(WEIGHT.replace("WxT", "8xf32").replace("BYTES", "63"))
    exe = stepwell.compile(
        WEIGHT.replace("WxT", "8xf32").replace("BYTES", "64"), weights={"w": np.zeros(8, np.float32)}
    )
    exe.run_into([np.zeros(8, np.float32)], np.zeros(8, np.float32))


def test_one_function_is_a_program() -> None:
    module = stepwell.parse(program(LOOPS))
    function = next(iter(module.ops))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(stepwell.compile(function)(x)[0], x)
    assert function.parent_op() is module
    inner = next(op for op in function.walk() if op.name == "memref.load")
    with pytest.raises(CompileError) as error:
        stepwell.compile(inner)
    assert str(error.value) == "found a 'memref.load', expected a module, a function, a path or program text"
