"""
`Executable.trace`: where a program first differs from the reference, and which part of the compiler that speaks of.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core.weights import write_weights
from stepwell.reference import LoopFault, arith
from stepwell.reference.registry import lookup
from stepwell.runtime.errors import ArgumentError, ExecutionError
from stepwell.runtime.looking import trace_loops
from stepwell.runtime.looking.values import Trace, compared
from stepwell.tools.run import main

NET = """\
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xi64>) {
  %w = graph.weight "w" : tensor<8x8xf32>
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>)
  %1 = graph.softmax %0, axis = 0 : (tensor<4x8xf32>)
  %2 = graph.matmul %1, %w : (tensor<4x8xf32>, tensor<8x8xf32>)
  %3 = graph.cumulative_sum %2, axis = 0 : (tensor<4x8xf32>)
  %4 = graph.argmax %3, axis = 1 : (tensor<4x8xf32>)
  func.return %3, %4 : tensor<4x8xf32>, tensor<4xi64>
}
"""
X = np.random.default_rng(1).standard_normal((4, 8)).astype(np.float32)
W = np.random.default_rng(2).standard_normal((8, 8)).astype(np.float32)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


def net(folder: Path, text: str = NET, **options: Any) -> stepwell.Executable:
    write_weights(folder / "w.safetensors", {"w": W})
    path = folder / "net.mlir"
    path.write_text(f'builtin.module attributes {{stepwell.weights = "w.safetensors"}} {{\n{text}}}\n')
    return stepwell.compile(path, **options)


def wrong(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Makes the reference of an op give other results than the program."""

    def changed(op: str) -> Any:
        known = lookup(op)
        if op != name or known is None:
            return known
        return lambda *arguments: tuple(np.asarray(each) * np.asarray(3, each.dtype) for each in known(*arguments))

    monkeypatch.setattr(import_module("stepwell.reference.run"), "lookup", changed)


@pytest.mark.parametrize("level", [0, 3])
def test_a_right_program_diverges_nowhere(tmp_path: Path, level: int) -> None:
    traced = net(tmp_path, opt_level=level).trace(X)
    assert traced.first is None, str(traced)
    assert len(traced.results) == len(traced.rewritten) == 2
    assert len(traced.values) == 5
    assert [int(value.place.split(":")[-2]) for value in traced.values] == [4, 5, 6, 7, 8]


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(("op", "line"), [("graph.softmax", 5), ("graph.cumulative_sum", 7), ("graph.argmax", 8)])
def test_the_first_value_that_diverges_is_named(
    tmp_path: Path, op: str, line: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong(monkeypatch, op)
    traced = net(tmp_path).trace(X)
    assert traced.first is not None
    assert (traced.first.op, traced.first.place.split(":")[-2]) == (op, str(line))
    assert traced.first.found != traced.first.expected
    assert f"the first value that diverges: {tmp_path}/net.mlir:{line}:" in str(traced)
    assert "graph.matmul" not in [value.op for value in traced.values if value.diverges][:1]


def test_a_wrong_rule_is_told_from_a_wrong_lowering(tmp_path: Path) -> None:
    rule = tmp_path / "wrong.mlir"
    rule.write_text("""
pattern.rule "sine-for-tangent" {
  %x = pattern.any
  %root = pattern.op "graph.tanh"(%x)
  pattern.rewrite %root {
    %new = pattern.create "graph.sin"(%x)
    pattern.yield %new
  }
}
""")
    text = """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.tanh %x : (tensor<4x8xf32>)
  func.return %0 : tensor<4x8xf32>
}
"""
    exe = stepwell.compile(text, pipeline=f'apply-patterns{{file="{rule}"}},O2')
    traced = exe.trace(X)
    assert not any(value.diverges for value in (*traced.values, *traced.results))
    assert traced.first is traced.rewritten[0]
    assert "but a pass on graphs changed a result" in traced.verdict


def test_a_result_that_only_the_merged_program_gets_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exe = net(tmp_path)
    bound = exe._bound
    assert bound is not None
    call = type(bound).__call__

    def other(self: Any, *arrays: Any) -> Any:
        results = call(self, *arrays)
        return tuple(each + 1 for each in results) if self is bound else results

    monkeypatch.setattr(type(bound), "__call__", other)
    traced = exe.trace(X)
    assert not any(value.diverges for value in traced.values)
    assert "kernels are merged wrongly" in traced.verdict and traced.first is traced.results[0]


def test_unknown_sizes_are_those_of_the_arrays(tmp_path: Path) -> None:
    exe = net(tmp_path, NET.replace("tensor<4x", "tensor<?x"))
    for rows in (2, 3):
        assert exe.trace(X[:rows]).first is None
    with pytest.raises(ArgumentError, match="argument 'x' has shape"):
        exe.trace(X[:, :2])


def one(found: Any, expected: Any, type_: str, tolerance: float | None = None) -> Any:
    return compared("op", "", type_, np.asarray(found), np.asarray(expected), tolerance)


def test_errors_are_relative_to_the_size_of_all() -> None:
    expected = np.array([1000, 1e-6], np.float32)
    value = one(expected + np.array([0, 1e-3], np.float32), expected, "tensor<2xf32>")
    assert not value.diverges and value.worst == (1,)
    assert one(expected + np.array([0, 1], np.float32), expected, "tensor<2xf32>").diverges
    assert not one(expected + np.array([0, 1], np.float32), expected, "tensor<2xf32>", 0.1).diverges


def test_nan_and_infinity_meet_their_like() -> None:
    a, b = np.array([np.nan, np.inf, 1], np.float32), np.array([np.nan, np.inf, np.nan], np.float32)
    assert not one(a, a, "tensor<3xf32>").diverges
    value = one(a, b, "tensor<3xf32>")
    assert value.diverges and value.worst == (2,) and value.absolute_error == np.inf


def test_integers_must_be_equal() -> None:
    large = np.array([2**62, 5], np.int64)
    assert not one(large, large, "tensor<2xi64>").diverges
    assert one(large + [1, 0], large, "tensor<2xi64>").diverges
    assert one(np.array([True]), np.array([False]), "tensor<1xi1>").diverges
    assert not one(np.zeros((0, 3)), np.zeros((0, 3)), "tensor<0x3xf64>").diverges


def test_a_program_that_fails_fails(tmp_path: Path) -> None:
    exe = stepwell.compile("""
func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = graph.divide %x, %x : (tensor<2xi32>, tensor<2xi32>)
  func.return %0 : tensor<2xi32>
}
""")
    assert exe.trace(np.ones(2, np.int32)).first is None
    with pytest.raises(ExecutionError, match="integer division by zero"):
        exe.trace(np.zeros(2, np.int32))


LOOPS = """
tensor_loop.func private @square(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.for %i in 4 {
    tensor_loop.block "square" spatial(%vi in 4 = %i) {
      %x = memref.load %A[%vi] : memref<4xf32>
      %y = arith.mulf %x, %x : f32
      memref.store %y, %B[%vi] : memref<4xf32>
    }
  }
}
tensor_loop.func @main(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  %T = tensor_loop.alloc : memref<4xf32>
  tensor_loop.call @square(%A) outs(%T) : (memref<4xf32>) outs(memref<4xf32>)
  tensor_loop.call @square(%T) outs(%B) : (memref<4xf32>) outs(memref<4xf32>)
}
"""


def test_a_program_of_loops_is_traced_by_its_kernels() -> None:
    found = stepwell.compile(LOOPS).trace(np.array([1, 2, 3, 4], np.float32))
    assert [value.op for value in found.values] == ["@square", "@square", "@main"]
    assert found.first is None and len(found.results) == 1
    assert found.verdict == "no value diverges: 3 values, 1 results"
    assert found.values[0].place == "<text>:2:1"


def test_the_kernel_that_diverges_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(arith._PLAIN, "arith.mulf", lambda x, y: (x + y,))
    found = stepwell.compile(LOOPS).trace(np.array([1, 2, 3, 4], np.float32))
    assert found.verdict.startswith("the first value that diverges: <text>:2:1: @square : tensor<4xf32>: 16.0 at [3]")


def test_a_result_that_diverges_where_kernels_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    exe = stepwell.compile(LOOPS)
    monkeypatch.setattr(trace_loops, "compared", lambda op, *rest: compared(op, *_changed(op, *rest)))
    assert exe.trace(np.ones(4, np.float32)).verdict.startswith(
        "every kernel is right when it runs alone, but a result of the program diverges: result0: result"
    )


def _changed(op: str, *rest: Any) -> tuple[Any, ...]:
    place, type_, found, expected, tolerance = rest
    return (place, type_, found + (op == "result"), expected, tolerance)


def test_a_fault_of_the_program_ends_the_trace() -> None:
    text = LOOPS.replace("%x = memref.load %A[%vi]", "%k = arith.addi %vi, %vi : index\n      %x = memref.load %A[%k]")
    exe = stepwell.compile(LOOPS)
    exe._source().module = stepwell.parse(text, verify=False)  # Compiling it may refuse it.
    with pytest.raises(LoopFault, match="'memref.load': index 4 is outside of dimension 0 of %A, which has 4"):
        exe.trace(np.ones(4, np.float32))


def test_run_prints_the_trace_of_loops(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "loops.mlir").write_text(LOOPS)
    words = [str(tmp_path / "loops.mlir"), "--random", "1", "--trace-values"]
    assert main(words) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "no value diverges: 3 values, 1 results"


def test_functions_on_buffers_are_traced_by_their_results() -> None:
    exe = stepwell.compile("""
func.func @main(%x: memref<2xf32> {stepwell.role = "input"}, %y: memref<2xf32> {stepwell.role = "output"}) {
  "memref.copy"(%x, %y) : (memref<2xf32>, memref<2xf32>) -> ()
  func.return
}
""")
    assert exe.trace(np.ones(2, np.float32)).verdict == "no value diverges: 0 values, 1 results"


def test_run_prints_the_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    net(tmp_path)
    words = [str(tmp_path / "net.mlir"), "--random", "1", "--trace-values"]
    assert main(words) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "no value diverges: 5 values, 2 results"
    wrong(monkeypatch, "graph.softmax")
    assert main(words) == 1
    assert "graph.softmax" in capsys.readouterr().out.splitlines()[-1]


def test_an_empty_trace_has_no_first() -> None:
    assert Trace((), (), ()).first is None
