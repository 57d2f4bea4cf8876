"""
Takes arrays of other libraries without a copy, by the DLPack protocol.

Whatever has `__dlpack__` and lies in the memory of this machine can be an argument, and an output of `run_into`. NumPy
reads what it can. The rest is read here: bf16, which NumPy has no name for, and outputs, which NumPy makes read-only
where a library gives capsules without version.

Source: DLPack 1.0, <https://dmlc.github.io/dlpack/latest/c_api.html>.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from ..errors import ArgumentError

_HOST_DEVICES = (1, 3, 11)
"""The devices whose memory the processor reads: its own, and pinned memory of CUDA and ROCm."""

_KINDS = {0: "i", 1: "u", 2: "f", 4: "bf", 6: "b"}
"""The type codes for which there are NumPy types, and the kind of the type."""

_READ_ONLY = 1


class _Tensor(ctypes.Structure):
    """The struct DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    """The struct DLManagedTensor."""

    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _Versioned(ctypes.Structure):
    """The struct DLManagedTensorVersioned."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_FORMS = (
    (b"dltensor_versioned", b"used_dltensor_versioned", _Versioned),
    (b"dltensor", b"used_dltensor", _Managed),
)
"""The names of a capsule before and after it was taken, and the struct that it holds."""


def is_foreign(value: Any) -> bool:
    """Returns whether `value` is an array of another library."""
    return not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__")


def as_inputs(values: Sequence[Any], names: Sequence[str]) -> Sequence[Any]:
    """Returns `values`, those of other libraries as arrays over the same memory. Without any, it is the same object."""
    if not any(map(is_foreign, values)):
        return values
    named = [*names, *["?"] * (len(values) - len(names))]
    return [
        _input(value, f"argument '{name}'") if is_foreign(value) else value
        for value, name in zip(values, named, strict=False)
    ]


def as_outputs(values: Sequence[Any], names: Sequence[str]) -> Sequence[Any]:
    """Returns what `as_inputs` does for arrays to write into."""
    if not any(map(is_foreign, values)):
        return values
    return [
        from_capsule(value, f"output '{name}'") if is_foreign(value) else value
        for value, name in zip(values, names, strict=True)
    ]


def _input(value: Any, name: str) -> np.ndarray[Any, Any]:
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError):
        return from_capsule(value, name)


def from_capsule(value: Any, name: str) -> np.ndarray[Any, Any]:
    """
    Returns an array over the memory of `value`, which it keeps alive. It is read-only when its library says so.

    Raises ArgumentError, in which it is called `name`, when it lies on another device, refuses to be read, or has
    elements without a NumPy type.
    """
    try:
        device, number = value.__dlpack_device__()
        if int(device) not in _HOST_DEVICES:
            raise ArgumentError(
                f"{name} lies on device {int(device)}:{number} of DLPack, expected the memory of the processor; "
                "copy it there first"
            )
        capsule = _capsule(value)
    except (BufferError, RuntimeError) as error:
        raise ArgumentError(f"{name} cannot be read by DLPack: {error}") from error
    except ValueError as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(f"{name} cannot be read by DLPack: {error}") from error
    for form, taken, layout in _FORMS:
        if _is_valid(capsule, form):
            address = _pointer(capsule, form)
            _rename(capsule, taken)
            return _Owner(address, layout.from_address(address), taken).array(name)
    raise ArgumentError(f"{name} gave no capsule of DLPack 1.0 or before")


def _capsule(value: Any) -> Any:
    try:
        return value.__dlpack__(max_version=(1, 0))
    except TypeError:  # before version 1
        return value.__dlpack__()


class _Owner:
    """
    Memory that another library owns, described for NumPy (`__array_interface__`).

    It is released with the last array over it.
    """

    def __init__(self, address: int, managed: Any, capsule_name: bytes):
        self._address, self._managed, self._capsule_name = address, managed, capsule_name

    def array(self, name: str) -> np.ndarray[Any, Any]:
        tensor = self._managed.tensor
        kind, shape = _KINDS.get(tensor.code), tuple(tensor.shape[: tensor.rank])
        if kind is None or tensor.bits % 8 or tensor.lanes != 1 or (kind == "bf" and tensor.bits != 16):
            what = f"code {tensor.code}, {tensor.bits} bits, {tensor.lanes} lanes"
            raise ArgumentError(f"{name} has elements that there is no type for ({what} of DLPack)")
        size = tensor.bits // 8
        strides = None if not tensor.strides else tuple(size * step for step in tensor.strides[: tensor.rank])
        read_only = bool(getattr(self._managed, "flags", 0) & _READ_ONLY)
        if 0 in shape or not tensor.data:
            return np.empty(shape, _dtype(kind, size))
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "strides": strides,
            "typestr": f"<u{size}" if kind == "bf" else f"<{kind}{size}" if kind != "b" else "|b1",
            "data": (tensor.data + tensor.byte_offset, read_only),
        }
        return np.asarray(self).view(_dtype(kind, size))

    def __del__(self) -> None:
        if self._managed.deleter:
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._managed.deleter)(self._address)


def _dtype(kind: str, size: int) -> np.dtype[Any]:
    if kind == "bf":
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(np.bool_) if kind == "b" else np.dtype(f"{kind}{size}")


def python_function(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    """
    Returns the function `name` of the C interface of Python, with types of its own.

    Others may set the types of `ctypes.pythonapi.name`.
    """
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_is_valid = python_function("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_pointer = python_function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_rename = python_function("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
