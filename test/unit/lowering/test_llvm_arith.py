"""arith and math through the llvm dialect to native code, compared with NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from llvm_jit import Program, lower, run_map
from stepwell.core.messages.diagnostics import OperationError
from stepwell.lowering.llvm import convert_arith, convert_math
from xdsl.dialects.arith import Arith

SIGNED = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}
UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def test_every_arith_op_has_a_conversion():
    missing = [op.name for op in Arith.operations if op not in convert_arith.CONVERSIONS]
    assert missing == []


def pairs(width: int) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of corner values and some random ones; the divisor is never 0 and never overflows."""
    rng = np.random.default_rng(width)
    low, high = -(2 ** (width - 1)), 2 ** (width - 1) - 1
    corners = [low + 1, low + 2, -7, -3, -2, -1, 0, 1, 2, 3, 7, high - 1, high]
    values = corners + [int(v) for v in rng.integers(low + 1, high, 12)]
    left = [a for a in values for b in values if b != 0]
    right = [b for a in values for b in values if b != 0]
    return np.array(left, SIGNED[width]), np.array(right, SIGNED[width])


def as_python(op: str, a: int, b: int, width: int) -> int:
    ua, ub = a % 2**width, b % 2**width
    toward_zero = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    table = {
        "addi": lambda: a + b,
        "subi": lambda: a - b,
        "muli": lambda: a * b,
        "divsi": lambda: toward_zero,
        "divui": lambda: ua // ub,
        "remsi": lambda: a - b * toward_zero,
        "remui": lambda: ua % ub,
        "floordivsi": lambda: a // b,
        "ceildivsi": lambda: -(-a // b),
        "ceildivui": lambda: -(-ua // ub),
        "andi": lambda: a & b,
        "ori": lambda: a | b,
        "xori": lambda: a ^ b,
        "minsi": lambda: min(a, b),
        "maxsi": lambda: max(a, b),
        "minui": lambda: min(ua, ub),
        "maxui": lambda: max(ua, ub),
    }
    return table[op]() % 2**width


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("width", [8, 32, 64])
def test_integer_operations_match_python(width: int):
    a, b = pairs(width)
    t = f"i{width}"
    ops = "addi subi muli divsi divui remsi remui floordivsi ceildivsi ceildivui andi ori xori minsi maxsi minui maxui"
    for op in ops.split():
        got = run_map(f"%r = arith.{op} %x0, %x1 : {t}", [(t, a), (t, b)], (t, UNSIGNED[width]), opt=0)
        want = [as_python(op, int(x), int(y), width) for x, y in zip(a, b, strict=True)]
        assert got.tolist() == want, op


@pytest.mark.parametrize("width", [8, 32, 64])
def test_shifts_match_python(width: int):
    a = np.repeat(pairs(width)[0][:40], width)
    s = np.tile(np.arange(width), 40).astype(SIGNED[width])
    t = f"i{width}"
    for op, want in (
        ("shli", [(int(x) << int(n)) % 2**width for x, n in zip(a, s, strict=True)]),
        ("shrui", [(int(x) % 2**width) >> int(n) for x, n in zip(a, s, strict=True)]),
        ("shrsi", [(int(x) >> int(n)) % 2**width for x, n in zip(a, s, strict=True)]),
    ):
        got = run_map(f"%r = arith.{op} %x0, %x1 : {t}", [(t, a), (t, s)], (t, UNSIGNED[width]))
        assert got.tolist() == want, op


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("width", [8, 32, 64])
def test_extended_operations_match_python(width: int):
    a, b = pairs(width)
    t, half = f"i{width}", 2**width
    for op, signed in (("mulsi_extended", True), ("mului_extended", False)):
        for number, shift in ((0, 0), (1, width)):
            body = f'%p:2 = "arith.{op}"(%x0, %x1) : ({t}, {t}) -> ({t}, {t})\n'
            body += f"%z = arith.constant 0 : {t}\n%r = arith.addi %p#{number}, %z : {t}"
            got = run_map(body, [(t, a), (t, b)], (t, UNSIGNED[width]))
            product = [
                int(x) * int(y) if signed else (int(x) % half) * (int(y) % half) for x, y in zip(a, b, strict=True)
            ]
            assert got.tolist() == [(p >> shift) % half for p in product]
    body = f"%s, %o = arith.addui_extended %x0, %x1 : {t}, i1\n%r = arith.extui %o : i1 to {t}"
    got = run_map(body, [(t, a), (t, b)], (t, UNSIGNED[width]))
    carries = [int(int(x) % half + int(y) % half >= half) for x, y in zip(a, b, strict=True)]
    assert got.tolist() == carries


def special_floats(dtype: type) -> np.ndarray:
    info = np.finfo(dtype)
    values = [0.0, -0.0, 1.0, -1.5, 3.25, np.inf, -np.inf, np.nan, info.tiny, -info.max, info.max, info.eps]
    return np.array(values, dtype)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
def test_float_operations_match_numpy_bit_for_bit(name: str):
    dtype = FLOATS[name]
    values = special_floats(dtype)
    a, b = np.repeat(values, len(values)), np.tile(values, len(values))
    bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[np.dtype(dtype).itemsize]
    with np.errstate(all="ignore"):
        for op, want in (
            ("addf", a + b),
            ("subf", a - b),
            ("mulf", a * b),
            ("divf", a / b),
            ("maximumf", np.maximum(a, b)),
            ("minimumf", np.minimum(a, b)),
            ("maxnumf", np.fmax(a, b)),
            ("minnumf", np.fmin(a, b)),
        ):
            got = run_map(f"%r = arith.{op} %x0, %x1 : {name}", [(name, a), (name, b)], (name, dtype))
            zeros = (got == 0) & (want == 0) if "num" in op or "imum" in op else np.zeros(len(a), bool)
            same = (got.view(bits) == want.view(bits)) | (np.isnan(got) & np.isnan(want)) | zeros
            assert same.all(), (op, a[~same], b[~same], got[~same], want[~same])


def test_maximum_orders_signed_zeros():
    a, b = np.array([0.0, -0.0], np.float32), np.array([-0.0, 0.0], np.float32)
    got = run_map("%r = arith.maximumf %x0, %x1 : f32", [("f32", a), ("f32", b)], ("f32", np.float32))
    assert not np.signbit(got).any()
    got = run_map("%r = arith.minimumf %x0, %x1 : f32", [("f32", a), ("f32", b)], ("f32", np.float32))
    assert np.signbit(got).all()


@pytest.mark.parametrize("line", ["arith.maximumf %x0, %c : f32", "arith.maximumf %c, %x0 : f32"])
@pytest.mark.parametrize("constant", [0.0, -0.0])
def test_maximum_with_a_constant_zero_is_exact(line: str, constant: float):
    x = np.array([-0.0, 0.0, 1.5, -1.5, np.inf, -np.inf, np.nan, -np.nan, 1e-45, -1e-45] * 4, np.float32)
    got = run_map(f"%c = arith.constant {constant} : f32\n%r = {line}", [("f32", x)], ("f32", np.float32))
    kept = np.isnan(x) | (x > 0) | ((x == 0) & (np.signbit(x) == np.signbit(constant)))
    expected = np.where(kept, x, np.float32(0 if not np.signbit(constant) else constant))
    expected[(x == 0) & ~np.signbit(x)] = 0  # either zero without a sign
    assert np.array_equal(np.isnan(got), np.isnan(x))
    number = ~np.isnan(x)
    assert np.array_equal(got[number], expected[number])
    assert np.array_equal(np.signbit(got[number]), np.signbit(expected[number]))


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("name", ["f16", "f32", "f64", "bf16"])
def test_float_comparisons_match_numpy(name: str):
    dtype = FLOATS.get(name, ml_dtypes.bfloat16)
    values = np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan], np.float32).astype(dtype)
    a, b = np.repeat(values, len(values)), np.tile(values, len(values))
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    unordered = np.isnan(wide_a) | np.isnan(wide_b)
    plain = {
        "eq": wide_a == wide_b,
        "gt": wide_a > wide_b,
        "ge": wide_a >= wide_b,
        "lt": wide_a < wide_b,
        "le": wide_a <= wide_b,
        "ne": ~unordered & (wide_a != wide_b),
    }
    cases = {f"o{key}": value for key, value in plain.items()}
    cases |= {f"u{key}": value | unordered for key, value in plain.items()}
    cases |= {"ord": ~unordered, "uno": unordered, "false": unordered & False, "true": unordered | True}
    for predicate, want in cases.items():
        body = f"%r = arith.cmpf {predicate}, %x0, %x1 : {name}"
        got = run_map(body, [(name, a), (name, b)], ("i1", np.uint8), opt=0)
        assert got.tolist() == want.astype(np.uint8).tolist(), predicate


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("float_name", ["f16", "f32", "f64"])
@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_casts_of_every_pair_match_numpy(float_name: str, width: int):
    dtype, t = FLOATS[float_name], f"i{width}"
    whole = pairs(width)[0]
    with np.errstate(all="ignore"):
        got = run_map(f"%r = arith.sitofp %x0 : {t} to {float_name}", [(t, whole)], (float_name, dtype))
        assert got.tolist() == whole.astype(dtype).tolist()
        got = run_map(f"%r = arith.uitofp %x0 : {t} to {float_name}", [(t, whole)], (float_name, dtype))
        assert got.tolist() == whole.view(UNSIGNED[width]).astype(dtype).tolist()
    limit = min(2.0 ** (width - 1) - 1, float(np.finfo(dtype).max)) * 0.99
    values = np.array([0, -0.5, 0.99, 1.5, -1.5, 100.7, -100.7, limit, -limit], dtype)
    got = run_map(f"%r = arith.fptosi %x0 : {float_name} to {t}", [(float_name, values)], (t, SIGNED[width]))
    assert got.tolist() == [int(v) for v in values]
    values = np.abs(values)
    got = run_map(f"%r = arith.fptoui %x0 : {float_name} to {t}", [(float_name, values)], (t, UNSIGNED[width]))
    assert got.tolist() == [int(v) for v in values]


@pytest.mark.parametrize(("source", "target"), [(8, 16), (8, 64), (16, 32), (32, 64)])
def test_integer_casts_match_numpy(source: int, target: int):
    values = pairs(source)[0]
    s, t = f"i{source}", f"i{target}"
    got = run_map(f"%r = arith.extsi %x0 : {s} to {t}", [(s, values)], (t, SIGNED[target]))
    assert got.tolist() == values.astype(SIGNED[target]).tolist()
    got = run_map(f"%r = arith.extui %x0 : {s} to {t}", [(s, values)], (t, UNSIGNED[target]))
    assert got.tolist() == values.view(UNSIGNED[source]).tolist()
    wide = pairs(target)[0]
    got = run_map(f"%r = arith.trunci %x0 : {t} to {s}", [(t, wide)], (s, SIGNED[source]))
    assert got.tolist() == wide.astype(SIGNED[source]).tolist()


def test_index_casts_extend_the_sign():
    values = np.array([-5, 5, -128, 127], np.int8)
    body = "%q = arith.index_cast %x0 : i8 to index\n%r = arith.index_cast %q : index to i64"
    assert run_map(body, [("i8", values)], ("i64", np.int64)).tolist() == values.tolist()
    wide = np.array([2**40 + 3, -1], np.int64)
    body = "%q = arith.index_cast %x0 : i64 to index\n%r = arith.index_cast %q : index to i32"
    assert run_map(body, [("i64", wide)], ("i32", np.int32)).tolist() == [3, -1]


# math


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
def test_direct_math_matches_numpy(name: str):
    dtype = FLOATS[name]
    x = np.concatenate([special_floats(dtype), np.array([0.5, 1.5, 2.5, -0.5, -2.5, 7.7, -7.7], dtype)])
    with np.errstate(all="ignore"):
        for op, want in (
            ("absf", np.abs(x)),
            ("floor", np.floor(x)),
            ("ceil", np.ceil(x)),
            ("trunc", np.trunc(x)),
            ("roundeven", np.rint(x)),
            ("sqrt", np.sqrt(x)),
        ):
            got = run_map(f"%r = math.{op} %x0 : {name}", [(name, x)], (name, dtype))
            assert np.array_equal(got, want, equal_nan=True), op
        got = run_map("%r = math.round %x0 : " + name, [(name, x[-7:])], (name, dtype))
        assert got.tolist() == [1, 2, 3, -1, -3, 8, -8]
        got = run_map(f"%r = math.copysign %x0, %x1 : {name}", [(name, x), (name, x[::-1].copy())], (name, dtype))
        assert np.array_equal(got, np.copysign(x, x[::-1]), equal_nan=True)


@pytest.mark.parametrize("width", [8, 32, 64])
def test_bit_counts_match_python(width: int):
    x = pairs(width)[0]
    t, u = f"i{width}", [int(v) % 2**width for v in x]
    for op, want in (
        ("ctpop", [bin(v).count("1") for v in u]),
        ("ctlz", [width - v.bit_length() for v in u]),
        ("cttz", [width if v == 0 else (v & -v).bit_length() - 1 for v in u]),
        ("absi", [abs(int(v)) for v in x]),
    ):
        assert run_map(f"%r = math.{op} %x0 : {t}", [(t, x)], (t, UNSIGNED[width])).tolist() == want, op


@pytest.mark.parametrize(("name", "tolerance"), [("f32", 2e-6), ("f64", 1e-14)])
def test_library_functions_match_numpy(name: str, tolerance: float):
    dtype = FLOATS[name]
    x = np.array([0.1, 0.5, 0.9, 0.25], dtype)
    for op in ("exp", "log", "sin", "cos", "tanh", "exp2", "log2", "log10", "log1p", "expm1", "tan", "cbrt"):
        want = getattr(np, op)(x)
        got = run_map(f"%r = math.{op} %x0 : {name}", [(name, x)], (name, dtype))
        assert np.allclose(got, want, rtol=tolerance, atol=0), op
    for op, function in (("asin", "arcsin"), ("acos", "arccos"), ("atan", "arctan"), ("sinh", "sinh")):
        got = run_map(f"%r = math.{op} %x0 : {name}", [(name, x)], (name, dtype))
        assert np.allclose(got, getattr(np, function)(x), rtol=tolerance), op
    got = run_map(f"%r = math.powf %x0, %x1 : {name}", [(name, x), (name, x[::-1].copy())], (name, dtype))
    assert np.allclose(got, x ** x[::-1], rtol=tolerance)


def test_library_functions_go_lane_by_lane_on_vectors():
    program = Program("""
    func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
      %c0 = arith.constant 0 : index
      %v = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
      %r = math.exp %v : vector<4xf32>
      vector.store %r, %y[%c0] : memref<4xf32>, vector<4xf32>
      func.return
    }""")
    x, y = np.array([0, 1, 2, -1], np.float32), np.zeros(4, np.float32)
    program.call("f", x, y)
    assert np.allclose(y, np.exp(x), rtol=1e-6)


def test_library_functions_of_small_floats_are_refused():
    with pytest.raises(OperationError, match="no function for f16; run expand-math first"):
        lower("func.func @f(%x: f16) -> f16 { %r = math.exp %x : f16 func.return %r : f16 }")


def test_math_table_covers_what_has_a_native_form():
    from xdsl.dialects.math import Math

    missing = {op.name for op in Math.operations if op not in convert_math.CONVERSIONS}
    assert missing == {"math.fpowi", "math.ipowi"}


def test_a_kernel_named_like_a_library_function_does_not_shadow_it():
    program = Program("""
    func.func private @exp(%x: memref<1xf64>) {
      %c0 = arith.constant 0 : index
      %v = memref.load %x[%c0] : memref<1xf64>
      %r = math.exp %v : f64
      memref.store %r, %x[%c0] : memref<1xf64>
      func.return
    }
    func.func @f(%x: memref<1xf64>) {
      func.call @exp(%x) : (memref<1xf64>) -> ()
      func.return
    }""")
    x = np.array([1.0])
    program.call("f", x)
    assert np.isclose(x[0], np.e)
    assert "@exp.impl(" in program.text and "declare double @exp(double)" in program.text
