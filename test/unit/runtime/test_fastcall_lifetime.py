"""
Fast calls over time: nothing is kept, threads, the life of code and weights, the cache on disk, and the fall-backs.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import tracemalloc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from at_once import at_once
from copy_entries import ADD, copy_entry, is_fast
from stepwell.runtime.errors import ArgumentError
from stepwell.runtime.native import jit
from stepwell.runtime.native.jit import compile_object
from stepwell.runtime.program import fastcall
from stepwell.runtime.program.arrays import ArrayType
from stepwell.runtime.program.description import Argument, Description, Entry
from stepwell.runtime.program.program import Program

X = np.zeros(4, np.float32)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("STEPWELL_FASTCALL", raising=False)


WEIGHTS = """
builtin.module attributes {stepwell.weights = "w.safetensors"} {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %w = graph.weight "w" : tensor<2xf32>
    %0 = graph.multiply %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    func.return %0 : tensor<2xf32>
  }
}
"""


def test_the_function_keeps_code_and_weights() -> None:
    exe = stepwell.compile(WEIGHTS, weights={"w": np.array([2, 3], np.float32)})
    fast = exe._bound._fast  # type: ignore[union-attr]
    del exe
    rubbish = [np.full(2, 99, np.float32) for _ in range(1000)]
    x, out = np.ones(2, np.float32), np.empty(2, np.float32)
    assert fast(x, out) == 0 and out.tolist() == [2, 3]
    assert len(rubbish) == 1000


PACKED = """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x64xf32> {
  %w = graph.weight "w" : tensor<8x64xf32>
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x64xf32>) -> tensor<4x64xf32>
  func.return %0 : tensor<4x64xf32>
}
"""


def test_a_program_goes_with_its_last_user_not_with_the_next_collection() -> None:
    """Packed weights of a large program would stay in memory beside those of the next."""
    gc.collect()
    gc.disable()
    try:
        exe = stepwell.compile(PACKED, weights={"w": np.ones((8, 64), np.float32)})
        (program,) = exe.programs().values()
        (prepared,) = program._prepared.values()
        assert exe(np.ones((4, 8), np.float32))[0].max() == 8
        gone, entry = weakref.ref(prepared), program.entry("main")
        del exe, program, prepared
        assert gone() is not None and entry(np.ones((4, 8), np.float32))[0].max() == 8
        del entry
        assert gone() is None
    finally:
        gc.enable()


def resident_pages() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])


def test_many_calls_keep_nothing() -> None:
    bound = copy_entry(ArrayType("f32", (2, 3)), arena=64)
    x, out = np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32)
    wrong = x.astype(np.float64)

    def calls(number: int) -> None:
        for _ in range(number):
            bound(x)
            bound.run_into([out], x)
            bound._fast(x, wrong, 64)

    calls(1000)
    counts = [sys.getrefcount(array) for array in (x, out, wrong)]
    on_linux = Path("/proc/self/statm").exists()
    before = resident_pages() if on_linux else 0
    calls(100_000)
    after = resident_pages() if on_linux else 0
    assert counts == [sys.getrefcount(array) for array in (x, out, wrong)]
    assert after - before < 500  # 2 MB; a lost buffer would be 10 MB and more
    tracemalloc.start()
    try:
        calls(100)
        start = tracemalloc.get_traced_memory()[0]
        calls(2000)
        assert tracemalloc.get_traced_memory()[0] - start < 2000
    finally:
        tracemalloc.stop()


def test_several_threads_share_an_entry() -> None:
    bound = copy_entry(ArrayType("i64", (1000,)), arena=64)
    wrong: list[int] = []

    def work(number: int) -> None:
        x = np.full(1000, number, np.int64)
        out = np.empty(1000, np.int64)
        for round_ in range(500):
            bound.run_into([out], x)
            if not (out == number).all() or not (bound(x)[0] == number).all():
                wrong.append(number)
            if round_ % 50 == 0:
                with pytest.raises(ArgumentError):
                    bound(x[:5])

    at_once(6, work)
    assert not wrong and len(bound._arena_memory) <= 6
    assert len(bound._free_arenas) == len(bound._arena_memory)


WAIT = """
define i32 @_stepwell_entry_main(ptr %arguments) {
  %from = load ptr, ptr %arguments
  br label %again
again:
  %value = load atomic i32, ptr %from acquire, align 4
  %zero = icmp eq i32 %value, 0
  br i1 %zero, label %again, label %done
done:
  ret i32 0
}
"""


def test_other_threads_run_during_a_call() -> None:
    x = np.zeros(1, np.int32)
    entry = Entry("main", (Argument("input", "x", ArrayType("i32", (1,))),))
    bound = Program(Description((entry,), ()), compile_object(WAIT), {}).entry("main")
    assert is_fast(bound)
    timer = threading.Timer(0.05, lambda: x.fill(1))
    timer.start()
    assert bound(x) == ()  # would never come back if it held the interpreter
    timer.join()


@pytest.mark.parametrize("broken", ["_buffers_are_as_expected", "_probe_succeeds", "kept_object"])
def test_what_does_not_work_is_not_used(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        if broken == "kept_object":
            raise RuntimeError("no such target")
        return False

    monkeypatch.setattr(jit if broken == "kept_object" else fastcall, broken, fail)
    fastcall._works.cache_clear()
    fastcall._stub.cache_clear()
    try:
        bound = copy_entry(ArrayType("f32", (4,)))
        assert not is_fast(bound)
        np.testing.assert_array_equal(bound(X)[0], X)
    finally:
        fastcall._works.cache_clear()
        fastcall._stub.cache_clear()


@pytest.mark.ci_cases(0)
def test_the_call_code_is_kept_on_disk_only_where_asked(tmp_path: Path) -> None:
    (tmp_path / "add.mlir").write_text(ADD)
    kept: list[int] = []
    for number, use in enumerate((False, True, True)):
        directory = tmp_path / str(number > 0)
        environment = os.environ | {"STEPWELL_CACHE_DIR": str(directory)}
        script = f"import stepwell; stepwell.compile('add.mlir', cache={use})"
        subprocess.run([sys.executable, "-c", script], env=environment, cwd=tmp_path, check=True)
        kept.append(len(list(directory.glob("*.call"))))
    assert kept == [0, 1, 1]


def test_a_process_ends_while_a_thread_is_in_a_call() -> None:
    script = f"""if True:
        import threading, time, numpy as np, stepwell
        exe = stepwell.compile({ADD!r}, cache=False)
        x = np.zeros((2, 3), np.float32)
        def work():
            while True:
                exe(x, x)
        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
