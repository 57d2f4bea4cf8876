"""The pool of threads itself: tasks are functions of Python, called through the address that programs get."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from at_once import at_once
from stepwell.runtime.errors import CompileError
from stepwell.runtime.native.threads import debt, patience, runner, thread_count
from stepwell.runtime.native.threads_text import BUDGET

TASK = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
RUN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


@pytest.fixture(autouse=True)
def shares_always() -> Iterator[None]:
    """Threads take part however busy the machine is."""
    found = patience()
    before, found.value = found.value, 0
    yield
    found.value = before


def run(threads: int, body: Callable[[int, int], int], lower: int, upper: int, chunk: int) -> int:
    """The status of all chunks, run by `body(first, end)`."""
    task = TASK(lambda _, first, end: body(first, end))
    return RUN(runner(threads).address)(ctypes.cast(task, ctypes.c_void_p), None, lower, upper, chunk)


def chunks(lower: int, upper: int, chunk: int) -> list[tuple[int, int]]:
    return [(first, min(first + chunk, upper)) for first in range(lower, upper, chunk)]


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize(
    ("lower", "upper", "chunk"), [(0, 40, 1), (3, 101, 7), (0, 5, 5), (-8, 9, 4), (4, 4, 1), (5, 2, 1)]
)
def test_every_chunk_runs_once_whatever_the_number_of_threads(threads: int, lower: int, upper: int, chunk: int) -> None:
    seen: list[tuple[int, int]] = []

    def body(first: int, end: int) -> int:
        seen.append((first, end))
        return 0

    for _ in range(20):
        seen.clear()
        assert run(threads, body, lower, upper, chunk) == 0
        assert sorted(seen) == chunks(lower, upper, chunk)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_lowest_chunk_that_fails_is_reported(threads: int) -> None:
    for failing in ({5}, {5, 6, 7, 8}, {0}, {30, 5, 12}, {39}):
        for _ in range(20):
            assert run(threads, lambda first, end, bad=failing: first + 1 if first in bad else 0, 0, 40, 1) == (
                min(failing) + 1
            )


def test_all_chunks_before_a_failing_one_have_run() -> None:
    """Those after it are left out once it is known: not always, as another thread may finish them in the meantime."""
    fewest = 100
    for _ in range(50):
        seen: list[int] = []

        def body(first: int, end: int, seen: list[int] = seen) -> int:
            seen.append(first)
            return 9 if first == 12 else 0

        assert run(3, body, 0, 100, 1) == 9
        assert set(range(13)) <= set(seen)
        fewest = min(fewest, len(seen))
    assert fewest < 100


def test_at_most_so_many_threads_take_part() -> None:
    for threads in (2, 3):
        taking_part: set[int] = set()
        for _ in range(100):

            def body(first: int, end: int, found: set[int] = taking_part) -> int:
                found.add(threading.get_ident())
                return 0

            run(threads, body, 0, 16, 1)
        inside: list[int] = []
        most: list[int] = [0]

        def count(first: int, end: int, inside: list[int] = inside, most: list[int] = most) -> int:
            inside.append(first)
            most[0] = max(most[0], len(inside))
            inside.remove(first)
            return 0

        for _ in range(50):
            run(threads, count, 0, 32, 1)
        assert most[0] <= threads


def test_a_task_that_calls_the_pool_runs_its_chunks_itself() -> None:
    seen: list[tuple[int, int]] = []

    def inner(first: int, end: int) -> int:
        seen.append((threading.get_ident(), first))
        return 0

    def outer(first: int, end: int) -> int:
        return run(3, inner, 10 * first, 10 * first + 10, 2)

    assert run(3, outer, 0, 8, 1) == 0
    assert sorted(first for _, first in seen) == list(range(0, 80, 2))
    by_block = {first // 10: thread for thread, first in seen}
    assert all(by_block[first // 10] == thread for thread, first in seen)


def test_several_callers_at_once_never_wait_for_each_other() -> None:
    failures: list[str] = []

    def caller(number: int) -> None:
        for turn in range(60):
            seen: list[int] = []

            def body(first: int, end: int, seen: list[int] = seen, turn: int = turn) -> int:
                seen.append(first)
                return turn if first == 3 and turn % 2 else 0

            status = run(2 + number % 2, body, 0, 12, 1)
            expected = turn if turn % 2 else 0
            if status != expected or (not expected and sorted(seen) != list(range(12))):
                failures.append(f"caller {number}, turn {turn}: {status}, {seen}")

    at_once(4, caller, 60)
    assert failures == []


def python(code: str, **variables: str) -> str:
    """What a Python of its own prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"} | variables,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout


COMMON = """
import ctypes, os, threading, time
from stepwell.runtime.native.threads import patience, runner
patience().value = 0
TASK = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
RUN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * 3)
seen = []
task = TASK(lambda _, first, end: seen.append(first) or 0)
def run(threads):
    seen.clear()
    assert RUN(runner(threads).address)(ctypes.cast(task, ctypes.c_void_p), None, 0, 50, 1) == 0
    assert sorted(seen) == list(range(50)), seen
def natives():
    return len(os.listdir("/proc/self/task"))
def shared(threads):
    before = time.monotonic()
    while natives() < threads:
        run(threads)
        assert time.monotonic() < before + 20, "no worker was started"
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads in /proc")
def test_threads_start_when_first_wanted_and_are_shared() -> None:
    code = COMMON + "run(1); one = natives(); shared(3); run(2); run(3)\n"
    assert python(code + "print(one, natives())").split() == ["1", "3"]


def test_a_process_ends_while_workers_are_awake() -> None:
    for _ in range(3):
        assert python(COMMON + "for _ in range(30): run(3)\nprint('done')").strip() == "done"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_has_a_pool_of_its_own() -> None:
    code = (
        COMMON
        + """
run(3)
for _ in range(5):
    child = os.fork()
    if child == 0:
        shared(3)
        os._exit(0)
    run(3)
    assert os.waitpid(child, 0)[1] == 0
print("done")
"""
    )
    assert python(code).strip() == "done"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_in_the_middle_of_a_job_leaves_the_child_a_pool_that_works() -> None:
    code = (
        COMMON
        + """
children = []
def forks(_, first, end):
    if first == 20 and not children:
        child = os.fork()
        if child == 0:
            run(2)
            os._exit(0)
        children.append(child)
    return 0
task_2 = TASK(forks)
assert RUN(runner(2).address)(ctypes.cast(task_2, ctypes.c_void_p), None, 0, 50, 1) == 0
assert os.waitpid(children[0], 0)[1] == 0
run(2)
print("done")
"""
    )
    assert python(code).strip() == "done"


@pytest.mark.parametrize("wrong", [0, -1])
def test_a_number_of_threads_is_at_least_one(wrong: int) -> None:
    with pytest.raises(CompileError, match="expected at least 1"):
        thread_count(wrong)


def test_the_environment_says_how_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_THREADS", "3")
    assert thread_count(None) == 3
    assert thread_count(2) == 2
    monkeypatch.setenv("STEPWELL_THREADS", "many")
    with pytest.raises(CompileError, match="STEPWELL_THREADS is 'many', expected at least 1"):
        thread_count(None)


def wait(first: int, end: int) -> int:
    time.sleep(0.002)  # takes no processor time, so by the clock this is a loss
    return 0


def test_a_loss_within_the_budget_is_a_debt() -> None:
    debt().value = 0
    assert run(2, wait, 0, 2, 1) == 0
    assert 0 < debt().value <= BUDGET


def test_after_a_loss_over_the_budget_the_caller_works_alone_for_a_while() -> None:
    patience().value = 10**9  # the least loss keeps everybody away for the longest time
    debt().value = BUDGET
    assert run(2, wait, 0, 8, 1) == 0
    seen: list[int] = []

    def note(first: int, end: int) -> int:
        seen.append(threading.get_ident())
        return 0

    assert run(2, note, 0, 200, 1) == 0
    assert set(seen) == {threading.get_ident()}
