"""Ops that fail: the reference and native code report the same op, reason and place."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from stepwell import reference
from stepwell.reference import ReferenceFailure
from stepwell.runtime.errors import ExecutionError

DIVISIONS = ("divide", "floor_divide", "mod")

PROGRAM = """func.func @main(%x: tensor<4x{type}>, %y: tensor<4x{type}>, %i: tensor<2xi32>) \
-> (tensor<4x{type}>, tensor<2x{type}>) {{
  %a = graph.{op} %x, %y : (tensor<4x{type}>, tensor<4x{type}>) -> tensor<4x{type}>
  %b = graph.take %a, %i, axis = 0 : (tensor<4x{type}>, tensor<2xi32>) -> tensor<2x{type}>
  func.return %a, %b : tensor<4x{type}>, tensor<2x{type}>
}}"""


def both_fail(text: str, program: stepwell.Executable, *arrays: np.ndarray) -> ExecutionError:
    """Native code fails as the reference does; what it raises."""
    with pytest.raises(ReferenceFailure) as expected:
        reference.run(stepwell.parse(text), "main", *arrays)
    with pytest.raises(ExecutionError) as found:
        program(*arrays)
    assert found.value.reason == expected.value.message
    assert found.value.location == expected.value.location
    assert expected.value.message in str(found.value) and str(found.value).startswith(expected.value.location)
    return found.value


@pytest.mark.parametrize("dtype", ["i8", "i64", "ui16"])
@pytest.mark.parametrize("op", DIVISIONS)
def test_first_failing_op_is_reported(op: str, dtype: str) -> None:
    numpy_type = {"i8": np.int8, "i64": np.int64, "ui16": np.uint16}[dtype]
    text = PROGRAM.format(op=op, type=dtype)
    program = stepwell.compile(text, cache=False)
    x = np.array([7, 6, 5, 4], numpy_type)
    good, zero = np.array([2, 3, 1, 1], numpy_type), np.array([2, 3, 1, 0], numpy_type)
    inside, outside, below = (np.array(values, np.int32) for values in ([0, -4], [1, 4], [-5, 0]))
    assert both_fail(text, program, x, zero, inside).reason == f"graph.{op}: integer division by zero"
    assert both_fail(text, program, x, good, outside).reason == "graph.take: index out of range"
    both_fail(text, program, x, good, below)
    # Both would fail: the division stands first.
    assert both_fail(text, program, x, zero, outside).location == "<text>:2:3"
    # The program is still usable after a failure.
    for found, expected in zip(
        program(x, good, inside), reference.run(stepwell.parse(text), "main", x, good, inside), strict=True
    ):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["i8", "ui8", "i64", "ui64"])
def test_indices_of_every_width_are_checked(dtype: str) -> None:
    numpy_type = np.dtype({"i8": np.int8, "ui8": np.uint8, "i64": np.int64, "ui64": np.uint64}[dtype])
    text = f"""func.func @main(%x: tensor<3x2xf32>, %i: tensor<1x{dtype}>) -> tensor<3x1xf32> {{
  %a = graph.take %x, %i, axis = -1 : (tensor<3x2xf32>, tensor<1x{dtype}>) -> tensor<3x1xf32>
  func.return %a : tensor<3x1xf32>
}}"""
    program = stepwell.compile(text, cache=False)
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    limits = np.iinfo(numpy_type)
    for index in {2, int(limits.max), int(limits.min) or 3}:
        both_fail(text, program, x, np.array([index], numpy_type))
    for index in (0, 1) if dtype.startswith("u") else (0, 1, -1, -2):
        assert np.array_equal(program(x, np.array([index], numpy_type))[0], x[:, [index]])


def test_smallest_integer_by_minus_one_wraps_and_does_not_trap() -> None:
    for dtype, numpy_type in (("i8", np.int8), ("i32", np.int32), ("i64", np.int64)):
        ops = "".join(
            f"  %{op} = graph.{op} %x, %y : (tensor<2x{dtype}>, tensor<2x{dtype}>) -> tensor<2x{dtype}>\n"
            for op in DIVISIONS
        )
        types = ", ".join([f"tensor<2x{dtype}>"] * 3)
        text = (
            f"func.func @main(%x: tensor<2x{dtype}>, %y: tensor<2x{dtype}>) -> ({types}) {{\n{ops}"
            f"  func.return %divide, %floor_divide, %mod : {types}\n}}"
        )
        least = np.iinfo(numpy_type).min
        quotient, floor, remainder = stepwell.compile(text, cache=False)(
            np.array([least, 5], numpy_type), np.array([-1, -1], numpy_type)
        )
        assert quotient.tolist() == floor.tolist() == [least, -5] and remainder.tolist() == [0, 0]


def test_unused_failing_op_may_fail_or_be_removed_but_never_crashes() -> None:
    text = """func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %a = graph.divide %x, %x : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  func.return %x : tensor<2xi32>
}"""
    x = np.array([0, 1], np.int32)
    for level in (0, 3):
        program = stepwell.compile(text, opt_level=level, cache=False)
        try:
            assert np.array_equal(program(x)[0], x)
        except ExecutionError as error:
            assert error.reason == "graph.divide: integer division by zero"


def test_branch_not_taken_does_not_fail() -> None:
    text = """func.func @main(%x: tensor<2xi32>, %c: tensor<i1>) -> tensor<2xi32> {
  %k = tensor.extract %c[] : tensor<i1>
  %r = scf.if %k -> (tensor<2xi32>) {
    %a = graph.divide %x, %x : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    scf.yield %a : tensor<2xi32>
  } else {
    scf.yield %x : tensor<2xi32>
  }
  func.return %r : tensor<2xi32>
}"""
    program = stepwell.compile(text, cache=False)
    x = np.array([0, 1], np.int32)
    assert np.array_equal(program(x, np.array(False))[0], x)
    assert both_fail(text, program, x, np.array(True)).location == "<text>:4:5"
