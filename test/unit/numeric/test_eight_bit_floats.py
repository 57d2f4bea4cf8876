"""Floats of 8 bits: conversions of every pattern, what overflows, and ops that only move elements, natively."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import stepwell
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from onnx import TensorProto
from onnx_one_node import run as run_node
from stepwell import reference, te
from stepwell.core.weights import write_weights
from stepwell.lowering import create_prim_func
from stepwell.te import numeric
from stepwell.te.dtypes import FLOATS, numpy_dtype

Array = np.ndarray[Any, Any]

TYPES = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}
ONNX = {"f8E4M3FN": TensorProto.FLOAT8E4M3FN, "f8E5M2": TensorProto.FLOAT8E5M2}
ALL_BITS = np.arange(256, dtype=np.uint8)

each_type = pytest.mark.parametrize("dtype", TYPES)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy warns of NaN and overflow in casts


def same(found: Array, wanted: Array) -> bool:
    """Whether all bits are the same, those of NaN aside."""
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    unsigned = np.dtype(f"u{found.dtype.itemsize}")
    both_nan = np.isnan(found.astype(np.float64)) & np.isnan(wanted.astype(np.float64))
    return bool(np.all(both_nan | (found.view(unsigned) == wanted.view(unsigned))))


@cache
def casting(source: str, target: str, count: int, opt_level: int) -> stepwell.Executable:
    types = f"tensor<{count}x{source}>", f"tensor<{count}x{target}>"
    text = f"""
    func.func @main(%x: {types[0]}) -> {types[1]} {{
      %y = graph.astype %x, dtype = {target} : ({types[0]}) -> {types[1]}
      func.return %y : {types[1]}
    }}"""
    return stepwell.compile(text, opt_level=opt_level, cache=False)


def cast(x: Array, source: str, target: str, opt_level: int = 3) -> Array:
    (result,) = casting(source, target, x.size, opt_level)(x)
    return result


# To other types


@each_type
@pytest.mark.parametrize("opt_level", range(4))
def test_every_pattern_as_f32(dtype: str, opt_level: int) -> None:
    x = ALL_BITS.view(TYPES[dtype])
    assert same(cast(x, dtype, "f32", opt_level), x.astype(np.float32))


@each_type
@pytest.mark.parametrize("target", FLOATS)
def test_every_pattern_as_any_float(dtype: str, target: str) -> None:
    x = ALL_BITS.view(TYPES[dtype])
    wanted = x.astype(np.float32).astype(numpy_dtype(target))  # exact, or rounded once
    assert same(cast(x, dtype, target), wanted)
    assert same(numeric.cast(dtype, target, x), wanted)
    assert same(reference.evaluate("graph.astype", {"dtype": target}, x)[0], wanted)


# From other types: an oracle of its own, the values of the format in order


@cache
def positive_values(dtype: str) -> tuple[Array, int]:
    """
    The values of the patterns 0, 1, 2 … that are not negative, as if those of the largest exponent were numbers too,
    and the index of the greatest that is a number.
    """
    exponent_bits, fraction_bits, greatest = {"f8E4M3FN": (4, 3, 0x7E), "f8E5M2": (5, 2, 0x7B)}[dtype]
    bias = 2 ** (exponent_bits - 1) - 1
    values = []
    for bits in range(128):
        exponent, fraction = bits >> fraction_bits, bits % 2**fraction_bits
        implicit = 2**fraction_bits if exponent else 0
        values.append((implicit + fraction) * 2.0 ** (max(exponent, 1) - bias - fraction_bits))
    return np.array(values), greatest


def by_the_table(x: Array, dtype: str, saturate: bool) -> Array:
    """
    The rows of the tables of ONNX's Cast for floats of 8 bits. `[x]` there is x rounded to the digits of the type,
    to nearest, ties to even: of neighbours, the pattern that is even.
    """
    values, greatest = positive_values(dtype)
    wide = np.abs(x.astype(np.float64))
    above = np.clip(np.searchsorted(values, wide), 1, 127)
    middle = (values[above - 1] + values[above]) / 2
    up = (wide > middle) | ((wide == middle) & (above % 2 == 0))
    rounded = np.where(up, above, above - 1)
    overflow = greatest if saturate else {"f8E4M3FN": 0x7F, "f8E5M2": 0x7C}[dtype]
    bits = np.where(rounded > greatest, overflow, rounded)
    bits = np.where(np.isnan(wide), 0x7F, bits) | np.where(np.signbit(x), 0x80, 0)
    return bits.astype(np.uint8).view(TYPES[dtype])


def f32_patterns() -> Array:
    """The upper half of every f32, with lower halves at and around ties and at both ends."""
    upper = np.arange(65536, dtype=np.uint32) << 16
    return np.concatenate([upper + low for low in (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF)]).view(np.float32)


def ties(dtype: str) -> Array:
    """The middles between all neighbours, and the numbers next to them, in f64."""
    values, _ = positive_values(dtype)
    middles = (values[:-1] + values[1:]) / 2
    points = np.concatenate([middles, np.nextafter(middles, 0), np.nextafter(middles, np.inf), values])
    return np.concatenate([points, -points, [np.inf, -np.inf, np.nan, 1e300, 5e-324]])


@each_type
@pytest.mark.parametrize("opt_level", range(4))
def test_every_upper_half_of_f32_is_rounded_once(dtype: str, opt_level: int) -> None:
    x = f32_patterns()
    wanted = by_the_table(x, dtype, saturate=False)
    assert same(cast(x, "f32", dtype, opt_level), wanted)
    if opt_level == 0:
        assert same(reference.evaluate("graph.astype", {"dtype": dtype}, x)[0], wanted)
        assert same(numeric.cast("f32", dtype, x), wanted)


@each_type
def test_f64_is_rounded_once(dtype: str) -> None:
    """The numbers next to ties in f64 are ties in f32: `ml_dtypes` rounds twice there."""
    x = ties(dtype)
    wanted = by_the_table(x, dtype, saturate=False)
    assert same(cast(x, "f64", dtype), wanted)
    assert same(reference.evaluate("graph.astype", {"dtype": dtype}, x)[0], wanted)
    assert same(numeric.cast("f64", dtype, x), wanted)
    assert not same(x.astype(TYPES[dtype]), wanted)


@each_type
@pytest.mark.parametrize("source", ["f16", "bf16"])
def test_every_pattern_of_16_bits(dtype: str, source: str) -> None:
    x = np.arange(65536, dtype=np.uint16).view(numpy_dtype(source))
    assert same(cast(x, source, dtype), by_the_table(x.astype(np.float32), dtype, saturate=False))


@each_type
@settings(max_examples=50, deadline=None)
@given(x=arrays(np.float32, 64, elements=st.floats(width=32)))
def test_any_f32(dtype: str, x: Array) -> None:
    assert same(cast(x, "f32", dtype), by_the_table(x, dtype, saturate=False))


@each_type
@pytest.mark.parametrize("source", ["i8", "ui16", "i32", "i64", "ui64"])
def test_integers_are_rounded_once(dtype: str, source: str) -> None:
    info = np.iinfo(numpy_dtype(source))
    edges = [int(n) + step for n in positive_values(dtype)[0] if n == int(n) for step in (-1, 0, 1)]
    edges += [448, 464, 465, 480, 57344, 61439, 61440, 61441, info.max, info.min, 2**60 + 2**56 + 1]
    kept = sorted({sign * n for n in edges for sign in (1, -1) if info.min <= sign * n <= info.max})
    x = np.array(kept, numpy_dtype(source))
    assert same(cast(x, source, dtype), by_the_table(np.array(kept, np.float64), dtype, saturate=False))


# Casts of ONNX


def onnx_cast(x: Array, dtype: str, operator: str, saturate: int | None) -> Array:
    attributes: dict[str, Any] = {} if saturate is None else {"saturate": saturate}
    if operator == "Cast":
        return run_node("Cast", {"x": x}, version=19, to=ONNX[dtype], **attributes)[0]
    return run_node("CastLike", {"x": x, "like": np.ones(1, TYPES[dtype])}, version=19, **attributes)[0]


@each_type
@pytest.mark.parametrize("saturate", [None, 1, 0])
@pytest.mark.parametrize("operator", ["Cast", "CastLike"])
def test_the_attribute_saturate(dtype: str, saturate: int | None, operator: str) -> None:
    x = np.concatenate([f32_patterns(), ties(dtype).astype(np.float32)])
    assert same(onnx_cast(x, dtype, operator, saturate), by_the_table(x, dtype, saturate != 0))


@each_type
@pytest.mark.parametrize("saturate", [1, 0])
@pytest.mark.parametrize("source", ["f64", "f16", "bf16", "f8E4M3FN", "f8E5M2"])
def test_saturation_from_other_types(dtype: str, saturate: int, source: str) -> None:
    if source == dtype:
        return
    x = ties(dtype) if source == "f64" else ties(dtype).astype(np.float32).astype(numpy_dtype(source))
    wide = x if source == "f64" else x.astype(np.float32)
    assert same(onnx_cast(x, dtype, "Cast", saturate), by_the_table(wide, dtype, saturate != 0))


@each_type
@pytest.mark.parametrize("source", ["i1", "i8", "ui16", "i64"])
def test_integers_saturate_too(dtype: str, source: str) -> None:
    numbers = [0, 1] if source == "i1" else [0, 1, 3, 17, 100, 127]
    numbers += [464, 465, 480, 57344, 65535] if source in ("ui16", "i64") else []
    x = np.array([*numbers, *([-1, -480, 2**62] if source == "i64" else [])]).astype(numpy_dtype(source))
    assert same(onnx_cast(x, dtype, "Cast", 1), by_the_table(x.astype(np.float64), dtype, True))


@each_type
@pytest.mark.parametrize("saturate", [1, 0])
@pytest.mark.parametrize("operator", ["Cast", "CastLike"])
def test_what_is_known_at_import_saturates_too(dtype: str, saturate: int, operator: str) -> None:
    x = np.array([1e6, -1e6, np.inf, np.nan, 1.1], np.float32)
    like: dict[str, Any] = {} if operator == "Cast" else {"like": np.ones(1, TYPES[dtype])}
    to: dict[str, Any] = {"to": ONNX[dtype]} if operator == "Cast" else {}
    (found,) = run_node(operator, {"x": x, **like}, version=19, known=["x"], saturate=saturate, **to)
    assert same(found, by_the_table(x, dtype, saturate != 0))


@each_type
def test_initialisers_and_constants(dtype: str) -> None:
    """As raw bytes and as numbers of `int32_data`."""
    x = ALL_BITS.view(TYPES[dtype])
    (found,) = run_node("Identity", {"x": x}, version=19, known=["x"])
    np.testing.assert_array_equal(found.view(np.uint8), ALL_BITS)
    typed = TensorProto(data_type=ONNX[dtype], dims=[256], int32_data=list(range(256)), name="value")
    (found,) = run_node("Constant", {}, version=19, value=typed)
    np.testing.assert_array_equal(found.view(np.uint8), ALL_BITS)


@each_type
@pytest.mark.parametrize("saturate", [1, 0])
@pytest.mark.parametrize("zero", [0.0, 1.5])
def test_quantising(dtype: str, saturate: int, zero: float) -> None:
    x = np.concatenate([np.linspace(-3000, 3000, 601), np.linspace(-0.2, 0.2, 601)]).astype(np.float32)
    scale, point = np.array(0.02, np.float32), np.array(zero, TYPES[dtype])
    (bits,) = run_node("QuantizeLinear", {"x": x, "s": scale, "z": point}, version=19, saturate=saturate)
    assert same(bits, by_the_table(x / scale + np.float32(zero), dtype, saturate != 0))
    (back,) = run_node("DequantizeLinear", {"x": bits, "s": scale, "z": point}, version=19)
    assert same(back, (bits.astype(np.float32) - np.float32(zero)) * scale)


# Ops that only move elements

CONSTANTS = "dense<[[1.0, -2.0, 0.015625, 3.5]]>"

MOVES = {
    "permute_dims": "graph.permute_dims %x, axes = [1, 0] : (tensor<64x96xT>) -> tensor<96x64xT>",
    "reshape": "graph.reshape %x, shape = [24, -1] : (tensor<64x96xT>) -> tensor<24x256xT>",
    "expand_dims": "graph.expand_dims %x, axis = [1] : (tensor<64x96xT>) -> tensor<64x1x96xT>",
    "squeeze": "graph.squeeze %row, axis = [0] : (tensor<1x96xT>) -> tensor<96xT>",
    "broadcast_to": "graph.broadcast_to %row, shape = [33, 96] : (tensor<1x96xT>) -> tensor<33x96xT>",
    "concat": "graph.concat %x, %row, axis = 0 : (tensor<64x96xT>, tensor<1x96xT>) -> tensor<65x96xT>",
    "strided_slice": "graph.strided_slice %x, axes = [1], begin = [90], end = [3], strides = [-3] : (tensor<64x96xT>)"
    " -> tensor<64x29xT>",
    "pad": "graph.pad %x, pad_width = [1, 2, 3, 5], value = 1.5 : (tensor<64x96xT>) -> tensor<67x104xT>",
    "take": "graph.take %x, %i, axis = 0 : (tensor<64x96xT>, tensor<5xi64>) -> tensor<5x96xT>",
    "take_along_axis": "graph.take_along_axis %x, %j, axis = 0 : (tensor<64x96xT>, tensor<1x96xi64>) -> tensor<1x96xT>",
    "gather_nd": "graph.gather_nd %x, %k : (tensor<64x96xT>, tensor<5x1xi64>) -> tensor<5x96xT>",
    "scatter_elements": "graph.scatter_elements %x, %j, %row, axis = 0 : (tensor<64x96xT>, tensor<1x96xi64>,"
    " tensor<1x96xT>) -> tensor<64x96xT>",
    "scatter_nd": "graph.scatter_nd %x, %l, %row : (tensor<64x96xT>, tensor<1x1xi64>, tensor<1x96xT>)"
    " -> tensor<64x96xT>",
    "where": "graph.where %c, %x, %row : (tensor<64x96xi1>, tensor<64x96xT>, tensor<1x96xT>) -> tensor<64x96xT>",
    "constant": f"graph.constant {CONSTANTS} : tensor<1x4xT>",
    "full": "graph.full -0.5 : tensor<7x33xT>",
    "weight": 'graph.weight "w" : tensor<64x96xT>',
    "identity": "graph.reshape %x, shape = [64, 96] : (tensor<64x96xT>) -> tensor<64x96xT>",
    "split": "graph.split %x, sections = 2, axis = 1 : (tensor<64x96xT>) -> (tensor<64x48xT>, tensor<64x48xT>)",
}


def program(dtype: str, ops: dict[str, str]) -> str:
    lines, values, types = [], [], []
    for name, text in ops.items():
        results = text.rpartition("->")[2].strip() if "->" in text else text.rpartition(" : ")[2]
        found = results.strip("()").split(", ")
        names = [f"%{name}_{number}" for number in range(len(found))]
        lines.append(f"{', '.join(names)} = {text}")
        values += names
        types += found
    body = "\n".join(lines)
    return f"""
    builtin.module attributes {{stepwell.weights = "w.safetensors"}} {{
      func.func @main(%x: tensor<64x96xT>, %row: tensor<1x96xT>, %c: tensor<64x96xi1>, %i: tensor<5xi64>,
          %j: tensor<1x96xi64>, %k: tensor<5x1xi64>, %l: tensor<1x1xi64>) -> ({", ".join(types)}) {{
        {body}
        func.return {", ".join(values)} : {", ".join(types)}
      }}
    }}""".replace("xT", f"x{dtype}")


def operands(random: np.random.Generator) -> list[Array]:
    return [
        random.integers(0, 256, (64, 96), np.uint8),
        random.integers(0, 256, (1, 96), np.uint8),
        random.integers(0, 2, (64, 96)).astype(bool),
        random.integers(-64, 64, 5),
        random.integers(0, 64, (1, 96)),
        random.integers(0, 64, (5, 1)),
        random.integers(0, 64, (1, 1)),
    ]


def literals_as_bytes(text: str, dtype: str) -> str:
    """The program on ui8 with the bits of the literals of the one on floats."""
    values = np.array([1.0, -2.0, 0.015625, 3.5, 1.5, -0.5], TYPES[dtype]).view(np.uint8)
    text = text.replace(CONSTANTS, f"dense<[{[int(value) for value in values[:4]]}]>")
    text = text.replace("value = 1.5", f"value = {values[4]}").replace("full -0.5", f"full {values[5]}")
    return text.replace(f"x{dtype}", "xui8")


@each_type
@pytest.mark.parametrize("opt_level", [0, 3])
@pytest.mark.parametrize("threads", [1, 2])
def test_moves_keep_all_bits(
    dtype: str, opt_level: int, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NaN with any payload too. The reference runs the same program on bytes."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(4)
    given = operands(random)
    weights = {"w": random.integers(0, 256, (64, 96), np.uint8)}
    as_floats = [*(array.view(TYPES[dtype]) for array in given[:2]), *given[2:]]
    write_weights(tmp_path / "w.safetensors", {"w": weights["w"].view(TYPES[dtype])})
    text = program(dtype, MOVES)
    wanted = reference.run(stepwell.parse(literals_as_bytes(text, dtype)), "main", *given, weights=weights)
    own = reference.run(stepwell.parse(text), "main", *as_floats, weights={"w": weights["w"].view(TYPES[dtype])})
    found = stepwell.compile(text, opt_level=opt_level, threads=threads, cache=False)(*as_floats)
    assert len(found) == len(wanted) == len(MOVES) + 1
    for number, (native, numpy, bits) in enumerate(zip(found, own, wanted, strict=True)):
        assert native.dtype == numpy.dtype == TYPES[dtype]
        np.testing.assert_array_equal(native.view(np.uint8), bits, err_msg=str(number))
        np.testing.assert_array_equal(numpy.view(np.uint8), bits, err_msg=str(number))


@each_type
@pytest.mark.parametrize("reduction", ["add", "multiply", "maximum", "minimum"])
def test_scattering_rounds_each_update_once(dtype: str, reduction: str) -> None:
    text = f"""
    func.func @main(%x: tensor<8x16xT>, %i: tensor<9x16xi64>, %u: tensor<9x16xT>) -> tensor<8x16xT> {{
      %y = graph.scatter_elements %x, %i, %u, axis = 0, reduction = "{reduction}" : (tensor<8x16xT>,
        tensor<9x16xi64>, tensor<9x16xT>) -> tensor<8x16xT>
      func.return %y : tensor<8x16xT>
    }}""".replace("xT", f"x{dtype}")
    random = np.random.default_rng(0)
    x, u = (random.integers(0, 256, (rows, 16), np.uint8).view(TYPES[dtype]) for rows in (8, 9))
    i = random.integers(0, 8, (9, 16))
    (found,) = stepwell.compile(text, cache=False)(x, i, u)
    (wanted,) = reference.run(stepwell.parse(text), "main", x, i, u)
    assert same(found, wanted)


DYNAMIC = """
func.func @main(%x: tensor<?x8xT>, %row: tensor<1x8xT>) -> tensor<?x?xT> {
  %s = graph.shape_of %x : (tensor<?x8xT>) -> tensor<2xi64>
  %y = graph.dynamic_broadcast_to %row, %s : (tensor<1x8xT>, tensor<2xi64>) -> tensor<?x?xT>
  func.return %y : tensor<?x?xT>
}
"""


@each_type
def test_moves_of_sizes_known_at_the_call(dtype: str) -> None:
    x, row = np.zeros((5, 8), TYPES[dtype]), np.arange(120, 128, dtype=np.uint8).reshape(1, 8).view(TYPES[dtype])
    (y,) = stepwell.compile(DYNAMIC.replace("xT", f"x{dtype}"), cache=False)(x, row)
    np.testing.assert_array_equal(y.view(np.uint8), np.broadcast_to(row.view(np.uint8), (5, 8)))


@each_type
@pytest.mark.parametrize("opt_level", [0, 3])
@pytest.mark.parametrize("relation", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_comparisons_of_all_pairs(dtype: str, opt_level: int, relation: str) -> None:
    text = f"""
    func.func @main(%x: tensor<256x1xT>, %y: tensor<1x256xT>) -> tensor<256x256xi1> {{
      %z = graph.{relation} %x, %y : (tensor<256x1xT>, tensor<1x256xT>) -> tensor<256x256xi1>
      func.return %z : tensor<256x256xi1>
    }}""".replace("xT", f"x{dtype}")
    x = ALL_BITS.view(TYPES[dtype])
    (found,) = stepwell.compile(text, opt_level=opt_level, cache=False)(x.reshape(-1, 1), x.reshape(1, -1))
    wide = x.astype(np.float32)
    np.testing.assert_array_equal(found, getattr(np, relation)(wide[:, None], wide[None, :]))


# Inside of kernels


QUANTISED = """
func.func @main(%q: tensor<40x64xT>, %w: tensor<64x48xT>, %s: tensor<f32>) -> tensor<40x48xT> {
  %0 = graph.astype %q, dtype = f32 : (tensor<40x64xT>) -> tensor<40x64xf32>
  %1 = graph.astype %w, dtype = f32 : (tensor<64x48xT>) -> tensor<64x48xf32>
  %2 = graph.matmul %0, %1 : (tensor<40x64xf32>, tensor<64x48xf32>) -> tensor<40x48xf32>
  %3 = graph.multiply %2, %s : (tensor<40x48xf32>, tensor<f32>) -> tensor<40x48xf32>
  %4 = graph.clip %3, min = -448.0, max = 448.0 : (tensor<40x48xf32>) -> tensor<40x48xf32>
  %5 = graph.astype %4, dtype = T : (tensor<40x48xf32>) -> tensor<40x48xT>
  func.return %5 : tensor<40x48xT>
}
"""


@each_type
@pytest.mark.parametrize("opt_level", [0, 3])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_product_between_conversions(dtype: str, opt_level: int, threads: int) -> None:
    """Small whole numbers, so that every order of the sums is exact."""
    random = np.random.default_rng(2)
    q, w = (random.integers(-3, 4, shape).astype(TYPES[dtype]) for shape in ((40, 64), (64, 48)))
    text = QUANTISED.replace("xT", f"x{dtype}").replace("= T", f"= {dtype}")
    (found,) = stepwell.compile(text, opt_level=opt_level, threads=threads, cache=False)(q, w, np.array(4, np.float32))
    product = 4 * (q.astype(np.float32) @ w.astype(np.float32))
    assert np.abs(product).max() > 448
    assert same(found, by_the_table(np.clip(product, -448, 448), dtype, True))


@each_type
@pytest.mark.parametrize("opt_level", [0, 3])
def test_a_product_in_te_of_what_was_converted(dtype: str, opt_level: int) -> None:
    """No kernel of tiles takes it, since those convert elements themselves."""
    left, right = te.placeholder((40, 64), dtype, "A"), te.placeholder((64, 48), dtype, "B")
    k = te.reduce_axis(64, "k")
    product = te.compute(
        (40, 48), lambda i, j: te.sum(te.cast("f32", left[i, k]) * te.cast("f32", right[k, j]), axis=k), name="C"
    )
    assert isinstance(product, te.Tensor)
    function = create_prim_func([left, right, product])
    random = np.random.default_rng(3)
    a, b = (random.integers(-3, 4, shape).astype(TYPES[dtype]) for shape in ((40, 64), (64, 48)))
    (found,) = stepwell.compile(str(function), opt_level=opt_level, cache=False)(a, b)
    np.testing.assert_array_equal(found, a.astype(np.float32) @ b.astype(np.float32))


WEIGHTED = """
builtin.module attributes {stepwell.weights = "w.safetensors"} {
  func.func @main(%x: tensor<40x64xf32>) -> tensor<40x48xf32> {
    %w = graph.weight "w" : tensor<64x48xT>
    %0 = graph.astype %w, dtype = f32 : (tensor<64x48xT>) -> tensor<64x48xf32>
    %1 = graph.matmul %x, %0 : (tensor<40x64xf32>, tensor<64x48xf32>) -> tensor<40x48xf32>
    func.return %1 : tensor<40x48xf32>
  }
}
"""


@each_type
@pytest.mark.parametrize("opt_level", [0, 3])
def test_a_product_with_stored_weights(
    dtype: str, opt_level: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(5)
    w = random.integers(-3, 4, (64, 48)).astype(TYPES[dtype])
    x = random.integers(-3, 4, (40, 64)).astype(np.float32)
    write_weights(tmp_path / "w.safetensors", {"w": w})
    (found,) = stepwell.compile(WEIGHTED.replace("xT", f"x{dtype}"), opt_level=opt_level, cache=False)(x)
    np.testing.assert_array_equal(found, x @ w.astype(np.float32))
