"""`run_into` of an executable: one function of machine code, and what it leaves to Python."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest
import stepwell
from at_once import at_once
from copy_entries import ADD, copy_entry
from stepwell.runtime.errors import ArgumentError, ExecutionError
from stepwell.runtime.program import fastcall
from stepwell.runtime.program.arrays import ArrayType

X = np.arange(4, dtype=np.float32)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("STEPWELL_FASTCALL", raising=False)


def is_native(run_into: Any) -> bool:
    return type(run_into).__name__ == "builtin_function_or_method"


class OwnList(list[Any]):
    """A list of another class."""


@pytest.mark.parametrize("arena", [0, 64])
@pytest.mark.parametrize("gather", [list, tuple, OwnList])
def test_outputs_in_any_sequence(arena: int, gather: Any) -> None:
    run_into = copy_entry(ArrayType("f32", (4,)), arena=arena).native_run_into()
    assert is_native(run_into)
    out = np.zeros(4, np.float32)
    for number in range(3):
        assert run_into(gather([out]), X + number) is None  # type: ignore[func-returns-value]
        np.testing.assert_array_equal(out, X + number)


def test_what_does_not_fit_is_said_by_python() -> None:
    exe = stepwell.compile(ADD)
    assert is_native(exe.run_into)
    a, b, c = (np.zeros((2, 3), np.float32) for _ in range(3))
    for outputs, inputs, message in (
        ([a, b], (c,), "'main' has 1 results, found 2 output arrays"),
        ([a], (b, c, c), "takes 2 arguments \\('x', 'y'\\), found 3"),
        ([], (a, b, c), "'main' has 1 results, found 0 output arrays"),
        ([a], (a, b), "shares memory with another argument"),
        ([a], (b.astype(np.int32), c), "argument 'x' "),
        ([[0.0]], (b, c), "'result0'"),
    ):
        with pytest.raises(ArgumentError, match=message):
            exe.run_into(outputs, *inputs)
    with pytest.raises(TypeError):
        exe.run_into()  # type: ignore[call-arg]
    exe.run_into([a], b[:, :], c + 1)
    assert (a == 1).all()
    exe.run_into([a], np.ones((3, 2), np.float32).T, c)  # copied by the slow way
    assert (a == 1).all()


def test_a_failed_check_is_raised_and_the_arena_comes_back() -> None:
    for status in (1, 2):
        run_into = copy_entry(ArrayType("f32", (4,)), 64, status).native_run_into()
        for _ in range(3):
            with pytest.raises(ExecutionError) as caught:
                run_into([np.empty(4, np.float32)], X)
            assert caught.value.reason == ("first", "second")[status - 1]


def test_no_weight_is_written() -> None:
    text = """builtin.module attributes {stepwell.weights = "w.safetensors"} {
      func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
        %w = graph.weight "w" : tensor<4xf32>
        %0 = graph.multiply %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        func.return %0 : tensor<4xf32>
      }
    }"""
    weight = np.ones(12, np.float32)
    used = weight[4:8]
    used.flags.writeable = False  # so it is not copied
    exe = stepwell.compile(text, weights={"w": used})
    assert is_native(exe.run_into)
    for start in (1, 4, 7):
        with pytest.raises(ArgumentError, match="shares memory with a weight"):
            exe.run_into([weight[start : start + 4]], X)
    assert (weight == 1).all()
    for start in (0, 8):
        exe.run_into([weight[start : start + 4]], X)
        np.testing.assert_array_equal(weight[start : start + 4], X)


def test_callers_at_the_same_time_have_arenas_of_their_own() -> None:
    text = """func.func @main(%x: tensor<64x257xf32>) -> tensor<64x257xf32> {
      %0 = graph.softmax %x : (tensor<64x257xf32>) -> tensor<64x257xf32>
      %1 = graph.softmax %0 : (tensor<64x257xf32>) -> tensor<64x257xf32>
      func.return %1 : tensor<64x257xf32>
    }"""
    exe = stepwell.compile(text, threads=1)
    random = np.random.default_rng(0)
    inputs = [random.standard_normal((64, 257), np.float32) for _ in range(4)]
    expected = [exe(x)[0] for x in inputs]
    wrong: list[int] = []

    def work(number: int) -> None:
        out = np.empty((64, 257), np.float32)
        for _ in range(50):
            out.fill(np.nan)
            exe.run_into((out,), inputs[number])
            if not np.array_equal(out, expected[number]):
                wrong.append(number)

    at_once(4, work)
    assert not wrong


def test_nothing_is_kept_and_all_that_is_needed_is() -> None:
    exe = stepwell.compile(ADD)
    x, y, out = np.ones((2, 3), np.float32), np.ones((2, 3), np.float32), np.empty((2, 3), np.float32)
    outputs = [out]
    counted = (x, y, out, outputs, None)
    before = [sys.getrefcount(value) for value in counted]
    for _ in range(1000):
        exe.run_into(outputs, x, y)
    after = [sys.getrefcount(value) for value in counted]
    assert all(abs(new - old) < 100 for new, old in zip(after, before, strict=True))
    run_into, dead = exe.run_into, weakref.ref(exe)
    del exe
    assert dead() is None  # no cycle
    gc.collect()
    run_into(outputs, x, y + 1)
    assert (out == 3).all()


def test_without_fast_calls_it_is_the_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fastcall, "_works", lambda use_cache: False)
    exe = stepwell.compile(ADD)
    assert not is_native(exe.run_into)
    x, out = np.ones((2, 3), np.float32), np.empty((2, 3), np.float32)
    exe.run_into([out], x, x)
    assert (out == 2).all()
