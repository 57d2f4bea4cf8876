"""
Makes an entry a CPython function that takes arrays straight through the buffer protocol, for cheap calls from Python.

One native function (`call_stub.py`) serves every entry of every program. A plan in a `bytes` object says what to call
with what. Arrays of bfloat16, which have no buffer format, go in as views on their bits, for a microsecond more. There
is no such function where it cannot work: another Python, 32 bits, no such symbols. Nor is there one where
`STEPWELL_FASTCALL=0` switches it off. Then calls go through ctypes.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final, NoReturn

import numpy as np

from ...lazy_dataclass import dataclass
from ...te.dtypes import numpy_dtype
from ..native.jit import NativeLibrary
from .arrays import ArrayType
from .call_stub import CALL, HEADER_WORDS, PROBE, RECORD_WORDS, STUB
from .call_stub_into import INTO, INTO_WORDS, RUN_INTO
from .dlpack import python_function

FastCall = Callable[..., int]
"""`fast(*inputs, *outputs[, arena address])`: 0, the number of the failed check, or `MISFIT`."""

RunInto = Callable[..., None]
"""`run_into(outputs, *arrays)`."""

Bytes = tuple[int, int]
"""An address and how many bytes there are."""

MISFIT = -1
"""What a fast call returns when an argument does not fit: nothing was run."""

MOST_ARRAYS = 256
MOST_POINTERS = 4096
"""
The most arguments of a fast call. Entries with more go through ctypes.

The call keeps 80 bytes per array and 8 per pointer on the stack.
"""

_C_CONTIGUOUS, _FORMAT, _WRITABLE = 0x38, 0x04, 0x01
_METH_FASTCALL = 0x80
_FORMATS = "?bBhHiIlLqQefd"
"""The native element types of the buffer protocol that NumPy names by the same character."""


@dataclass(frozen=True)
class Passed:
    """An argument that Python passes as an array: its place among the native pointers, and its type."""

    index: int
    type: ArrayType
    is_output: bool
    second: int | None = None
    """The place of another pointer to it: a donated input, in whose place the output lies."""


@dataclass(frozen=True)
class FastEntry:
    """The fast call of an entry, and what makes its `run_into`."""

    call: FastCall
    plan: bytes
    stub: Stub
    kept: object
    takes_bits: bool = False
    """True where an array is of bfloat16. There is no native `run_into` then."""

    def run_into(
        self,
        arena: np.ndarray[Any, Any] | None,
        otherwise: Callable[..., None],
        fail: Callable[[int], NoReturn],
    ) -> RunInto:
        """
        Returns `run_into(outputs, *arrays)`, which runs the entry in the memory of `arena`.

        It calls `fail` with the number of a failed check. It calls `otherwise` with the same arguments when it cannot
        run them, or when another call has the arena.
        """
        slot = np.array([0 if arena is None else arena.ctypes.data], np.uint64)
        words = [slot.ctypes.data, id(otherwise), id(fail), id(list), id(tuple), id(None)]
        assert len(words) == INTO_WORDS
        kept = (self.stub, self.kept, slot, arena, otherwise, fail)
        return _function(_packed(words) + self.plan, self.stub.run_into, kept)


def fast_entry(
    native: int,
    fixed: Sequence[int | None],
    arrays: Sequence[Passed],
    arena: int | None,
    kept: object,
    use_cache: bool = True,
    untouched: Sequence[Bytes] = (),
) -> FastEntry | None:
    """
    Returns the fast call of the native entry at address `native`, or None when there can be none.

    It takes `arrays`, the inputs before the outputs.

    `fixed` holds the pointers that are the same on each call (weights), and `arena` is the place of the arena among
    them. `kept` lives as long as the function: it is whatever owns the code and the memory behind the addresses.
    `use_cache` says whether the compile cache on disk may be used. Outputs in the bytes `untouched` do not fit.
    """
    if os.environ.get("STEPWELL_FASTCALL") == "0":
        return None
    halves = [place for place, array in enumerate(arrays) if array.type.dtype == "bf16"]
    arrays = [replace(array, type=_bits_of(array.type)) for array in arrays]
    if any(not array.type.is_static or not _formats(array.type.dtype) for array in arrays):
        return None
    if len(arrays) > MOST_ARRAYS or len(fixed) > MOST_POINTERS or not _works(use_cache):
        return None
    plan, stub = _plan(native, fixed, arrays, arena, untouched), _stub(use_cache)
    call = _function(plan, stub.call, (stub, kept))
    return FastEntry(_on_bits(call, halves) if halves else call, plan, stub, kept, bool(halves))


def _bits_of(type_: ArrayType) -> ArrayType:
    """Returns the type as which the buffer protocol has an array: words for bfloat16."""
    return replace(type_, dtype="ui16") if type_.dtype == "bf16" else type_


def _on_bits(call: FastCall, halves: Sequence[int]) -> FastCall:
    """Returns `call` with views on the bits of the arguments at the places `halves`, which must be of bfloat16."""
    half, bits = numpy_dtype("bf16"), np.dtype(np.uint16)

    def call_on_bits(*arguments: Any) -> int:
        found = list(arguments)
        for place in halves:
            array = found[place]
            if type(array) is not np.ndarray or array.dtype != half:
                return MISFIT
            found[place] = array.view(bits)
        return call(*found)

    return call_on_bits


@cache
def _formats(dtype: str) -> tuple[int, ...]:
    """Returns the format characters under which NumPy exports arrays of `dtype`."""
    wanted = numpy_dtype(dtype)
    return tuple(ord(name) for name in _FORMATS if np.dtype(name) == wanted)


def _plan(
    native: int,
    fixed: Sequence[int | None],
    arrays: Sequence[Passed],
    arena: int | None,
    untouched: Sequence[Bytes] = (),
) -> bytes:
    """Returns the words that `call_stub.py` describes."""
    inputs = sum(not array.is_output for array in arrays)
    place = -1 if arena is None else arena
    words = [native, len(fixed), len(arrays), inputs, place, id(np.ndarray), len(untouched)]
    assert len(words) == HEADER_WORDS
    words += [pointer or 0 for pointer in fixed]
    words += [word for run in untouched for word in run]
    for array in arrays:
        words += _record(array)
    return _packed(words)


def _packed(words: Sequence[int]) -> bytes:
    """Returns the words as bytes. Addresses may use the top bit, so a word is kept modulo 2^64."""
    return struct.pack(f"={len(words)}Q", *(word & 0xFFFF_FFFF_FFFF_FFFF for word in words))


def _record(array: Passed) -> list[int]:
    dtype, formats = numpy_dtype(array.type.dtype), _formats(array.type.dtype)
    flags = _C_CONTIGUOUS | _FORMAT | (_WRITABLE if array.is_output else 0)
    sizes = [size or 0 for size in array.type.shape]
    second = array.index if array.second is None else array.second
    record = [array.index, flags, dtype.itemsize, dtype.alignment - 1, formats[0], formats[-1], len(sizes), second]
    assert len(record) == RECORD_WORDS
    return record + sizes


class _MethodDefinition(ctypes.Structure):
    """The struct PyMethodDef of CPython."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    ]


class _Buffer(ctypes.Structure):
    """The struct Py_buffer of CPython."""

    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


@dataclass(frozen=True)
class Stub:
    """The loaded stub and the method definitions that name its functions. Every function keeps them alive."""

    library: NativeLibrary
    call: _MethodDefinition
    run_into: _MethodDefinition


CALLING_TEXT: Final = STUB + INTO
"""The LLVM text of the functions that call programs."""


@cache
def _stub(use_cache: bool) -> Stub:
    library = NativeLibrary.kept(CALLING_TEXT, [CALL, RUN_INTO, PROBE], use_cache)
    call = _MethodDefinition(b"stepwell_entry", library.address(CALL), _METH_FASTCALL, None)
    run_into = _MethodDefinition(b"run_into", library.address(RUN_INTO), _METH_FASTCALL, None)
    return Stub(library, call, run_into)


def _function(plan: bytes, definition: _MethodDefinition, kept: object) -> Callable[..., Any]:
    """Returns the CPython function over `plan`. Its self is the plan, its module is all that must live with it."""
    make = python_function("PyCFunction_NewEx", ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
    return make(ctypes.addressof(definition), plan, kept)


@cache
def _works(use_cache: bool) -> bool:
    """Returns whether fast calls work here: CPython on 64 bits, buffers as the stub expects, and a probe succeeds."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    try:
        return _buffers_are_as_expected() and _probe_succeeds(_stub(use_cache))
    except Exception:  # Whatever is wrong, ctypes still works.
        return False


def _buffers_are_as_expected() -> bool:
    """Returns whether PyObject_GetBuffer fills in a Py_buffer of the known layout and no byte more."""
    array = np.zeros((3, 5), np.float32)
    size = ctypes.sizeof(_Buffer)
    memory = (ctypes.c_ubyte * (size + 64))(*[0xA5] * (size + 64))
    buffer = _Buffer.from_buffer(memory)
    get = python_function("PyObject_GetBuffer", ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)
    release = python_function("PyBuffer_Release", None, ctypes.c_void_p)
    get(array, ctypes.byref(buffer), _C_CONTIGUOUS | _FORMAT | _WRITABLE)
    seen = (buffer.buf, buffer.obj, buffer.len, buffer.itemsize, buffer.readonly, buffer.ndim, buffer.format)
    shape_and_strides = buffer.shape[:2], buffer.strides[:2]
    release(ctypes.byref(buffer))
    return (
        size == 80
        and seen == (array.ctypes.data, id(array), 60, 4, 0, 2, b"f")
        and shape_and_strides == ([3, 5], [20, 4])
        and all(byte == 0xA5 for byte in memory[size:])
    )


def _probe_succeeds(stub: Stub) -> bool:
    """Calls a tiny entry. Returns whether a fitting call runs, calls that do not fit fail, and no array is kept."""
    type_ = ArrayType("i32", (1, 1))
    arrays = [Passed(0, type_, False), Passed(1, type_, True)]
    fast = _function(_plan(stub.library.address(PROBE), [None, None], arrays, None), stub.call, stub)
    source, target = np.full((1, 1), 77, np.int32), np.zeros((1, 1), np.int32)
    counts = sys.getrefcount(source), sys.getrefcount(target)
    status = fast(source, target)
    misfits = [
        fast(source),
        fast(source, source),
        fast(source[0], target),
        fast(source.astype(np.float32), target),
        fast(b"text", target),
        fast(None, target),
    ]
    return (
        status == 77
        and target[0, 0] == 77
        and misfits == [MISFIT] * len(misfits)
        and counts == (sys.getrefcount(source), sys.getrefcount(target))
    )
