"""Fast calls and calls through ctypes: the same results, the same messages, whatever the arguments."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import stepwell
from copy_entries import ADD, both, copy_entry, is_fast
from stepwell.runtime.errors import ArgumentError, ExecutionError
from stepwell.runtime.native.jit import compile_object
from stepwell.runtime.program import fastcall
from stepwell.runtime.program.arrays import ArrayType
from stepwell.runtime.program.description import Argument, Description, Entry
from stepwell.runtime.program.program import Program
from stepwell.te.dtypes import numpy_dtype

DTYPES = ["i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "f32", "f64", "bf16"]
SHAPES = [(), (0,), (5,), (3, 1), (0, 4), (2, 3, 4), (1, 1, 1), (2, 1, 3, 2), (2, 3, 0, 1)]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("STEPWELL_FASTCALL", raising=False)


def sample(dtype: str, shape: Sequence[int]) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(len(shape))
    if dtype == "i1":
        return np.asarray(random.integers(0, 2, shape), np.bool_)
    return np.asarray(random.integers(0, 100, shape)).astype(numpy_dtype(dtype))


@pytest.mark.ci_cases(5)
@pytest.mark.parametrize("dtype", DTYPES)
def test_both_ways_copy_every_type_and_rank(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for shape in SHAPES:
        fast, slow = both(monkeypatch, lambda shape=shape: copy_entry(ArrayType(dtype, shape)))
        assert is_fast(fast) and not is_fast(slow)
        x = sample(dtype, shape)
        assert fast._fast(x, np.empty_like(x)) == 0
        for bound in (fast, slow):
            (result,) = bound(x)
            assert result.dtype == x.dtype and result.shape == x.shape
            np.testing.assert_array_equal(result, x)


def layouts() -> list[Any]:
    """The same 3x4 array of f32 in layouts that native code cannot read in place."""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    raw = np.zeros(49, np.uint8)
    unaligned = raw[1:].view(np.float32).reshape(3, 4)
    unaligned[...] = x
    return [
        np.asfortranarray(x),
        np.repeat(x, 2, axis=1)[:, ::2],
        x[::-1].copy()[::-1],
        x[:, ::-1].copy()[:, ::-1],
        unaligned,
    ]


@pytest.mark.parametrize("number", range(5))
def test_other_layouts_do_not_fit_and_are_copied(number: int) -> None:
    bound = copy_entry(ArrayType("f32", (3, 4)))
    x = layouts()[number]
    assert bound._fast(x, np.empty((3, 4), np.float32)) == fastcall.MISFIT
    np.testing.assert_array_equal(bound(x)[0], np.arange(12, dtype=np.float32).reshape(3, 4))


def test_a_broadcast_view_is_copied() -> None:
    bound = copy_entry(ArrayType("f32", (3, 4)))
    x = np.broadcast_to(np.float32(7), (3, 4))
    assert bound(x)[0].tolist() == [[7] * 4] * 3


def test_strides_of_dimensions_of_size_one_do_not_matter() -> None:
    bound = copy_entry(ArrayType("f32", (1, 4)))
    x = np.arange(8, dtype=np.float32).reshape(2, 4)[::-2]
    out = np.empty((1, 4), np.float32)
    assert bound._fast(x, out) == 0 and out.tolist() == [[4, 5, 6, 7]]


def test_types_of_the_same_layout_fit() -> None:
    bound = copy_entry(ArrayType("i64", (2,)))
    for dtype in (np.longlong, np.dtype("<i8"), np.int64):
        x = np.array([1, -2], dtype)
        out = np.empty(2, np.int64)
        assert bound._fast(x, out) == (0 if sys.byteorder == "little" else fastcall.MISFIT)
        np.testing.assert_array_equal(bound(x)[0], x)


class Labelled(np.ndarray):
    """A subclass, which counts as an array."""


def test_subclasses_become_arrays_first() -> None:
    """They may have attributes of their own, such as a mask."""
    bound = copy_entry(ArrayType("f32", (3,)))
    x = np.arange(3, dtype=np.float32).view(Labelled)
    assert bound._fast(x, np.empty(3, np.float32)) == fastcall.MISFIT
    assert bound(x)[0].tolist() == [0, 1, 2]


class Deceiver:
    """Says that it is an array, but has no buffer."""

    __class__ = np.ndarray  # type: ignore[assignment]


class Raiser:
    """Raises when asked for its class."""

    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise KeyError("class")


X = np.zeros(4, np.float32)
WRONG: list[Any] = [
    [0.1] * 4,
    None,
    1.5,
    b"0123456789abcdef",
    memoryview(X),
    np.float32(1),
    X.astype(np.float64),
    X.astype(np.int32),
    X.astype(">f4"),
    X.astype(np.complex64),
    X.astype(object),
    X.astype("U1"),
    np.zeros(4, "M8[s]"),
    np.zeros(4, [("a", "f4")]),
    X[:3],
    X.reshape(2, 2),
    X.reshape(1, 4),
    X[:0],
    np.zeros((), np.float32),
    np.zeros(4, ml_dtypes.bfloat16),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_arguments_have_the_same_messages(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[str] = []
    for bound in both(monkeypatch, lambda: copy_entry(ArrayType("f32", (4,)))):
        with pytest.raises(ArgumentError) as caught:
            bound(WRONG[number])
        messages.append(str(caught.value))
        with pytest.raises(ArgumentError) as caught:
            bound.run_into([np.empty(4, np.float32)], WRONG[number])
        messages.append(str(caught.value))
    assert len(set(messages)) == 1 and messages[0].startswith("argument 'x' ")


def test_a_fast_call_never_leaves_an_exception() -> None:
    fast, out = copy_entry(ArrayType("f32", (4,)))._fast, np.empty(4, np.float32)
    frozen = out.copy()
    frozen.flags.writeable = False
    for value in (*WRONG, Deceiver(), Raiser()):
        assert fast(value, out) == fastcall.MISFIT
        assert fast(X, value) == fastcall.MISFIT
    assert fast(X, frozen) == fastcall.MISFIT
    assert fast(X, X) == fastcall.MISFIT
    for number in (0, 1, 3):
        assert fast(*[X] * number) == fastcall.MISFIT


def test_an_array_of_bf16_is_no_array_of_its_bits() -> None:
    fast, x = copy_entry(ArrayType("bf16", (4,)))._fast, np.zeros(4, ml_dtypes.bfloat16)
    for value in (x.view(np.uint16), x.view(np.float16), x[::2], x[:3], x.astype(np.float32), None, [0.0] * 4):
        assert fast(value, x.copy()) == fastcall.MISFIT
        assert fast(x, value) == fastcall.MISFIT
    assert fast(x, x) == fastcall.MISFIT


def test_an_arena_must_be_an_address() -> None:
    fast, out = copy_entry(ArrayType("f32", (4,)), arena=64)._fast, np.empty(4, np.float32)
    for wrong in ("text", None, 0, 1.5, 2**70):
        assert fast(X, out, wrong) == fastcall.MISFIT
    assert fast(X, out) == fastcall.MISFIT
    arena = np.empty(64, np.uint8)
    assert fast(X, out, arena.ctypes.data) == 0


@pytest.mark.parametrize("wrong", [lambda: np.empty(3, np.float32), lambda: np.empty(4, np.int32), lambda: [0.0] * 4])
def test_outputs_that_do_not_fit_have_the_same_messages(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[str] = []
    for bound in both(monkeypatch, lambda: copy_entry(ArrayType("f32", (4,)))):
        with pytest.raises(ArgumentError) as caught:
            bound.run_into([wrong()], X)
        messages.append(str(caught.value))
    assert len(set(messages)) == 1 and "'result0'" in messages[0]


def test_overlap_is_refused_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = np.zeros(9, np.float32)
    for bound in both(monkeypatch, lambda: copy_entry(ArrayType("f32", (4,)))):
        for x, out in ((memory[:4], memory[3:7]), (memory[3:7], memory[:4]), (memory[::2][:4], memory[1:5])):
            with pytest.raises(ArgumentError, match="shares memory with another argument"):
                bound.run_into([out], x)
        bound.run_into([memory[4:8]], memory[:4])


def test_outputs_are_never_taken_for_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, c = (np.zeros((2, 3), np.float32) for _ in range(3))
    for exe in both(monkeypatch, lambda: stepwell.compile(ADD)):
        with pytest.raises(ArgumentError, match="'main' has 1 results, found 2 output arrays"):
            exe.run_into([a, b], c)
        with pytest.raises(ArgumentError, match="takes 2 arguments \\('x', 'y'\\), found 3"):
            exe.run_into([a], b, c, c)
        with pytest.raises(ArgumentError, match="'main' has 1 results, found 0 output arrays"):
            exe.run_into([], a, b, c)


def test_failing_checks_are_exceptions_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    for arena, status in itertools.product((0, 64), (1, 2)):
        for bound in both(monkeypatch, lambda a=arena, s=status: copy_entry(ArrayType("f32", (4,)), a, s)):
            for _ in range(3):
                with pytest.raises(ExecutionError) as caught:
                    bound(X)
                assert caught.value.reason == ("first", "second")[status - 1]
            assert len(bound._arena_memory) == (1 if arena else 0)


NO_INPUTS = """func.func @main() -> (tensor<2xf32>, tensor<i64>) {
  %0 = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = graph.constant dense<3> : tensor<i64>
  func.return %0, %1 : tensor<2xf32>, tensor<i64>
}"""


def test_programs_without_inputs_or_results(monkeypatch: pytest.MonkeyPatch) -> None:
    for exe in both(monkeypatch, lambda: stepwell.compile(NO_INPUTS)):
        first, second = exe()
        assert first.tolist() == [1, 2] and second.shape == () and second == 3
    nothing = "define i32 @_stepwell_entry_main(ptr %arguments) { ret i32 0 }"
    program = Program(Description((Entry("main", ()),), ()), compile_object(nothing), {})
    assert is_fast(program.entry("main")) and program.entry("main")() == ()


def test_many_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    for count, fits in ((40, True), (300, False)):
        type_ = ArrayType("f32", (1,))
        arguments = [Argument("input", f"x{i}", type_) for i in range(count)]
        arguments.append(Argument("output", "result0", type_))
        last = f"""define i32 @_stepwell_entry_main(ptr %arguments) {{
          %from.at = getelementptr ptr, ptr %arguments, i64 {count - 1}
          %from = load ptr, ptr %from.at
          %to.at = getelementptr ptr, ptr %arguments, i64 {count}
          %to = load ptr, ptr %to.at
          %value = load float, ptr %from
          store float %value, ptr %to
          ret i32 0
        }}"""
        program = Program(Description((Entry("main", tuple(arguments)),), ()), compile_object(last), {})
        bound = program.entry("main")
        assert is_fast(bound) == fits
        assert bound(*[np.array([i], np.float32) for i in range(count)])[0] == [count - 1]


DYNAMIC = """func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = graph.negative %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %0 : tensor<?x3xf32>
}"""


def test_messages_of_programs_with_unknown_sizes_name_the_declared_type(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for setting in ("1", "0"):
        monkeypatch.setenv("STEPWELL_FASTCALL", setting)
        exe = stepwell.compile(DYNAMIC)
        x = np.ones((2, 3), np.float32)
        for _ in range(2):  # before and after the sizes are known
            for wrong, text in ((x.astype(np.int32), "has element type int32"), (str(x), "is a str")):
                with pytest.raises(ArgumentError, match=f"argument 'x' {text}.*tensor<\\?x3xf32>"):
                    exe(wrong)
            with pytest.raises(ArgumentError, match="takes 1 argument \\('x'\\), found 0"):
                exe()
            np.testing.assert_array_equal(exe(x)[0], -x)
            np.testing.assert_array_equal(exe(np.asfortranarray(x))[0], -x)
            out = np.empty((2, 3), np.float32)
            exe.run_into([out], x)
            np.testing.assert_array_equal(out, -x)
            with pytest.raises(ArgumentError, match="output 'result0' shares memory"):
                exe.run_into([x], x)
