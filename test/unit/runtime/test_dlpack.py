"""Arrays of other libraries as arguments and outputs: their memory is used where it lies, and let go once."""

from __future__ import annotations

import ctypes
import gc
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import stepwell
from stepwell import te
from stepwell.lowering import create_prim_func
from stepwell.runtime.errors import ArgumentError
from stepwell.runtime.program.dlpack import as_inputs, from_capsule

ADD = """
func.func @main(%x: tensor<2x3xT>, %y: tensor<3xT>) -> tensor<2x3xT> {
  %0 = graph.add %x, %y : (tensor<2x3xT>, tensor<3xT>)
  func.return %0 : tensor<2x3xT>
}
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


class Foreign:
    """An array of another library that knows version 1 of the protocol."""

    def __init__(self, array: np.ndarray[Any, Any], device: tuple[int, int] = (1, 0)):
        self.array, self.device = array, device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **options: Any) -> Any:
        if self.device[0] != 1:
            raise BufferError("it is on another device")
        return self.array.__dlpack__(**options)


class Old(Foreign):
    """The same before version 1: capsules do not say whether they may be written."""

    def __dlpack__(self, stream: Any = None) -> Any:
        return self.array.__dlpack__()


class Raw:
    """A library of its own, which counts what was let go of: the memory of `array` as elements of any DLPack type."""

    def __init__(self, array: np.ndarray[Any, Any], code: int, bits: int, lanes: int = 1):
        self.freed = 0

        class Tensor(ctypes.Structure):
            _fields_ = [
                *(("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("rank", ctypes.c_int32)),
                *(("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)),
                *(("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)),
                *(("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)),
            ]

        def free(_: int) -> None:
            self.freed += 1

        self._free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(free)
        self._shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self._array = array
        self._tensor = Tensor(
            *(
                array.ctypes.data,
                (1, 0),
                array.ndim,
                code,
                bits,
                lanes,
                ctypes.addressof(self._shape),
                None,
                0,
            ),
            *(None, ctypes.cast(self._free, ctypes.c_void_p)),
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, stream: Any = None) -> Any:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self._tensor), b"dltensor", None)


def program(dtype: str, rows: str = "2") -> stepwell.Executable:
    return stepwell.compile(ADD.replace("2x3xT", f"{rows}x3xT").replace("T", dtype))


@pytest.mark.parametrize(
    ("dtype", "rows"),
    [
        (np.float32, "2"),
        (np.float32, "?"),
        (np.int8, "2"),
        (np.uint16, "2"),
        (np.float16, "2"),
        (np.bool_, "2"),
    ],
)
def test_inputs_of_another_library(dtype: Any, rows: str) -> None:
    names = {"float": "f", "uint": "ui", "int": "i"}
    name = np.dtype(dtype).name
    ours = "i1" if dtype is np.bool_ else next(name.replace(k, v) for k, v in names.items() if name.startswith(k))
    text = ADD.replace("graph.add", "graph.logical_or") if ours == "i1" else ADD
    exe = stepwell.compile(text.replace("2x3xT", f"{rows}x3xT").replace("T", ours))
    x, y = np.array([[1, 0, 3], [4, 5, 6]], dtype), np.array([0, 1, 0], dtype)
    for kind in (Foreign, Old):
        (found,) = exe(kind(x), kind(y))
        np.testing.assert_array_equal(found, x | y if ours == "i1" else x + y)
        (mixed,) = exe(x, kind(y))
        np.testing.assert_array_equal(mixed, found)


@pytest.mark.parametrize("kind", [Foreign, Old])
@pytest.mark.parametrize("rows", ["2", "?"])
def test_outputs_of_another_library_are_written_in_place(kind: Any, rows: str) -> None:
    x, y, z = np.ones((2, 3), np.float32), np.arange(3, dtype=np.float32), np.zeros((2, 3), np.float32)
    program("f32", rows).run_into([kind(z)], kind(x), y)
    np.testing.assert_array_equal(z, x + y)
    z.flags.writeable = False
    if kind is Foreign:  # an old capsule does not say
        with pytest.raises(ArgumentError, match="output 'result0' is read-only"):
            program("f32", rows).run_into([kind(z)], x, y)


def test_nothing_is_copied() -> None:
    x = np.ones((2, 3), np.float32)
    for foreign in (Foreign(x), Old(x)):
        assert np.shares_memory(from_capsule(foreign, "x"), x)
        (read,) = as_inputs([foreign], ["x"])
        assert np.shares_memory(read, x)
    given = [x, x]
    assert as_inputs(given, ["x", "y"]) is given


def test_strides_are_those_of_the_other_library() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)[:, ::2].T
    found = from_capsule(Old(x), "x")
    assert found.strides == x.strides
    (sums,) = program("f32")(Old(x), np.zeros(3, np.float32))
    np.testing.assert_array_equal(sums, x)


def test_bf16_is_read_and_written() -> None:
    x = np.array([[1, 2, 3], [4, 5, 6]], ml_dtypes.bfloat16)
    y, z = np.array([0.5, 1, 2], ml_dtypes.bfloat16), np.zeros((2, 3), ml_dtypes.bfloat16)
    exe = program("bf16")
    (found,) = exe(Raw(x, 4, 16), Raw(y, 4, 16))
    np.testing.assert_array_equal(found, x + y)
    exe.run_into([Raw(z, 4, 16)], x, y)
    np.testing.assert_array_equal(z, x + y)


@pytest.mark.parametrize("code", [10, 12], ids=["e4m3fn", "e5m2"])
def test_floats_of_8_bits_are_refused(code: int) -> None:
    raw = Raw(np.ones((2, 3), np.uint8), code, 8)
    with pytest.raises(ArgumentError) as error:
        from_capsule(raw, "x")
    assert str(error.value) == f"x has elements that there is no type for (code {code}, 8 bits, 1 lanes of DLPack)"


def test_memory_is_let_go_once_and_not_before_its_last_array() -> None:
    raw = Raw(np.ones((2, 3), np.float32), 2, 32)
    array = from_capsule(raw, "x")
    view = array[1:]
    del array
    gc.collect()
    assert raw.freed == 0 and view.sum() == 3
    del view
    gc.collect()
    assert raw.freed == 1
    x = np.ones((2, 3), np.float32)
    kept = weakref.ref(x)
    program("f32")(Foreign(x), x[0])
    del x
    gc.collect()
    assert kept() is None


def test_results_can_be_read_by_other_libraries() -> None:
    x = np.ones((2, 3), np.float32)
    (found,) = program("f32")(x, x[0])
    assert np.shares_memory(np.from_dlpack(found), found)


def test_what_cannot_be_read_is_named() -> None:
    exe, y = program("f32"), np.zeros(3, np.float32)
    x = np.ones((2, 3), np.float32)
    with pytest.raises(ArgumentError, match="argument 'x' lies on device 2:1 of DLPack, expected the memory of the"):
        exe(Foreign(x, (2, 1)), y)
    with pytest.raises(ArgumentError, match="argument 'x' has element type int32, expected float32"):
        exe(Foreign(x.astype(np.int32)), y)
    with pytest.raises(ArgumentError, match="argument 'x' has shape 1x3, expected tensor<2x3xf32>"):
        exe(Foreign(x[:1]), y)
    with pytest.raises(ArgumentError, match="takes 2 arguments .* found 3"):
        exe(Foreign(x), y, y)
    for raw in (Raw(x, 2, 32, lanes=2), Raw(x, 9, 32), Raw(x, 1, 4)):
        with pytest.raises(ArgumentError, match="argument 'x' has elements that there is no type for"):
            exe(raw, y)
        gc.collect()
        assert raw.freed >= 1


def test_a_library_that_refuses_is_quoted() -> None:
    class Refusing(Foreign):
        def __dlpack__(self, **_: Any) -> Any:
            raise BufferError("gradients are recorded")

    x = np.ones((2, 3), np.float32)
    with pytest.raises(ArgumentError, match="argument 'x' cannot be read by DLPack: gradients are recorded"):
        program("f32")(Refusing(x), x[0])


def test_shared_memory_is_found_behind_other_libraries() -> None:
    x = np.ones((2, 3), np.float32)
    with pytest.raises(ArgumentError, match="output 'result0' shares memory with another argument"):
        program("f32").run_into([Foreign(x)], Foreign(x), x[0].copy())


def test_a_loop_function_for_all_sizes_writes_into_their_memory() -> None:
    size = te.var("n")
    operand = te.placeholder((size,), "f32", "A")
    twice = te.compute((size,), lambda i: operand[i] * 2.0, name="B")
    exe = stepwell.compile(create_prim_func([operand, twice]))
    out, x = np.zeros(4, np.float32), np.ones(4, np.float32)
    exe.run_into([Foreign(out)], Foreign(x))
    assert out.tolist() == [2, 2, 2, 2]
