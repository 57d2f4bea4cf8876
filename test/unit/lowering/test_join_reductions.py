"""Sibling reductions compiled as one kernel: what NumPy computes, for all kinds, types, axes and tails of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.tensor_loop import BlockOp
from stepwell.machine.host import host_machine

NUMPY: dict[str, Any] = {
    "max": np.max,
    "min": np.min,
    "sum": np.sum,
    "mean": np.mean,
    "prod": np.prod,
    "any": np.any,
    "all": np.all,
}
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i64": np.int64, "i8": np.int8, "i1": np.bool_}
RTOL = {"f32": 1e-5, "f64": 1e-12, "f16": 2e-3}

CASES = [
    ("f32", (128, 37), (0, 1), "max min"),
    ("f32", (5, 133), (1,), "max! min sum"),
    ("f32", (70, 35), (0,), "min max"),
    ("f32", (3, 9, 5, 7), (2, 3), "mean! max"),
    ("f32", (2, 6, 6, 33), (1, 2), "mean! max!"),
    ("f32", (12, 40), (0,), "sum max"),
    ("f64", (3, 65), (1,), "sum min max"),
    ("f16", (4, 100), (1,), "mean max"),
    ("i64", (6, 50), (1,), "min max sum"),
    ("i8", (6, 130), (0,), "max min"),
    ("i1", (6, 50), (1,), "any all"),
    ("f32", (3, 40), (1,), "prod sum"),
]
"""Element type, shape, axes, and the reductions, those with `!` keeping their dimensions."""

TARGETS = ["host", "x86-64-v3"] if host_machine().has_wide_registers else ["host"]
"""Registers of 32 bytes too, where the machine has those of 64."""


def program(dtype: str, shape: tuple[int, ...], axes: tuple[int, ...], kinds: str) -> str:
    """The reductions of `%x` side by side."""
    whole = f"tensor<{'x'.join(map(str, shape))}x{dtype}>"
    lines, types = list[str](), list[str]()
    for number, kind in enumerate(kinds.split()):
        kept = [1 if axis in axes else size for axis, size in enumerate(shape) if kind[-1] == "!" or axis not in axes]
        types.append(f"tensor<{''.join(f'{size}x' for size in kept)}{dtype}>")
        keep = ", keepdims = true" if kind[-1] == "!" else ""
        lines.append(f"%{number} = graph.{kind.rstrip('!')} %x, axis = {list(axes)}{keep} : ({whole}) -> {types[-1]}")
    results = ", ".join(types)
    back = ", ".join(f"%{number}" for number in range(len(types)))
    body = "\n".join(lines)
    return f"func.func @main(%x: {whole}) -> ({results}) {{\n{body}\nfunc.return {back} : {results}\n}}"


def values(dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(len(shape))
    if dtype == "i1":
        return rng.random(shape) < 0.97
    if dtype[0] == "i":
        return rng.integers(-100, 100, shape).astype(DTYPES[dtype])
    return (rng.standard_normal(shape) + 0.5).astype(DTYPES[dtype])


def expected(array: np.ndarray[Any, Any], axes: tuple[int, ...], kind: str) -> np.ndarray[Any, Any]:
    wide = array.astype(np.float64) if array.dtype.kind == "f" else array
    return np.asarray(NUMPY[kind.rstrip("!")](wide, axis=axes, keepdims=kind[-1] == "!")).astype(array.dtype)


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize(("dtype", "shape", "axes", "kinds"), CASES)
def test_joined_reductions_against_numpy(dtype: str, shape: tuple[int, ...], axes: tuple[int, ...], kinds: str) -> None:
    text = program(dtype, shape, axes, kinds)
    context = make_context()
    module = parse_text(context, text, "p.mlir")
    run_pipeline(context, module, parse_pipeline("graph-optimize,to-loops"))
    blocks = [op for op in module.walk() if isinstance(op, BlockOp) and op.has_reduce_axes]
    assert len(blocks) == 1
    array = values(dtype, shape)
    for kind, found in zip(kinds.split(), stepwell.compile(text)(array), strict=True):
        np.testing.assert_allclose(np.asarray(found), expected(array, axes, kind), rtol=RTOL.get(dtype, 0), atol=1e-6)


@pytest.mark.parametrize("target", TARGETS)
def test_special_numbers_of_a_range(target: str) -> None:
    """A NaN reaches both, in its row alone. Infinities and zeros of both signs are numbers as others."""
    rows = [np.arange(67, dtype=np.float32) - 30 for _ in range(4)]
    rows[1][66], rows[2][3], rows[2][60] = np.nan, np.inf, -np.inf
    rows[3] = np.where(np.arange(67) % 2 == 0, np.float32(0.0), np.float32(-0.0))
    array = np.stack(rows).astype(np.float32)
    exe = stepwell.compile(program("f32", (4, 67), (1,), "max min"), target=target)
    high, low = (np.asarray(found) for found in exe(array))
    np.testing.assert_array_equal(high, [36, np.nan, np.inf, 0])
    np.testing.assert_array_equal(low, [-30, np.nan, -np.inf, 0])
    assert not np.signbit(high[3]) and np.signbit(low[3])


def test_a_range_is_the_bits_of_its_parts() -> None:
    array = values("f32", (9, 131))
    for kinds in ("max min", "min max max!"):
        joined = stepwell.compile(program("f32", (9, 131), (1,), kinds))(array)
        for kind, found in zip(kinds.split(), joined, strict=True):
            (alone,) = stepwell.compile(program("f32", (9, 131), (1,), kind))(array)
            assert np.asarray(found).tobytes() == np.asarray(alone).tobytes()
