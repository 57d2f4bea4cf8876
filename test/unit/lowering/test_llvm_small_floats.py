"""f16 and bf16 through the llvm dialect to native code: casts on every pattern, and bf16 carried as bits."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from llvm_jit import Program, lower, map_kernel, run_map
from stepwell.core.messages.diagnostics import OperationError


def test_bf16_to_f32_is_exact_on_every_pattern():
    patterns = np.arange(65536, dtype=np.uint16)
    got = run_map("%r = arith.extf %x0 : bf16 to f32", [("bf16", patterns)], ("f32", np.uint32))
    assert (got == patterns.astype(np.uint32) << 16).all()


def test_bf16_round_trips_through_f32_on_every_pattern():
    patterns = np.arange(65536, dtype=np.uint16)
    body = "%w = arith.extf %x0 : bf16 to f32\n%r = arith.truncf %w : f32 to bf16"
    got = run_map(body, [("bf16", patterns)], ("bf16", np.uint16))
    is_nan = (patterns & 0x7FFF) > 0x7F80
    assert (got == np.where(is_nan, patterns | 0x40, patterns)).all()


def f32_edges() -> np.ndarray:
    """f32 patterns around every bf16 and around every tie between two, and NaNs with every kind of payload."""
    upper = np.arange(65536, dtype=np.uint32) << 16
    low = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    return (upper[:, None] | low[None, :]).ravel().view(np.float32)


def test_f32_to_bf16_rounds_to_nearest_even():
    values = f32_edges()
    got = run_map("%r = arith.truncf %x0 : f32 to bf16", [("f32", values)], ("bf16", np.uint16))
    with np.errstate(all="ignore"):
        want = values.astype(ml_dtypes.bfloat16).view(np.uint16)
    nan = np.isnan(values)
    assert (got[~nan] == want[~nan]).all()
    assert ((got[nan] & 0x7FC0) == 0x7FC0).all(), "a NaN stays a quiet NaN"


def test_tiles_of_f32_round_to_nearest_even():
    """Registers are rounded in pairs where the machine has AVX-512, and the last of five alone."""
    values = np.resize(f32_edges(), (4916, 80))
    program = Program("""
    func.func @f(%x: memref<4916x80xf32>, %y: memref<4916x80xbf16>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 4916 : index
      scf.for %i = %c0 to %n step %c1 {
        %0 = tile.load %x[%i, %c0] : memref<4916x80xf32>, vector<1x80xf32>
        %1 = tile.map(%2 = %0) : (vector<1x80xf32>) -> vector<1x80xbf16> {
          %3 = arith.truncf %2 : f32 to bf16
          tile.yield %3 : bf16
        }
        tile.store %1, %y[%i, %c0] : vector<1x80xbf16>, memref<4916x80xbf16>
      }
      func.return
    }""")
    got = np.zeros(values.shape, np.uint16)
    program.call("f", values, got)
    with np.errstate(all="ignore"):
        want = values.astype(ml_dtypes.bfloat16).view(np.uint16)
    nan = np.isnan(values)
    assert (got[~nan] == want[~nan]).all()
    assert ((got[nan] & 0x7FC0) == 0x7FC0).all(), "a NaN stays a quiet NaN"


def test_tiles_of_bf16_are_extended_exactly():
    patterns = np.resize(np.arange(65536, dtype=np.uint16), (820, 80))
    program = Program("""
    func.func @f(%x: memref<820x80xbf16>, %y: memref<820x80xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 820 : index
      scf.for %i = %c0 to %n step %c1 {
        %0 = tile.load %x[%i, %c0] : memref<820x80xbf16>, vector<1x80xbf16>
        %1 = tile.map(%2 = %0) : (vector<1x80xbf16>) -> vector<1x80xf32> {
          %3 = arith.extf %2 : bf16 to f32
          tile.yield %3 : f32
        }
        tile.store %1, %y[%i, %c0] : vector<1x80xf32>, memref<820x80xf32>
      }
      func.return
    }""")
    got = np.zeros(patterns.shape, np.uint32)
    program.call("f", patterns, got)
    assert (got == patterns.astype(np.uint32) << 16).all()


def f64_ties(dtype: type, upper: int) -> np.ndarray:
    """Exact f64 midpoints of neighbours of `dtype`, and the f64 just beside them: double rounding shows here."""
    patterns = np.arange(upper, dtype=np.uint16)
    values = patterns.view(dtype).astype(np.float64)
    middle = (values[:-1] + values[1:]) / 2
    result = np.concatenate([values[:-1], middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)])
    return np.concatenate([result, -result, [np.inf, -np.inf, np.nan, 1e300, -1e300, 5e-324, 0.0, -0.0]])


@pytest.mark.parametrize(
    ("name", "dtype", "upper", "fraction"),
    [("bf16", ml_dtypes.bfloat16, 0x7F80, 7), ("f16", np.float16, 0x7C00, 10)],
)
def test_f64_to_small_floats_rounds_once(name: str, dtype: type, upper: int, fraction: int):
    values = f64_ties(dtype, upper)
    got = run_map(f"%r = arith.truncf %x0 : f64 to {name}", [("f64", values)], (name, np.uint16))
    candidates = np.arange(upper + 1, dtype=np.uint16).view(dtype).astype(np.float64)
    # The first value that rounds to infinity: half a unit beyond the greatest finite one.
    candidates[-1] = candidates[-2] + (candidates[-2] - candidates[-3])
    finite = np.isfinite(values)
    magnitude = np.abs(values[finite])
    right = np.clip(np.searchsorted(candidates, magnitude), 1, upper)
    left = right - 1
    below, above = magnitude - candidates[left], candidates[right] - magnitude
    nearest = np.where((below < above) | ((below == above) & (left % 2 == 0)), left, right)
    nearest = np.where(magnitude >= candidates[-1], upper, nearest)
    want = nearest.astype(np.uint16) | np.where(np.signbit(values[finite]), 0x8000, 0).astype(np.uint16)
    assert (got[finite] == want).all()
    assert np.isnan(got.view(dtype)[np.isnan(values)].astype(np.float32)).all()
    assert (got[np.isinf(values)] & 0x7FFF == upper).all()


def test_casts_between_the_small_floats():
    patterns = np.arange(65536, dtype=np.uint16)
    with np.errstate(all="ignore"):
        body = "%w = arith.extf %x0 : bf16 to f32\n%r = arith.truncf %w : f32 to f16"
        got = run_map(body, [("bf16", patterns)], ("f16", np.float16))
        want = patterns.view(ml_dtypes.bfloat16).astype(np.float32).astype(np.float16)
        assert np.array_equal(got, want, equal_nan=True)
        body = "%w = arith.extf %x0 : f16 to f64\n%r = arith.truncf %w : f64 to bf16"
        got = run_map(body, [("f16", patterns)], ("bf16", np.uint16)).view(ml_dtypes.bfloat16)
        want = patterns.view(np.float16).astype(np.float32).astype(ml_dtypes.bfloat16)
        assert np.array_equal(got.astype(np.float32), want.astype(np.float32), equal_nan=True)


@pytest.mark.parametrize(("source", "target"), [("f64", "f16"), ("f64", "bf16"), ("f32", "bf16")])
def test_truncation_to_small_floats_calls_no_library(source: str, target: str):
    text = Program(map_kernel(f"%r = arith.truncf %x0 : {source} to {target}", [source], target, 4)).text
    assert "fptrunc double to half" not in text
    assert not any("fptrunc" in line and line.endswith("bfloat") for line in text.splitlines())


def test_extension_of_bf16_calls_no_library():
    text = Program(map_kernel("%r = arith.extf %x0 : bf16 to f64", ["bf16"], "f64", 4)).text
    assert "fpext bfloat" not in text


def test_bf16_is_chosen_as_bits():
    """
    LLVM may hold a bf16 in a register as an f32, and takes denormals for zeros on the way back (found by random graphs:
    `graph.where` in place, unrolled nine times).
    """
    body = "%r = arith.select %x2, %x0, %x1 : bf16"
    text = Program(map_kernel(body, ["bf16", "bf16", "i1"], "bf16", 9)).text
    assert "bfloat" not in "".join(line for line in text.splitlines() if " = select " in line)
    rng = np.random.default_rng(5)
    first, second, chosen = (rng.integers(0, most, 9) for most in (64, 64, 2))
    inputs = [
        ("bf16", first.astype(np.uint16)),
        ("bf16", second.astype(np.uint16)),
        ("i1", chosen.astype(np.uint8)),
    ]
    assert run_map(body, inputs, ("bf16", np.uint16)).tolist() == np.where(chosen, first, second).tolist()


def test_bf16_is_carried_as_bits():
    """The same of what branches hand over; in a loop it was wrong."""
    body = """%r = scf.for %j = %c0 to %i step %c1 iter_args(%s = %x0) -> (bf16) {
      %q = scf.if %x2 -> (bf16) { scf.yield %x1 : bf16 } else { scf.yield %s : bf16 }
      scf.yield %q : bf16
    }"""
    rng = np.random.default_rng(6)
    first, second, chosen = (rng.integers(0, most, 64) for most in (64, 64, 2))
    inputs = [
        ("bf16", first.astype(np.uint16)),
        ("bf16", second.astype(np.uint16)),
        ("i1", chosen.astype(np.uint8)),
    ]
    expected = np.where((chosen != 0) & (np.arange(64) > 0), second, first)
    assert run_map(body, inputs, ("bf16", np.uint16)).tolist() == expected.tolist()
    text = Program(map_kernel(body, ["bf16", "bf16", "i1"], "bf16", 64)).text
    assert " = phi i16 " in text and "phi bfloat" not in text


def test_bf16_arithmetic_is_refused():
    with pytest.raises(OperationError, match="run expand-math first"):
        lower("func.func @f(%x: bf16) -> bf16 { %r = arith.addf %x, %x : bf16 func.return %r : bf16 }")
