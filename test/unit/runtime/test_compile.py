"""`stepwell.compile` and what it returns: calls, checks, failures, threads, caches, `?`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import stepwell
from at_once import at_once
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.machine.host import host_machine
from stepwell.runtime import cache
from stepwell.runtime.errors import ArgumentError, CompileError, ExecutionError

ADD = """
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = graph.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
"""

X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = np.array([10, 20, 30], dtype=np.float32)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


def add() -> stepwell.Executable:
    return stepwell.compile(ADD)


def test_a_call_returns_a_tuple_of_new_arrays() -> None:
    exe = add()
    (first,) = exe(X, Y)
    (second,) = exe(X, Y)
    np.testing.assert_array_equal(first, X + Y)
    assert first is not second and not np.shares_memory(first, second)


def test_the_signature_names_arguments_and_types() -> None:
    assert add().signature == "main(x: tensor<2x3xf32>, y: tensor<3xf32>) -> (result0: tensor<2x3xf32>)"


def test_contiguous_inputs_are_not_copied() -> None:
    from stepwell.runtime.program.arrays import ArrayType, check_input

    type_ = ArrayType("f32", (2, 3))
    assert check_input(X, type_, "x") is X
    strided = np.asfortranarray(X)
    assert check_input(strided, type_, "x") is not strided


@pytest.mark.parametrize("x", [np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X[::-1][::-1]])
def test_any_strides_are_accepted(x: Any) -> None:
    np.testing.assert_array_equal(add()(x, Y)[0], X + Y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X,), "'main' takes 2 arguments ('x', 'y'), found 1"),
        ((X, Y, Y), "'main' takes 2 arguments ('x', 'y'), found 3"),
        (
            (X.astype(np.float64), Y),
            "argument 'x' has element type float64, expected float32 (tensor<2x3xf32>)",
        ),
        ((X, Y.astype(">f4")), "argument 'y' has element type >f4, expected float32 (tensor<3xf32>)"),
        ((X.reshape(3, 2), Y), "argument 'x' has shape 3x2, expected tensor<2x3xf32>"),
        ((X[0], Y), "argument 'x' has rank 1 (shape 3), expected tensor<2x3xf32>"),
        ((str(X), Y), "argument 'x' is a str, expected a numpy array of type tensor<2x3xf32>"),
    ],
)
def test_arguments_that_do_not_fit_are_named(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        add()(*arguments)
    assert str(caught.value) == message


def test_run_into_writes_in_place() -> None:
    out = np.empty((2, 3), np.float32)
    add().run_into([out], X, Y)
    np.testing.assert_array_equal(out, X + Y)


def test_run_into_refuses_overlap_and_read_only_outputs() -> None:
    exe, x = add(), X.copy()
    with pytest.raises(ArgumentError, match="output 'result0' shares memory with another argument"):
        exe.run_into([x], x, Y)
    out = np.empty((2, 3), np.float32)
    out.flags.writeable = False
    with pytest.raises(ArgumentError, match="output 'result0' is read-only"):
        exe.run_into([out], X, Y)
    with pytest.raises(ArgumentError, match="output 'result0' is not contiguous"):
        exe.run_into([np.empty((3, 2), np.float32).T], X, Y)
    with pytest.raises(ArgumentError, match="'main' has 1 results, found 0 output arrays"):
        exe.run_into([], X, Y)


def test_run_into_refuses_to_write_a_weight() -> None:
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %w = graph.weight "w" : tensor<4xf32>
      %0 = graph.add %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      func.return %0 : tensor<4xf32>
    }"""
    weight, x = np.ones(8, np.float32), np.arange(4, dtype=np.float32)
    used = weight[:4]
    used.flags.writeable = False  # so it is not copied
    exe = stepwell.compile(text, weights={"w": used}, cache=False)
    with pytest.raises(ArgumentError, match="output 'result0' shares memory with a weight"):
        exe.run_into([weight[2:6]], x)
    exe.run_into([weight[4:]], x)
    np.testing.assert_array_equal(weight, [1, 1, 1, 1, 1, 2, 3, 4])


TAKE = """func.func @main(%x: tensor<4xf32>, %i: tensor<3xi64>) -> tensor<3xf32> {
  %0 = graph.take %x, %i, axis = 0 : (tensor<4xf32>, tensor<3xi64>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}
"""


def test_an_index_out_of_range_is_an_exception_with_the_location() -> None:
    exe = stepwell.compile(TAKE)
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(exe(x, np.array([3, -1, -4]))[0], [3, 3, 0])
    for wrong in (4, -5, 2**62, -(2**63)):
        with pytest.raises(ExecutionError) as caught:
            exe(x, np.array([0, wrong, 1]))
        assert caught.value.reason == "graph.take: index out of range"
        assert caught.value.location == "<text>:2:8" or caught.value.location == "<text>:2:3"


def test_the_program_still_works_after_a_failure() -> None:
    exe = stepwell.compile(TAKE)
    x = np.arange(4, dtype=np.float32)
    for _ in range(3):
        with pytest.raises(ExecutionError):
            exe(x, np.array([9, 0, 0]))
        np.testing.assert_array_equal(exe(x, np.array([1, 2, 3]))[0], [1, 2, 3])


TWO_FAILURES = """func.func @main(%x: tensor<2xi32>, %y: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %0 = graph.divide %x, %y : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %1 = graph.mod %x, %y : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  func.return %0, %1 : tensor<2xi32>, tensor<2xi32>
}
"""


@pytest.mark.parametrize("level", range(4))
def test_the_first_failure_in_program_order_is_reported(level: int) -> None:
    exe = stepwell.compile(TWO_FAILURES, opt_level=level)
    with pytest.raises(ExecutionError) as caught:
        exe(np.array([1, 2], np.int32), np.array([1, 0], np.int32))
    assert caught.value.reason == "graph.divide: integer division by zero"
    assert caught.value.location.startswith("<text>:2:")


def test_the_smallest_integer_divided_by_minus_one_wraps() -> None:
    exe = stepwell.compile(TWO_FAILURES)
    low = np.iinfo(np.int32).min
    quotient, remainder = exe(np.array([low, 7], np.int32), np.array([-1, -1], np.int32))
    assert quotient.tolist() == [low, -7] and remainder.tolist() == [0, 0]


def test_calls_from_several_threads_do_not_disturb_each_other() -> None:
    text = """
    func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = graph.matmul %x, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %1 = graph.softmax %0 : (tensor<64x64xf32>) -> tensor<64x64xf32>
      %2 = graph.matmul %1, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      func.return %2 : tensor<64x64xf32>
    }
    """
    exe = stepwell.compile(text)
    inputs = [np.random.default_rng(i).standard_normal((64, 64)).astype(np.float32) for i in range(4)]
    expected = [exe(x)[0] for x in inputs]
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(50):
            if not np.array_equal(exe(inputs[number])[0], expected[number]):
                wrong.append(number)

    at_once(4, work)
    assert not wrong


def test_element_types_at_the_border() -> None:
    text = """
    func.func @main(%a: tensor<2xbf16>, %b: tensor<2xi1>, %c: tensor<2xui8>)
        -> (tensor<2xbf16>, tensor<2xi1>, tensor<2xui8>) {
      %0 = graph.negative %a : (tensor<2xbf16>) -> tensor<2xbf16>
      %1 = graph.logical_not %b : (tensor<2xi1>) -> tensor<2xi1>
      %2 = graph.negative %c : (tensor<2xui8>) -> tensor<2xui8>
      func.return %0, %1, %2 : tensor<2xbf16>, tensor<2xi1>, tensor<2xui8>
    }
    """
    a = np.array([1.5, -2], ml_dtypes.bfloat16)
    results = stepwell.compile(text)(a, np.array([True, False]), np.array([1, 255], np.uint8))
    assert [r.dtype for r in results] == [a.dtype, np.dtype(bool), np.dtype(np.uint8)]
    assert [r.tolist() for r in results] == [[-1.5, 2], [False, True], [255, 1]]


DYNAMIC = """
func.func @main(%x: tensor<?x3xf32>, %y: tensor<3x?xf32>) -> tensor<?x?xf32> {
  %0 = graph.matmul %x, %y : (tensor<?x3xf32>, tensor<3x?xf32>) -> tensor<?x?xf32>
  func.return %0 : tensor<?x?xf32>
}
"""


def test_unknown_sizes_are_specialised_on_call() -> None:
    exe = stepwell.compile(DYNAMIC)
    for rows, columns in ((1, 2), (5, 4), (0, 3), (1, 2)):
        x = np.random.default_rng(rows).standard_normal((rows, 3)).astype(np.float32)
        y = np.random.default_rng(columns).standard_normal((3, columns)).astype(np.float32)
        np.testing.assert_allclose(exe(x, y)[0], x @ y, rtol=1e-5, atol=1e-5)
    with pytest.raises(ArgumentError, match="argument 'x' has shape 2x4, expected tensor<\\?x3xf32>"):
        exe(np.zeros((2, 4), np.float32), np.zeros((3, 1), np.float32))


@pytest.mark.parametrize("change", [{"cores": 64}, {"l2_bytes": 1 << 18}, {"features": frozenset({"none"})}])
def test_code_scheduled_for_another_machine_is_not_taken(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    """As when the first process may use one CPU, and the next one all of them."""
    stepwell.compile(ADD)
    stepwell.compile(ADD)
    assert len(list(cache.cache_directory().glob("*.bin"))) == 1
    here = host_machine()
    monkeypatch.setattr("stepwell.runtime.source.host_machine", lambda: replace(here, **change))
    stepwell.compile(ADD)
    assert len(list(cache.cache_directory().glob("*.bin"))) == 2


def test_the_cache_is_used_and_a_damaged_entry_recompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    from stepwell.runtime.native import pieces as compiling

    calls: list[str] = []
    real = compiling.compile_object
    monkeypatch.setattr(compiling, "compile_object", lambda *given: calls.append(given[0]) or real(*given))
    add(), add()
    assert len(calls) == 1
    (entry,) = cache.cache_directory().glob("*.bin")
    entry.write_bytes(entry.read_bytes()[:-7])
    np.testing.assert_array_equal(add()(X, Y)[0], X + Y)
    assert len(calls) == 2
    stepwell.compile(ADD, cache=False)
    assert len(calls) == 3


def test_every_stair_has_a_text() -> None:
    exe = add()
    marks = {
        "graph": "graph.add",
        "tensor_loop": "tensor_loop.block",
        "scf": "scf.for",
        "llvm": "llvm.func",
        "llvm-ir": "define",
        "asm": "_stepwell_entry_main",
    }
    for stair, mark in marks.items():
        assert mark in exe.ir(stair)
    with pytest.raises(CompileError, match="there is no level 'hlo', expected one of graph, tensor_loop"):
        exe.ir("hlo")


def test_the_module_given_is_not_changed() -> None:
    module = stepwell.parse(ADD)
    before = str(module)
    stepwell.compile(module)
    assert str(module) == before


def test_a_hand_written_loop_function_is_an_entry() -> None:
    text = """
    tensor_loop.func @double(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
      tensor_loop.grid (%i) in (4) {
        tensor_loop.block "double" spatial(%vi in 4 = %i) {
          %a = memref.load %A[%vi] : memref<4xf32>
          %b = arith.addf %a, %a : f32
          memref.store %b, %B[%vi] : memref<4xf32>
        }
      }
    }
    """
    exe = stepwell.compile(text, entry="double")
    assert exe(np.arange(4, dtype=np.float32))[0].tolist() == [0, 2, 4, 6]


BUFFERS = """
func.func @main(%x: memref<2xf32>ROLE_X, %y: memref<2xf32>ROLE_Y) {
  memref.copy %x, %y : memref<2xf32> to memref<2xf32>
  func.return
}
"""


def test_a_function_on_buffers_needs_roles() -> None:
    bare = (
        BUFFERS.replace("ROLE_X", "")
        .replace("ROLE_Y", "")
        .replace("memref.copy %x, %y : memref<2xf32> to memref<2xf32>", "")
    )
    with pytest.raises(CompileError, match="works on buffers but its arguments have no roles") as caught:
        stepwell.compile(bare)
    assert 'stepwell.role = "input"' in str(caught.value)


def test_unknown_entries_and_options_are_errors() -> None:
    with pytest.raises(CompileError, match="the module has no function @mian; its public functions are: @main"):
        stepwell.compile(ADD, entry="mian")
    with pytest.raises(CompileError, match="numerics is 'loose', expected one of default, strict, fast"):
        stepwell.compile(ADD, numerics="loose")
    with pytest.raises(CompileError, match="opt_level is 4, expected 0, 1, 2 or 3"):
        stepwell.compile(ADD, opt_level=4)
    with pytest.raises(CompileError, match="the number of threads is 0, expected at least 1"):
        stepwell.compile(ADD, threads=0)
    with pytest.raises(StepwellError, match="unknown pass 'fold-constants'"):
        stepwell.compile(ADD, pipeline="fold-constants")


def test_several_entries_are_listed() -> None:
    text = ADD + ADD.replace("@main", "@other") + ADD.replace("func.func @main", "func.func private @hidden")
    exe = stepwell.compile(text, entry="other")
    assert exe.entry_names == ("main", "other")
    np.testing.assert_array_equal(exe(X, Y)[0], X + Y)


def test_what_is_lowered_later_is_lowered_under_the_context_of_compile() -> None:
    text = """
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %0 = graph.relu %x : (tensor<?xf32>) -> tensor<?xf32>
      %1 = graph.relu %0 : (tensor<?xf32>) -> tensor<?xf32>
      func.return %1 : tensor<?xf32>
    }
    """
    with stepwell.PassContext(disabled=["simplify-expr"]):
        exe = stepwell.compile(text, cache=False)
    assert exe.ir("graph", ((4,),)).count("graph.relu") == 2
    assert stepwell.compile(text, cache=False).ir("graph", ((4,),)).count("graph.relu") == 1


def test_a_program_read_from_text_is_compiled_anew_when_text_name_or_entry_change(tmp_path: Path) -> None:
    """The key of the compile cache is made of the text; a module that was not read has one of its printed form."""
    two = ADD + ADD.replace("@main", "@other").replace("graph.add", "graph.multiply")
    kept = cache.cache_directory()

    def count() -> int:
        return len(list(kept.glob(f"*{cache.PROGRAMS}")))

    places = [tmp_path / "one.mlir", tmp_path / "two.mlir"]
    for path in places:
        path.write_text(two, encoding="utf-8")
    given: list[tuple[Any, str]] = [(two, "main"), (two, "other"), (two + "\n", "main")]
    given += [(path, "main") for path in places]
    for number, (program, entry) in enumerate(given, 1):
        expected = X * Y if entry == "other" else X + Y
        for _ in range(2):
            np.testing.assert_array_equal(stepwell.compile(program, entry=entry)(X, Y)[0], expected)
            assert count() == number
    places[0].write_text(two.replace("graph.add", "graph.subtract"), encoding="utf-8")
    np.testing.assert_array_equal(stepwell.compile(places[0])(X, Y)[0], X - Y)
    assert count() == len(given) + 1
