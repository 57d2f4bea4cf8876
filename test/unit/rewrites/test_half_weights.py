"""Products with weights of f16 and bf16: memory holds half floats, and results are those of f32 bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import stepwell
from counts import FULL
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.core.weights import write_weights

TYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}

SHAPES = [((1, 70), (70, 40)), ((4, 33), (33, 17)), ((3, 2, 1, 16), (16, 9)), ((200,), (200, 30))]
"""Operands of the products."""

MANY = [
    *(((1, 1000), (1000, 1)), ((64, 300), (300, 200)), ((129, 513), (513, 257)), ((1, 256), (256, 512))),
    *(((3, 5, 64), (3, 64, 48)), ((5, 1), (1, 7)), ((4, 256), (256, 512))),
]
TARGETS = [None, "x86-64-v3", "x86-64-v4", "x86-64"] if FULL else [None, "x86-64-v3"]


def text_of(shape: tuple[int, ...], dtype: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{dtype}>"


def program(left: tuple[int, ...], stored: tuple[int, ...], dtype: str, *, transposed: bool) -> str:
    """Returns a product with weights of a type in a file, converted and then transposed, and a relu."""
    right = (*stored[:-2], stored[-1], stored[-2]) if transposed else stored
    result = np.matmul(np.zeros(left), np.zeros(right)).shape
    lines, value = [f'%w = graph.weight "w" : {text_of(stored, dtype)}'], "%w"
    if dtype != "f32":
        lines.append(f"%c = graph.astype %w, dtype = f32 : ({text_of(stored, dtype)})")
        value = "%c"
    if transposed:
        axes = [*range(len(right) - 2), len(right) - 1, len(right) - 2]
        lines.append(f"%p = graph.permute_dims {value}, axes = {axes} : ({text_of(stored, 'f32')})")
        value = "%p"
    lines.append(f"%y = graph.matmul %x, {value} : ({text_of(left, 'f32')}, {text_of(right, 'f32')})")
    lines.append(f"%z = graph.relu %y : ({text_of(result, 'f32')})")
    body = "\n    ".join(lines)
    return f"""builtin.module attributes {{stepwell.weights = "{dtype}.safetensors"}} {{
  func.func @main(%x: {text_of(left, "f32")}) -> {text_of(result, "f32")} {{
    {body}
    func.return %z : {text_of(result, "f32")}
  }}
}}"""


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("shapes", SHAPES + (MANY if FULL else []))
def test_results_are_those_of_f32(
    shapes: Any, dtype: str, transposed: bool, target: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    left, right = shapes
    random = np.random.default_rng(0)
    x, w = random.standard_normal(left).astype(np.float32), random.standard_normal(right).astype(TYPES[dtype])
    stored = np.swapaxes(w, -1, -2).copy() if transposed else w
    results = []
    for each in (dtype, "f32"):
        write_weights(f"{each}.safetensors", {"w": stored.astype(TYPES[each])})
        module = parse(program(left, stored.shape, each, transposed=transposed))
        results.append(stepwell.compile(module, target=target, cache=False, threads=1)(x)[0])
    wanted = np.maximum(x.astype(np.float64) @ w.astype(np.float64), 0)
    np.testing.assert_allclose(results[0], wanted, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_memory_holds_half_floats(dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel takes half floats, and so what a prepare function makes of the weights is."""
    monkeypatch.chdir(tmp_path)
    write_weights(f"{dtype}.safetensors", {"w": np.zeros((64, 96), TYPES[dtype])})
    module = parse(program((4, 64), (64, 96), dtype, transposed=False))
    run_pipeline(make_context(), module, "graph-optimize,to-loops,plan-schedules,prepack-weights")
    prepared = [line for line in str(module).splitlines() if "stepwell.prepare" in line]
    assert prepared and all(f"{dtype}>" in line and "xf32" not in line for line in prepared)
