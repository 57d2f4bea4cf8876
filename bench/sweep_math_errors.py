"""
Largest error in ulp of every expanded unary function over f32, every 37th bit pattern (117 million), against double
precision.

Run from the root of the repository: `python bench/sweep_math_errors.py [--tiles] [name ...]`; a few seconds for each
function. With `--tiles` on register tiles, by the instructions of AVX-512 where the machine has them. The figures of
docs/numerics.md come from here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "test" / "unit"))

import expand_math_native as native
import llvm_jit

STRIDE = 37
CHUNK = 1 << 22

FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
}


def errors(found: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Returns errors in ulp of `exact` as f32, inf counted as 2^128. A NaN on one side only is inf."""
    limit = 2.0**128
    a, b = np.clip(found.astype(np.float64), -limit, limit), np.clip(exact, -limit, limit)
    exponent = np.where(b == 0, -126, np.clip(np.frexp(b)[1] - 1, -126, 127))
    result = np.abs(a - b) / np.ldexp(1.0, exponent - 23)
    result = np.where(np.isnan(found) != np.isnan(exact), np.inf, result)
    return np.where(np.isnan(found) & np.isnan(exact), 0.0, result)


def sweep(name: str, tiles: bool) -> tuple[float, float]:
    """The largest error and where it is."""
    body = f"%r = math.{name} %x0 : f32"
    if tiles:
        source = native.tile_source(body, CHUNK)
    else:
        source = llvm_jit.map_kernel(body, ["f32"], "f32", CHUNK)
    program = llvm_jit.Program(native.expanded(source))
    found = np.zeros(CHUNK, np.float32)
    worst, where = 0.0, 0.0
    for start in range(0, (1 << 32) // STRIDE, CHUNK):
        pattern = (np.arange(start, start + CHUNK, dtype=np.uint64) * STRIDE) & 0xFFFFFFFF
        x = pattern.astype(np.uint32).view(np.float32)
        program.call("f", x, found)
        error = errors(found, FUNCTIONS[name](x.astype(np.float64)))
        if (largest := float(error.max())) > worst:
            worst, where = largest, float(x[error.argmax()])
    return worst, where


def main() -> None:
    with np.errstate(all="ignore"):
        tiles = "--tiles" in sys.argv
        for name in [name for name in sys.argv[1:] if name != "--tiles"] or FUNCTIONS:
            worst, where = sweep(name, tiles)
            print(f"{name}: {worst:.3f} ulp at {where!r}", flush=True)


if __name__ == "__main__":
    main()
