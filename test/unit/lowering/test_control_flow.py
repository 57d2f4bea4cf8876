"""
`scf.if` and `scf.for` on tensors, private functions and aliased results: native code at every level, and the reference.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from numeric import Array
from stepwell import reference
from stepwell.reference import ReferenceFailure
from stepwell.runtime.errors import ExecutionError
from tolerances import check_same

PIPELINES = ("O0", "O1", "O3", "to-loops,bufferize{reuse=false}", "to-loops,bufferize{separate=true}")

T = "tensor<4xi32>"

SWAP = f"""func.func @main(%x: {T}, %y: {T}, %n: tensor<i64>) -> ({T}, {T}, {T}) {{
  %k = tensor.extract %n[] : tensor<i64>
  %hi = arith.index_cast %k : i64 to index
  %lo = arith.constant 0 : index
  %step = arith.constant 1 : index
  %a, %b, %c = scf.for %i = %lo to %hi step %step iter_args(%p = %x, %q = %y, %r = %x) -> ({T}, {T}, {T}) {{
    %s = graph.add %p, %r : ({T}, {T}) -> {T}
    scf.yield %q, %p, %s : {T}, {T}, {T}
  }}
  func.return %c, %a, %b : {T}, {T}, {T}
}}"""

ROTATE = f"""func.func @main(%x: {T}, %y: {T}, %n: tensor<i64>) -> {T} {{
  %one = graph.constant dense<1> : {T}
  %k = tensor.extract %n[] : tensor<i64>
  %hi = arith.index_cast %k : i64 to index
  %lo = arith.constant 0 : index
  %step = arith.constant 2 : index
  %a, %b, %c = scf.for %i = %lo to %hi step %step iter_args(%p = %x, %q = %y, %r = %one) -> ({T}, {T}, {T}) {{
    scf.yield %q, %r, %p : {T}, {T}, {T}
  }}
  %s = graph.subtract %a, %b : ({T}, {T}) -> {T}
  %t = graph.multiply %s, %c : ({T}, {T}) -> {T}
  %u = graph.add %t, %x : ({T}, {T}) -> {T}
  func.return %u : {T}
}}"""

NESTED = f"""func.func @main(%x: {T}, %y: {T}, %n: tensor<i64>) -> ({T}, {T}) {{
  %three = arith.constant 3 : i64
  %k = tensor.extract %n[] : tensor<i64>
  %hi = arith.index_cast %k : i64 to index
  %lo = arith.constant 0 : index
  %step = arith.constant 1 : index
  %base = graph.add %x, %y : ({T}, {T}) -> {T}
  %r = scf.for %i = %lo to %hi step %step iter_args(%acc = %base) -> ({T}) {{
    %inner = scf.for %j = %lo to %hi step %step iter_args(%b = %acc) -> ({T}) {{
      %t = graph.subtract %b, %y : ({T}, {T}) -> {T}
      scf.yield %t : {T}
    }}
    %w = arith.index_cast %i : index to i64
    %c = arith.cmpi slt, %w, %three : i64
    %d = scf.if %c -> ({T}) {{
      %e = graph.add %inner, %acc : ({T}, {T}) -> {T}
      %f = graph.multiply %e, %base : ({T}, {T}) -> {T}
      scf.yield %f : {T}
    }} else {{
      scf.yield %acc : {T}
    }}
    scf.yield %d : {T}
  }}
  func.return %r, %base : {T}, {T}
}}"""

CALLS = f"""func.func private @twice(%x: {T}, %y: {T}) -> ({T}, {T}) {{
  %a = graph.add %x, %x : ({T}, {T}) -> {T}
  %b = graph.add %a, %y : ({T}, {T}) -> {T}
  %c = graph.add %b, %y : ({T}, {T}) -> {T}
  func.return %x, %c : {T}, {T}
}}
func.func @main(%x: {T}, %y: {T}, %n: tensor<i64>) -> ({T}, {T}, {T}) {{
  %zero = arith.constant 0 : i64
  %k = tensor.extract %n[] : tensor<i64>
  %c = arith.cmpi sgt, %k, %zero : i64
  %p, %q = func.call @twice(%x, %x) : ({T}, {T}) -> ({T}, {T})
  %r, %s = scf.if %c -> ({T}, {T}) {{
    %u, %v = func.call @twice(%q, %y) : ({T}, {T}) -> ({T}, {T})
    scf.yield %v, %u : {T}, {T}
  }} else {{
    scf.yield %p, %p : {T}, {T}
  }}
  func.return %r, %s, %r : {T}, {T}, {T}
}}"""

PROGRAMS = {"swap": SWAP, "rotate": ROTATE, "nested": NESTED, "calls": CALLS}


def inputs(count: int) -> list[Array]:
    random = np.random.default_rng(count)
    values = [random.integers(-9, 9, 4).astype(np.int32) for _ in range(2)]
    return [*values, np.array(count, np.int64)]


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_with_regions_and_calls(name: str, pipeline: str) -> None:
    text = PROGRAMS[name]
    program = stepwell.compile(text, pipeline=pipeline, cache=False)
    for count in (0, 1, 2, 5):
        arrays = inputs(count)
        check_same(program(*arrays), reference.run(stepwell.parse(text), "main", *arrays))


EXTRACT = """func.func @main(%x: tensor<3x4xf32>, %i: tensor<i64>, %j: tensor<ui8>) -> tensor<3x4xf32> {
  %a = tensor.extract %i[] : tensor<i64>
  %row = arith.index_cast %a : i64 to index
  %column = arith.constant 3 : index
  %v = tensor.extract %x[%row, %column] : tensor<3x4xf32>
  %zero = arith.constant 0.0 : f32
  %positive = arith.cmpf ogt, %v, %zero : f32
  %r = scf.if %positive -> (tensor<3x4xf32>) {
    %n = graph.negative %x : (tensor<3x4xf32>) -> tensor<3x4xf32>
    scf.yield %n : tensor<3x4xf32>
  } else {
    scf.yield %x : tensor<3x4xf32>
  }
  func.return %r : tensor<3x4xf32>
}"""


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_an_element_outside_the_tensor_fails_and_does_not_crash(pipeline: str) -> None:
    program = stepwell.compile(EXTRACT, pipeline=pipeline, cache=False)
    module = stepwell.parse(EXTRACT)
    x, j = np.array([[1, 1, 1, 1], [1, 1, 1, -1], [0, 0, 0, 5]], np.float32), np.array(0, np.uint8)
    for row in (0, 1, 2):
        arrays: list[Any] = [x, np.array(row), j]
        check_same(program(*arrays), reference.run(module, "main", *arrays))
    for row in (3, -1, 10**15, 2**63 - 1, -(2**63)):
        arrays = [x, np.array(row), j]
        with pytest.raises(ReferenceFailure) as expected:
            reference.run(module, "main", *arrays)
        with pytest.raises(ExecutionError) as found:
            program(*arrays)
        assert found.value.reason == expected.value.message == "tensor.extract: index out of range"
        assert found.value.location == expected.value.location == "<text>:5:3"


EMPTY = """func.func @main(%x: tensor<0x3xf32>, %y: tensor<f32>) -> (tensor<0x3xf32>, tensor<3xf32>, tensor<f32>) {
  %a = graph.exp %x : (tensor<0x3xf32>) -> tensor<0x3xf32>
  %b = graph.softmax %a : (tensor<0x3xf32>) -> tensor<0x3xf32>
  %c = graph.add %b, %y : (tensor<0x3xf32>, tensor<f32>) -> tensor<0x3xf32>
  %s = graph.sum %c, axis = [0] : (tensor<0x3xf32>) -> tensor<3xf32>
  %p = graph.prod %c : (tensor<0x3xf32>) -> tensor<f32>
  func.return %c, %s, %p : tensor<0x3xf32>, tensor<3xf32>, tensor<f32>
}"""


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_tensors_without_elements(pipeline: str) -> None:
    arrays = [np.zeros((0, 3), np.float32), np.array(2, np.float32)]
    found = stepwell.compile(EMPTY, pipeline=pipeline, cache=False)(*arrays)
    check_same(found, [arrays[0], np.zeros(3, np.float32), np.array(1, np.float32)])
    only = EMPTY.replace("tensor<3xf32>, tensor<f32>) {", ") {")
    lines = [line for line in only.splitlines() if "%s =" not in line and "%p =" not in line]
    text = "\n".join(lines).replace("(tensor<0x3xf32>, ) {", "tensor<0x3xf32> {")
    text = text.replace("%c, %s, %p : tensor<0x3xf32>, tensor<3xf32>, tensor<f32>", "%c : tensor<0x3xf32>")
    (result,) = stepwell.compile(text, pipeline=pipeline, cache=False)(*arrays)
    assert result.shape == (0, 3)


def test_more_memory_than_there_is_fails_and_does_not_crash() -> None:
    text = """func.func @main(%x: tensor<1xf32>) -> tensor<4000000xf32> {
  %a = graph.broadcast_to %x, shape = [4000000, 400000000] : (tensor<1xf32>) -> tensor<4000000x400000000xf32>
  %b = graph.softmax %a : (tensor<4000000x400000000xf32>) -> tensor<4000000x400000000xf32>
  %c = graph.max %b, axis = [1] : (tensor<4000000x400000000xf32>) -> tensor<4000000xf32>
  func.return %c : tensor<4000000xf32>
}"""
    with pytest.raises(ExecutionError, match="@main: error: no memory for [0-9]+ bytes of intermediate results"):
        stepwell.compile(text, cache=False)(np.ones(1, np.float32))
