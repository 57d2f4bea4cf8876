"""The interpreter of loops on every level of the pipelines: it gives what the reference gives for the graph."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from loop_levels import PARALLEL, PROGRAMS, levels
from stepwell import reference
from stepwell.testing import interpret
from tolerances import check_program, check_same

PIPELINES = ("O0", "O2", "O3")


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_level_computes_what_the_graph_says(name: str, pipeline: str) -> None:
    program = PROGRAMS[name]
    arrays = program.arrays(1)
    expected = reference.run(stepwell.parse(program.text), "main", *arrays)
    seen: list[str] = []
    for level, module in levels(program.text, pipeline):
        seen.append(level)
        try:
            check_program(2 * program.terms, interpret(module, arrays), expected)
        except Exception as error:
            raise AssertionError(f"after {level}: {error}") from error
    assert {"lower-graph-to-loops", "lower-loops-to-scf"} <= set(seen)


def test_a_parallel_loop_is_interpreted_on_every_level() -> None:
    x = np.random.default_rng(0).standard_normal((12, 20)).astype(np.float32)
    tasks = 0
    for _, module in levels(PARALLEL, "finish"):
        check_same(interpret(module, [x]), [x * x])
        tasks += any("stepwell.chunk" in op.attributes for op in module.walk())
    assert tasks, "no level has tasks"


def test_a_failing_check_fails_on_every_level() -> None:
    text = PROGRAMS["take"].text
    arrays = [np.zeros((5, 4), np.float32), np.array([0, 1, 5, 0, 0, 0])]
    for pipeline in ("O0", "O3"):
        for _, module in levels(text, pipeline):
            with pytest.raises(reference.ReferenceFailure) as caught:
                interpret(module, arrays)
            assert caught.value.message == "graph.take: index out of range"


def test_weights_and_what_is_prepared_from_them_are_arguments_on_buffers() -> None:
    text = """
    builtin.module attributes {stepwell.weights = "w.safetensors"} {
      func.func @main(%x: tensor<4x32xf32>) -> tensor<4x32xf32> {
        %w = graph.weight "w" : tensor<32x32xf32>
        %v = graph.weight "v" : tensor<32x32xf32>
        %p = graph.matmul %x, %w : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
        %y = graph.matmul %p, %v : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
        func.return %y : tensor<4x32xf32>
      }
    }"""
    choose = np.random.default_rng(3)
    x, w, v = (choose.standard_normal(shape).astype(np.float32) for shape in ((4, 32), (32, 32), (32, 32)))
    expected = (x.astype(np.float64) @ w @ v).astype(np.float32)
    instances = 0
    for _, module in levels(text, "O3"):
        check_program(32 * 32, interpret(module, [x], weights={"w": w, "v": v}), [expected])
        instances += "stepwell.instances" in str(module)
    assert instances, "no prepare function was merged"


def test_panels_with_padding_that_nothing_writes_and_nobody_reads() -> None:
    """Found by the check of magika at O3."""
    text = """
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x214xf32> {
      %w = graph.weight "w" : tensor<8x214xf32>
      %y = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x214xf32>) -> tensor<4x214xf32>
      func.return %y : tensor<4x214xf32>
    }"""
    choose = np.random.default_rng(4)
    x, w = (choose.standard_normal(shape).astype(np.float32) for shape in ((4, 8), (8, 214)))
    expected = (x.astype(np.float64) @ w).astype(np.float32)
    found = [module for _, module in levels(text, "O3")]
    for module in found:
        check_program(8, interpret(module, [x], weights={"w": w}), [expected])
    assert "prepare_panels" in str(found[-1])


PADDED = """
builtin.module {{
  func.func private @prepare(%result0: memref<4xf32> {{stepwell.role = "output", stepwell.name = "result0"}})
      attributes {{stepwell.prepare, stepwell.signature = () -> tensor<4xf32>}} {{
    %c2 = arith.constant 2 : index
    %one = arith.constant 1.0 : f32
    memref.store %one, %result0[%c2] : memref<4xf32>
    func.return
  }}
  func.func @main(%weight: memref<4xf32> {{stepwell.role = "weight", stepwell.key = "@prepare#0"}},
      %y: memref<1xf32> {{stepwell.role = "output", stepwell.name = "y"}})
      attributes {{stepwell.signature = () -> tensor<1xf32>}} {{
    %at = arith.constant {at} : index
    %c0 = arith.constant 0 : index
    %v = memref.load %weight[%at] : memref<4xf32>
    memref.store %v, %y[%c0] : memref<1xf32>
    func.return
  }}
}}"""


def test_padding_that_is_read_is_a_fault() -> None:
    (y,) = interpret(stepwell.parse(PADDED.format(at=2)), [])
    assert y.tolist() == [1.0]
    with pytest.raises(reference.LoopFault, match=r"nothing has written"):
        interpret(stepwell.parse(PADDED.format(at=3)), [])


OPEN = """
tensor_loop.func @main(%A: memref<?x?xf32>) outs(%B: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %A, %c0 : memref<?x?xf32>
  %n = memref.dim %A, %c1 : memref<?x?xf32>
  tensor_loop.grid (%i, %j) in (%m, %n) {
    tensor_loop.block "turn" spatial(%vi in %m = %i, %vj in %n = %j) {
      %x = memref.load %A[%vi, %vj] : memref<?x?xf32>
      memref.store %x, %B[%vj, %vi] : memref<?x?xf32>
    }
  }
}
"""


def test_open_sizes_on_every_level() -> None:
    a = np.arange(24, dtype=np.float32).reshape(4, 6)
    seen: list[str] = []
    for level, module in levels(OPEN, "finish"):
        seen.append(level)
        check_same(interpret(module, [a, np.empty((6, 4), np.float32)]), [a.T])
    assert "flatten-dynamic-buffers" in seen
