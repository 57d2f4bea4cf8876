"""
Programs on several threads: the same bits for any number of them, the same failures, the same behaviour under stress.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import stepwell
from at_once import at_once
from stepwell.runtime.errors import ExecutionError
from stepwell.runtime.native.threads import patience

COUNTS = (1, 2, 3, 7)


@pytest.fixture(autouse=True)
def shares_always() -> Iterator[None]:
    """Threads take part however busy the machine is."""
    found = patience()
    before, found.value = found.value, 0
    yield
    found.value = before


def entry(arguments: str, results: str, body: str) -> str:
    return f"func.func @main({arguments}) -> ({results}) {{\n{body}\n}}"


def matmul(m: int, n: int, k: int, batch: str = "") -> str:
    a, b, c = (f"tensor<{batch}{rows}x{columns}xf32>" for rows, columns in ((m, k), (k, n), (m, n)))
    return entry(f"%a: {a}, %b: {b}", c, f'  %0 = "graph.matmul"(%a, %b) : ({a}, {b}) -> {c}\n  func.return %0 : {c}')


def unary(op: str, shape: str, results: str | None = None, attributes: str = "") -> str:
    source, target = f"tensor<{shape}xf32>", f"tensor<{results or shape}xf32>"
    body = f'  %0 = "graph.{op}"(%x) {attributes} : ({source}) -> {target}\n  func.return %0 : {target}'
    return entry(f"%x: {source}", target, body)


PROGRAMS = {
    "gemm": matmul(389, 421, 397),
    "gemm of parts of k": matmul(307, 331, 641),
    "batched gemm": matmul(97, 101, 89, batch="7x"),
    "exp in one line": unary("exp", "500009"),
    "gelu of rows": unary("gelu", "211x1511"),
    "softmax": unary("softmax", "509x761", attributes="<{axis = -1 : i64}>"),
    "sums of rows": unary("sum", "1021x1031", "1021", "<{axis = array<i64: 1>, keepdims = false}>"),
    "sums of columns": unary("sum", "1021x1031", "1031", "<{axis = array<i64: 0>, keepdims = false}>"),
}
"""Sizes are primes, so that chunks, tiles and vectors all have rests."""


def inputs(executable: stepwell.Executable) -> list[np.ndarray[Any, Any]]:
    generator = np.random.default_rng(len(executable.signature))
    return [generator.normal(size=type_.sizes).astype(np.float32) for _, type_ in executable.input_types]


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_the_same_bits_for_any_number_of_threads(name: str) -> None:
    executables = [stepwell.compile(PROGRAMS[name], threads=count) for count in COUNTS]
    arrays = inputs(executables[0])
    expected = [array.tobytes() for array in executables[0](*arrays)]
    for _ in range(4):
        for executable in executables[1:]:
            assert [array.tobytes() for array in executable(*arrays)] == expected
    if name != "sums of columns":
        assert "stepwell.chunk" in executables[0].ir("scf")


def test_small_programs_have_no_parallel_loops() -> None:
    for text in (
        matmul(64, 64, 64),
        unary("exp", "4096"),
        unary("softmax", "16x128", attributes="<{axis = -1 : i64}>"),
    ):
        executable = stepwell.compile(text, threads=7)
        assert "stepwell.chunk" not in executable.ir("scf")
        assert "_stepwell_parallel" not in executable.ir("llvm-ir")


def test_one_piece_of_code_serves_every_number_of_threads() -> None:
    texts = {stepwell.compile(PROGRAMS["softmax"], threads=count).ir("llvm-ir") for count in COUNTS}
    assert len(texts) == 1
    assert "_stepwell_parallel" in texts.pop()


LOOP = """
func.func @main(%x: memref<1000xi32> {stepwell.role = "input"}, %y: memref<1000xi32> {stepwell.role = "output"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  %limit = arith.constant 100 : i32
  %least = arith.constant 0 : i32
  scf.for %i = %c0 to %c1000 step %c1 {
    %0 = memref.load %x[%i] : memref<1000xi32>
    %small = arith.cmpi slt, %0, %limit : i32
    cf.assert %small, "too large"
    %positive = arith.cmpi sge, %0, %least : i32
    cf.assert %positive, "negative"
    memref.store %0, %y[%i] : memref<1000xi32>
  } {stepwell.parallel}
  func.return
}
"""


@pytest.fixture(params=COUNTS)
def checked(request: pytest.FixtureRequest) -> stepwell.Executable:
    """Copies 1000 numbers in many chunks, which fail beyond 0 … 99."""
    pipeline = "outline-parallel-loops{grain=1}"
    executable = stepwell.compile(LOOP, threads=request.param, pipeline=pipeline)
    chunk = re.search(r"stepwell.chunk = (\d+)", executable.ir("scf"))
    assert chunk is not None and int(chunk[1]) < 100
    return executable


def test_the_first_failure_in_the_order_of_the_program_is_the_one_raised(
    checked: stepwell.Executable,
) -> None:
    fine = np.arange(1000, dtype=np.int32) % 100
    assert np.array_equal(checked(fine)[0], fine)
    for places, message in (
        ({37: 100, 801: -1}, "too large"),
        ({37: -1, 801: 100}, "negative"),
        ({999: -5}, "negative"),
        ({0: 100, 1: -1}, "too large"),
    ):
        wrong = fine.copy()
        for place, value in places.items():
            wrong[place] = value
        for _ in range(20):
            with pytest.raises(ExecutionError, match=message):
                checked(wrong)
    assert np.array_equal(checked(fine)[0], fine)


def test_four_threads_of_python_share_an_executable_and_the_pool() -> None:
    executables = [stepwell.compile(PROGRAMS[name], threads=count) for name, count in (("gemm", 2), ("softmax", 3))]
    arrays = [inputs(executable) for executable in executables]
    expected = [executable(*each)[0] for executable, each in zip(executables, arrays, strict=True)]
    failures: list[str] = []

    def caller(number: int) -> None:
        for turn in range(25):
            which = (number + turn) % 2
            if not np.array_equal(executables[which](*arrays[which])[0], expected[which]):
                failures.append(f"caller {number}, turn {turn}")

    at_once(4, caller)
    assert failures == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process")
def test_forks_between_and_during_calls_are_harmless() -> None:
    executable = stepwell.compile(PROGRAMS["gemm"], threads=3)
    arrays = inputs(executable)
    expected = executable(*arrays)[0]
    stop = threading.Event()

    def keep_calling() -> None:
        while not stop.is_set():
            executable(*arrays)

    caller = threading.Thread(target=keep_calling)
    caller.start()
    try:
        for _ in range(8):
            child = os.fork()
            if child == 0:
                same = all(np.array_equal(executable(*arrays)[0], expected) for _ in range(5))
                os._exit(0 if same else 1)
            assert np.array_equal(executable(*arrays)[0], expected)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        caller.join(60)
    assert not caller.is_alive()


def test_python_runs_on_while_a_program_does() -> None:
    executable = stepwell.compile(PROGRAMS["gemm of parts of k"], threads=2)
    arrays = inputs(executable)
    done = threading.Event()
    turns = 0

    def call() -> None:
        for _ in range(50):
            executable(*arrays)
        done.set()

    thread = threading.Thread(target=call)
    thread.start()
    while not done.is_set():
        turns += 1
    thread.join()
    assert turns > 50
