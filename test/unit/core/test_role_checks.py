"""What functions say of their arguments is checked by the verifier: each message, and what is right."""

from __future__ import annotations

import re

import numpy as np
import pytest
import stepwell
from stepwell.core.ir.verification import VerificationError
from stepwell.core.messages.diagnostics import OperationError, StepwellError

ENTRY = """
func.func @main({0}, %y: memref<2xf32> {{stepwell.role = "output"{1}}}){2} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 3.0 : f32
  memref.store %f, %y[%c0] : memref<2xf32>
  memref.store %f, %y[%c1] : memref<2xf32>
  func.return
}}
"""

WRONG = {
    '%x: memref<2xf32> {stepwell.role = "inptu"}': "argument 0: 'stepwell.role' is \"inptu\", did you mean 'input'?",
    "%x: memref<2xf32> {stepwell.role = 3}": "argument 0: 'stepwell.role' is 3 : i64, expected one of input, output",
    '%x: memref<2xf32> {stepwell.role = "weight"}': "argument 0 is a weight without 'stepwell.key', its name in the",
    '%x: memref<8xi8> {stepwell.role = "arena"}': "argument 0 is an arena without 'stepwell.bytes', its size",
    '%x: memref<2xf32> {stepwell.role = "arena", stepwell.bytes = 2}': (
        "argument 0 is an arena of type memref<2xf32>, but 'stepwell.bytes' says 2 bytes"
    ),
    '%x: memref<?xi8> {stepwell.role = "arena", stepwell.bytes = 64}': "argument 0 is an arena of type memref<?xi8>",
    '%x: memref<2xf32> {stepwell.dims = "n"}': "argument 0: 'stepwell.dims' is \"n\", expected an array with a text",
    "%x: memref<2xf32> {stepwell.dims = [1]}": "argument 0: 'stepwell.dims' is [1 : i64], expected an array with",
    "%x: memref<2xf32> {stepwell.name = 5}": "argument 0: 'stepwell.name' is 5 : i64, expected a text",
    '%x: memref<2xf32> {stepwell.role = "input", stepwell.name = "a"}, '
    '%z: memref<2xf32> {stepwell.role = "input", stepwell.name = "a"}': 'arguments 0 and 1 are both called "a"',
}


@pytest.mark.parametrize("argument", WRONG)
def test_arguments_that_are_wrong(argument: str) -> None:
    with pytest.raises(VerificationError) as raised:
        stepwell.compile(ENTRY.format(argument, "", ""), cache=False)
    assert WRONG[argument] in str(raised.value)


@pytest.mark.parametrize("axis", [-1, 1, 7])
def test_a_size_is_that_of_a_dimension(axis: int) -> None:
    argument = (
        '%x: memref<?xf32> {stepwell.role = "input"}, '
        f'%n: index {{stepwell.role = "size", stepwell.axis = {axis} : i64}}'
    )
    signature = " attributes {stepwell.signature = (tensor<?xf32>) -> tensor<2xf32>}"
    message = rf"argument 1 is the size of dimension {axis} of a tensor<\?xf32>, expected one below 1"
    with pytest.raises(VerificationError, match=message):
        stepwell.parse(ENTRY.format(argument, "", signature)).verify()
        stepwell.compile(ENTRY.format(argument, "", signature), cache=False)


def test_results_have_names_of_their_own() -> None:
    text = """
    func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32> {stepwell.name = "a"}, tensor<2xf32> {stepwell.name = "B"}) {
      func.return %x, %x : tensor<2xf32>, tensor<2xf32>
    }"""
    assert stepwell.compile(text.replace("B", "b"), cache=False).output_types[1][0] == "b"
    with pytest.raises(VerificationError, match='results 0 and 1 are both called "a"'):
        stepwell.compile(text.replace("B", "a"), cache=False)


def test_a_result_without_a_name_gets_one_that_is_free() -> None:
    exe = stepwell.compile(
        """
        func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32> {stepwell.name = "result1"}, tensor<2xf32>) {
          func.return %x, %x : tensor<2xf32>, tensor<2xf32>
        }""",
        cache=False,
    )
    assert [name for name, _ in exe.output_types] == ["result1", "result1_"]


def test_an_output_and_an_input_may_have_one_name() -> None:
    argument = '%x: memref<2xf32> {stepwell.role = "input", stepwell.name = "a"}'
    stepwell.compile(ENTRY.format(argument, ', stepwell.name = "a"', ""), cache=False)


DIMS = """
func.func @main(%x: tensor<?x4xf32> {{stepwell.dims = ["n", ""]}}) -> (tensor<?x4xf32> {{stepwell.dims = [{0}]}}) {{
  %0 = graph.exp %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %0 : tensor<?x4xf32>
}}
"""


@pytest.mark.parametrize(
    "entries, message",
    [
        ('"n"', "'stepwell.dims' of result 0 has 1 entries, expected 2, one per dimension"),
        ('"m", ""', "dimension 0 of result 0 is 'm', but no argument has one named 'm'"),
        ('"= m + 1", ""', "dimension 0 of result 0 is '= m + 1', but no argument has one named 'm'"),
        ('"= n +", ""', "'stepwell.dims' of result 0: "),
    ],
)
def test_names_of_sizes_of_results(entries: str, message: str) -> None:
    with pytest.raises(VerificationError) as raised:
        stepwell.compile(DIMS.format(entries), cache=False)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "entries, message",
    [
        ('"= n + 1", ""', "dimension 0 of result 0 is 3, expected 4: it is '= n + 1'"),
        ('"n", "n"', "dimension 1 of result 0 is 4, expected 3: it is 'n'"),
    ],
)
def test_sizes_of_results_are_checked_once_they_are_known(entries: str, message: str) -> None:
    x = np.ones((3, 4), np.float32)
    assert stepwell.compile(DIMS.format('"n", ""'), cache=False)(x)[0].shape == (3, 4)
    with pytest.raises((OperationError, StepwellError), match=re.escape(message)):
        stepwell.compile(DIMS.format(entries), cache=False)(x)
