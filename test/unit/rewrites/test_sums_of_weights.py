"""Products and convolutions of bytes whose zero points ask for sums of weights, beside NumPy in whole numbers."""

from __future__ import annotations

import ctypes
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from numpy.lib.stride_tricks import sliding_window_view
from stepwell.core import write_weights
from stepwell.core.weights import WeightsError, open_weights
from stepwell.runtime.errors import CompileError

Array = np.ndarray[Any, Any]

MATMUL = """
module attributes {stepwell.weights = "w.safetensors"} {
  func.func @main(%x: tensor<5x32xTX>) -> tensor<5x24xf32> {
    %w = graph.weight "w" : tensor<WSHAPExTW>
    %s = graph.full 0.5 : tensor<f32>
    %sw = graph.full 0.25 : tensor<f32>
    %zx = graph.full ZX : tensor<TX>
    %zw = graph.full ZW : tensor<TW>
    %a = graph.dequantize %x, %s, %zx : (tensor<5x32xTX>, tensor<f32>, tensor<TX>) -> tensor<5x32xf32>
    %b = graph.dequantize %w, %sw, %zw : (tensor<WSHAPExTW>, tensor<f32>, tensor<TW>) -> tensor<WSHAPExf32>
    TURN
    %y = graph.matmul %a, %k : (tensor<5x32xf32>, tensor<32x24xf32>) -> tensor<5x24xf32>
    func.return %y : tensor<5x24xf32>
  }
}
"""

DTYPES: dict[str, Any] = {"i8": np.int8, "ui8": np.uint8}


def any_bytes(random: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    limits = np.iinfo(DTYPES[dtype])
    return random.integers(limits.min, limits.max + 1, shape).astype(DTYPES[dtype])


def matmul(left: str, right: str, transposed: bool, zeros: tuple[int, int]) -> tuple[str, Array, Array, Array]:
    """Returns a program, its weight, an input, and the result."""
    random = np.random.default_rng(1)
    w = any_bytes(random, right, (24, 32) if transposed else (32, 24))
    x = any_bytes(random, left, (5, 32))
    turn = "%k = graph.permute_dims %b : (tensor<24x32xf32>) -> tensor<32x24xf32>"
    text = MATMUL.replace("TURN", turn) if transposed else MATMUL.replace("TURN", "").replace("%k", "%b")
    text = text.replace("WSHAPE", "x".join(map(str, w.shape)))
    for name, value in (("TX", left), ("TW", right), ("ZX", zeros[0]), ("ZW", zeros[1])):
        text = text.replace(name, str(value))
    wide = (w.T if transposed else w).astype(np.int64) - zeros[1]
    return text, w, x, ((x.astype(np.int64) - zeros[0]) @ wide * 0.125).astype(np.float32)


@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("right", DTYPES)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("zeros", [(3, 7), (1, 1), (5, 128), (0, 0), (127, 0)])
def test_products(
    left: str, right: str, transposed: bool, zeros: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sums are exact whole numbers, and what they are multiplied with is a power of two."""
    monkeypatch.chdir(tmp_path)
    if right == "i8":
        zeros = (zeros[0], zeros[1] % 128)
    text, w, x, wanted = matmul(left, right, transposed, zeros)
    write_weights("w.safetensors", {"w": w})
    for level in (1, 3):
        np.testing.assert_array_equal(stepwell.compile(text, cache=False, opt_level=level)(x)[0], wanted)
    np.testing.assert_array_equal(stepwell.compile(text, cache=False, weights={"w": w})(x)[0], wanted)


CONVOLUTION = """
func.func @main(%x: tensor<1xCx9x9xui8>) -> tensor<1x32xHxHxf32> {
  %w = graph.weight "w" : tensor<32xIx3x3xTW>
  %s = graph.full 0.5 : tensor<f32>
  %sw = graph.full 0.25 : tensor<f32>
  %zx = graph.full ZX : tensor<ui8>
  %zw = graph.full ZW : tensor<TW>
  %a = graph.dequantize %x, %s, %zx : (tensor<1xCx9x9xui8>, tensor<f32>, tensor<ui8>) -> tensor<1xCx9x9xf32>
  %b = graph.dequantize %w, %sw, %zw : (tensor<32xIx3x3xTW>, tensor<f32>, tensor<TW>) -> tensor<32xIx3x3xf32>
  %y = graph.conv2d %a, %b, padding = [P, P, P, P], groups = G : (tensor<1xCx9x9xf32>, tensor<32xIx3x3xf32>)
    -> tensor<1x32xHxHxf32>
  func.return %y : tensor<1x32xHxHxf32>
}
"""


@pytest.mark.parametrize("groups", [1, 32])
@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("weights", DTYPES)
@pytest.mark.parametrize("zero", [1, 129, 200])
def test_convolutions(groups: int, padding: int, weights: str, zero: int) -> None:
    random = np.random.default_rng(2)
    channels, inputs = (16, 16) if groups == 1 else (32, 1)
    middle = 0 if weights == "i8" else 128
    x, w = any_bytes(random, "ui8", (1, channels, 9, 9)), any_bytes(random, weights, (32, inputs, 3, 3))
    text = CONVOLUTION
    for name, value in (("xC", f"x{channels}"), ("xI", f"x{inputs}"), ("xH", f"x{7 + 2 * padding}"), ("TW", weights)):
        text = text.replace(name, str(value))
    for name, value in (("ZX", zero), ("ZW", middle), ("= G", f"= {groups}"), ("P", padding)):
        text = text.replace(name, str(value))
    image = np.pad(x.astype(np.int64) - zero, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    windows = sliding_window_view(image, (3, 3), axis=(2, 3))[0]
    kernel = w.astype(np.int64) - middle
    rule = "chwij,ocij->ohw" if groups == 1 else "chwij,cij->chw"
    wanted = np.einsum(rule, windows, kernel if groups == 1 else kernel[:, 0]) * 0.125
    found = stepwell.compile(text, cache=False, weights={"w": w})(x)[0]
    np.testing.assert_array_equal(found[0], wanted.astype(np.float32))


def test_saved_pickled_and_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each makes the sums of the weights that it has, or has them."""
    monkeypatch.chdir(tmp_path)
    text, w, x, wanted = matmul("ui8", "i8", False, (3, 0))
    write_weights("w.safetensors", {"w": w})
    executable = stepwell.compile(text, cache=False)
    for prepared in (False, True):
        executable.save("p.stepwell", prepared=prepared)
        np.testing.assert_array_equal(stepwell.load("p.stepwell")(x)[0], wanted)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(executable))(x)[0], wanted)
    before = Path("w.safetensors").read_bytes()
    for name in ("p", "w"):  # w.safetensors is the side-car, which stays as it is
        executable.export(f"{name}.so")
        library = ctypes.CDLL(str(tmp_path / f"{name}.so"))
        context = ctypes.c_void_p()
        assert library[f"{name}_load"](f"{name}.safetensors".encode(), ctypes.byref(context)) == 0
        y = np.zeros((5, 24), np.float32)
        pointers = (ctypes.c_void_p * 1)(x.ctypes.data), (ctypes.c_void_p * 1)(y.ctypes.data)
        assert library[f"{name}_run"](context, *pointers) == 0
        library[f"{name}_free"](context)
        np.testing.assert_array_equal(y, wanted)
    assert Path("w.safetensors").read_bytes() == before and set(open_weights("p.safetensors").keys()) == {"w"}


@pytest.mark.parametrize("key", ["w#packed", "a#sums0*3", "w#sums1*3", "x#sums0*-4#packed"])
def test_tensors_whose_keys_look_so(key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text, w, x, wanted = matmul("ui8", "i8", False, (3, 0))
    executable = stepwell.compile(text.replace('"w"', f'"{key}"'), cache=False, weights={key: w})
    for prepared in (False, True):
        executable.save("p.stepwell", prepared=prepared)
        np.testing.assert_array_equal(stepwell.load("p.stepwell")(x)[0], wanted)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(executable))(x)[0], wanted)


def test_a_tensor_with_the_key_of_sums_goes_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In files, and in what is saved and pickled of them."""
    monkeypatch.chdir(tmp_path)
    text, w, x, wanted = matmul("i8", "i8", False, (2, 0))
    own = np.arange(24, dtype=np.int32)
    write_weights("w.safetensors", {"w": w, "w#sums1*2": own})
    right = ((x.astype(np.int64) @ w - own) * 0.125).astype(np.float32)
    assert not np.array_equal(right, wanted)
    executable = stepwell.compile(text, cache=False)
    executable.save("p.stepwell", prepared=False)
    kept = pickle.loads(pickle.dumps(executable))
    for each in (executable, stepwell.load("p.stepwell"), kept):
        np.testing.assert_array_equal(each(x)[0], right)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"w": np.zeros((32, 24), np.float32)}, "tensor 'w' is tensor<32x24xf32>, expected tensor<32x24xi8>"),
        ({"w": np.zeros(768, np.int8)}, "tensor 'w' is tensor<768xi8>, expected tensor<32x24xi8>"),
        ({"w": np.zeros((24, 32), np.int8)}, "tensor 'w' is tensor<24x32xi8>, expected tensor<32x24xi8>"),
        ({"v": np.zeros(3, np.int8)}, "there is no tensor 'w'"),
    ],
)
def test_files_that_do_not_fit(
    tensors: dict[str, Array], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors speak of the tensor that the program names, where it names it."""
    monkeypatch.chdir(tmp_path)
    write_weights("w.safetensors", tensors)
    with pytest.raises(WeightsError) as caught:
        stepwell.compile(matmul("ui8", "i8", False, (3, 0))[0], cache=False)
    told = str(caught.value)
    assert message in told and ":4:5: error: " in told and "#sums" not in told, told


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ww": np.zeros((32, 24), np.int8)}, "the weights given have no 'w'; did you mean 'ww'"),
        ({"w": np.zeros((24, 32), np.int8)}, "weight 'w' is given as 24x32xint8, the program expects tensor<32x24xi8>"),
        ({"w": np.zeros((32, 24), np.float32)}, "weight 'w' is given as 32x24xfloat32, the program expects"),
    ],
)
def test_arrays_that_do_not_fit(given: dict[str, Array], message: str) -> None:
    with pytest.raises(CompileError, match=message):
        stepwell.compile(matmul("ui8", "i8", False, (3, 0))[0], cache=False, weights=given)


def test_layers_share_a_kernel() -> None:
    """Also where a zero point is 1 or -1, which no rule takes for a special factor."""
    texts: list[str] = []
    for layer, (zx, zw) in enumerate([(3, 5), (1, -1), (-1, 1), (-7, 9)]):
        texts += [
            f"%zx{layer} = graph.full {zx} : tensor<i8>",
            f"%zw{layer} = graph.full {zw} : tensor<i8>",
            f"%a{layer} = graph.dequantize %x{layer}, %s, %zx{layer} : (tensor<4x16x8xi8>, tensor<f32>, tensor<i8>)",
            f"%b{layer} = graph.dequantize %w{layer}, %s, %zw{layer} : (tensor<4x8x16xi8>, tensor<f32>, tensor<i8>)",
            f"%y{layer} = graph.matmul %a{layer}, %b{layer} : (tensor<4x16x8xf32>, tensor<4x8x16xf32>)",
        ]
    arguments = ", ".join(f"%x{i}: tensor<4x16x8xi8>, %w{i}: tensor<4x8x16xi8>" for i in range(4))
    returned = ", ".join(f"%y{i}" for i in range(4))
    types = ", ".join(["tensor<4x16x16xf32>"] * 4)
    body = "\n  ".join(["%s = graph.full 0.5 : tensor<f32>", *texts])
    text = f"func.func @main({arguments}) -> ({types}) {{\n  {body}\n  func.return {returned} : {types}\n}}"
    executable = stepwell.compile(text, cache=False)
    shown = executable.ir("graph")
    assert shown.count("graph.matmul ") == 1, shown
    random = np.random.default_rng(3)
    given = [any_bytes(random, "i8", shape) for _ in range(4) for shape in ((4, 16, 8), (4, 8, 16))]
    for layer, (zx, zw) in enumerate([(3, 5), (1, -1), (-1, 1), (-7, 9)]):
        x, w = (each.astype(np.int64) for each in given[2 * layer : 2 * layer + 2])
        np.testing.assert_array_equal(executable(*given)[layer], ((x - zx) @ (w - zw)) * np.float32(0.25))
