"""Strips of rows through attention: values against NumPy, memory, and what a plan may ask for."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import stepwell
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.roles import STRIP
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects.tensor_loop import BlockOp

Shape = tuple[int, ...]

DTYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def attention(
    q: Shape, k: Shape, v: Shape, mask: Shape = (), kind: str = "f32", choice: bool = False, moved: bool = False
) -> str:
    """The text of `softmax(q @ k^T / 4 + mask) @ v` on tensors `batch x heads x rows x size`."""
    *outer, rows, _ = q
    *_, keys, _ = k
    result, scores = (*outer, rows, v[-1]), _type((*outer, rows, keys), kind)
    swapped = [*range(len(k) - 2), len(k) - 1, len(k) - 2]
    transposed = _type((*k[:-2], k[-1], k[-2]), kind)
    mask_type = _type(mask, "i1" if choice else kind) if mask else ""
    lines = [
        f"%kt = graph.permute_dims %k, axes = {swapped} : ({_type(k, kind)}) -> {transposed}",
        f"%s = graph.matmul %q, %kt : ({_type(q, kind)}, {transposed}) -> {scores}",
        f"%c = graph.full 0.25 : tensor<{kind}>",
        f"%m = graph.multiply %s, %c : ({scores}, tensor<{kind}>) -> {scores}",
    ]
    if choice:
        lines.append(f"%l = graph.full -1.0e30 : tensor<{kind}>")
        lines.append(f"%a = graph.where %mask, %m, %l : ({mask_type}, {scores}, tensor<{kind}>) -> {scores}")
    elif mask:
        lines.append(f"%a = graph.add %m, %mask : ({scores}, {mask_type}) -> {scores}")
    lines.append(f"%p = graph.softmax {'%a' if mask else '%m'} : ({scores}) -> {scores}")
    lines.append(f"%y = graph.matmul %p, %v : ({scores}, {_type(v, kind)}) -> {_type(result, kind)}")
    last, shape = "%y", result
    if moved:
        shape = (result[0], result[2], result[1], result[3])
        lines.append(
            f"%z = graph.permute_dims %y, axes = [0, 2, 1, 3] : ({_type(result, kind)}) -> {_type(shape, kind)}"
        )
        last = "%z"
    arguments = [f"%{name}: {_type(each, kind)}" for name, each in zip("qkv", (q, k, v), strict=True)]
    arguments += [f"%mask: {mask_type}"] if mask else []
    body = "\n  ".join([*lines, f"func.return {last} : {_type(shape, kind)}"])
    return f"func.func @main({', '.join(arguments)}) -> {_type(shape, kind)} {{\n  {body}\n}}\n"


def _type(shape: Shape, kind: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{kind}>"


def expected(q: Any, k: Any, v: Any, bias: Any = 0.0) -> Any:
    """The same in f64."""
    q, k, v, bias = (np.asarray(each, np.float64) for each in (q, k, v, bias))
    scores = q @ k.swapaxes(-1, -2) / 4 + bias
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ v


def strips_of(text: str, target: str = "x86-64-v4") -> list[int]:
    """The rows of the strips that the plan asks for."""
    ctx = make_context()
    module = parse_text(ctx, text, "attention.mlir")
    with stepwell.PassContext(config={"target": target}):
        run_pipeline(ctx, module, "graph-optimize,to-loops,plan-schedules")
    blocks = [op for op in module.walk() if isinstance(op, BlockOp) and STRIP in op.attributes]
    return [op.attributes[STRIP].value.data for op in blocks]  # pyright: ignore


CASES = {
    "few heads": ((2, 3, 100, 40), (2, 3, 77, 40), (2, 3, 77, 24)),
    "one head, rows that no strip divides": ((1, 1, 197, 32), (1, 1, 197, 32), (1, 1, 197, 48)),
    "fewer rows than a strip": ((7, 5), (9, 5), (9, 3)),
    "heads that share keys": ((2, 2, 3, 33, 16), (2, 2, 1, 40, 16), (2, 2, 1, 40, 16)),
    "long rows": ((1, 1, 20, 8), (1, 1, 3000, 8), (1, 1, 3000, 8)),
}


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    shapes = CASES[name]
    text = attention(*shapes)
    assert len(strips_of(text)) == 1
    random = np.random.default_rng(1)
    arrays = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    np.testing.assert_allclose(stepwell.compile(text)(*arrays)[0], expected(*arrays), rtol=2e-5, atol=2e-6)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("shape", [(50, 60), (2, 1, 50, 60)])
def test_masks_that_are_added(shape: Shape) -> None:
    shapes = ((2, 3, 50, 16), (2, 3, 60, 16), (2, 3, 60, 16))
    random = np.random.default_rng(2)
    arrays = [random.standard_normal(each).astype(np.float32) for each in (*shapes, shape)]
    arrays[3][..., 7:] = np.where(random.random((*shape[:-1], 53)) < 0.3, -np.inf, arrays[3][..., 7:])
    text = attention(*shapes, mask=shape, moved=True)
    assert len(strips_of(text)) == 1
    (found,) = stepwell.compile(text)(*arrays)
    np.testing.assert_allclose(found.swapaxes(1, 2), expected(*arrays), rtol=2e-5, atol=2e-6)


def test_rows_that_are_masked_throughout_are_nan() -> None:
    shapes = (1, 2, 70, 16), (1, 2, 70, 16), (1, 2, 70, 16)
    random = np.random.default_rng(3)
    arrays = [random.standard_normal(each).astype(np.float32) for each in (*shapes, (70, 70))]
    arrays[3][::5] = -np.inf
    (found,) = stepwell.compile(attention(*shapes, mask=(70, 70)))(*arrays)
    np.testing.assert_allclose(found, expected(*arrays), rtol=2e-5, atol=2e-6)
    assert np.isnan(found[:, :, ::5]).all() and not np.isnan(found[:, :, 1::5]).any()


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("numerics", ["default", "strict"])
def test_nan_and_infinities(numerics: str) -> None:
    shapes = (1, 2, 40, 16), (1, 2, 48, 16), (1, 2, 48, 16)
    random = np.random.default_rng(7)
    q, k, v = (random.standard_normal(each).astype(np.float32) for each in shapes)
    q[0, 0, 5, 3], v[0, 0, 7, 2], v[0, 1, 9, 4] = np.nan, np.inf, -np.inf
    (found,) = stepwell.compile(attention(*shapes), numerics=numerics)(q, k, v)
    np.testing.assert_allclose(found, expected(q, k, v), rtol=2e-5, atol=2e-6)
    assert np.isnan(found[0, 0, 5]).all() and np.isinf(found[0, 0, :, 2]).sum() == 39


@pytest.mark.parametrize("numerics", ["default", "strict"])
def test_units_of_the_weights(numerics: str) -> None:
    """Scores and their factor are exact here, and the values are 1 and 0: so results are the weights of softmax."""
    shapes = (1, 2, 40, 16), (1, 2, 64, 16), (1, 2, 64, 64)
    random = np.random.default_rng(8)
    q, k = (random.integers(-8, 9, each).astype(np.float32) / 8 for each in shapes[:2])
    v = np.broadcast_to(np.eye(64, dtype=np.float32), shapes[2]).copy()
    (found,) = stepwell.compile(attention(*shapes), numerics=numerics)(q, k, v)
    want = expected(q, k, v)
    scores = q.astype(np.float64) @ k.swapaxes(-1, -2) / 4
    below = scores.max(-1, keepdims=True) - scores
    units = np.abs(found - want) / np.spacing(want.astype(np.float32))
    assert (units <= 4 + below / 4).all()  # Two for the exponential, the others for the sum, its inverse, the product.


def test_huge_scores() -> None:
    """The greatest score of a row wins by far, and the factor of scores that are infinite does not matter."""
    shapes = (1, 1, 40, 16), (1, 1, 48, 16), (1, 1, 48, 16)
    random = np.random.default_rng(9)
    q, k, v = (random.standard_normal(each).astype(np.float32) for each in shapes)
    for size in (1e9, 1e17):
        (found,) = stepwell.compile(attention(*shapes))(q * np.float32(size), k * np.float32(size), v)
        winners = (q.astype(np.float64) @ k.swapaxes(-1, -2)).argmax(-1)
        np.testing.assert_array_equal(found[0, 0], v[0, 0][winners[0, 0]])
    q[0, 0, 3], k[0, 0, 5] = 3e38, 3e38
    (found,) = stepwell.compile(attention(*shapes))(q, k, v)
    assert np.isnan(found[0, 0, 3]).all()


def test_causal_choice() -> None:
    shapes = (1, 2, 70, 16), (1, 2, 70, 16), (1, 2, 70, 16)
    random = np.random.default_rng(4)
    arrays = [random.standard_normal(each).astype(np.float32) for each in shapes]
    seen = np.tril(np.ones((70, 70), bool))
    text = attention(*shapes, mask=(70, 70), choice=True)
    assert len(strips_of(text)) == 1
    want = expected(*arrays, bias=np.where(seen, 0, -np.inf))
    np.testing.assert_allclose(stepwell.compile(text)(*arrays, seen)[0], want, rtol=2e-5, atol=2e-6)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(("kind", "tolerance"), [("f64", 1e-12), ("f16", 4e-3), ("bf16", 3e-2)])
def test_other_floats(kind: str, tolerance: float) -> None:
    shapes = ((1, 3, 70, 16), (1, 3, 50, 16), (1, 3, 50, 16))
    random = np.random.default_rng(5)
    arrays = [random.standard_normal(each).astype(DTYPES[kind]) for each in shapes]
    found = np.asarray(stepwell.compile(attention(*shapes, kind=kind))(*arrays)[0], np.float64)
    np.testing.assert_allclose(found, expected(*arrays), rtol=tolerance, atol=tolerance)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_small_floats_are_not_rounded_before_they_are_summed_up(kind: str) -> None:
    """All of 61 weights are 1/61, whose rounding the sum would show."""
    shapes = ((1, 1, 20, 8), (1, 1, 61, 8), (1, 1, 61, 16))
    q, k, v = (np.full(shape, value, DTYPES[kind]) for shape, value in zip(shapes, (0, 1, 1), strict=True))
    text = attention(*shapes, kind=kind)
    assert (np.asarray(stepwell.compile(text)(q, k, v)[0], np.float64) == 1).all()
    assert (np.asarray(stepwell.compile(text, numerics="strict")(q, k, v)[0], np.float64) != 1).all()


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("target", [None, "x86-64-v3"])
def test_scores_of_small_floats_are_not_rounded_before_a_softmax(kind: str, target: str | None) -> None:
    """Two scores are 2049 and 2048, and the first would be rounded to the second."""
    shapes = ((1, 1, 20, 8), (1, 1, 32, 8), (1, 1, 32, 16))
    q, k, v = (np.zeros(shape, DTYPES[kind]) for shape in shapes)
    q[..., :2], k[..., :2, 0], k[..., 0, 1], v[..., 0, :] = (64, 1), 32, 1, 1
    text = attention(*shapes, kind=kind).replace("softmax %m", "softmax %s")
    found = np.asarray(stepwell.compile(text, target=target)(q, k, v)[0], np.float64)
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-1)), rtol=4e-3)
    np.testing.assert_array_equal(np.asarray(stepwell.compile(text, numerics="strict")(q, k, v)[0], np.float64), 0.5)


def test_the_results_are_those_of_one_thread() -> None:
    shapes = (1, 4, 256, 32), (1, 4, 256, 32), (1, 4, 256, 32)
    random = np.random.default_rng(6)
    arrays = [random.standard_normal(each).astype(np.float32) for each in shapes]
    text = attention(*shapes)
    one, two = (stepwell.compile(text, threads=threads)(*arrays)[0] for threads in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.ci_cases(0)
def test_memory_grows_with_the_rows_not_with_their_square() -> None:
    sizes: list[int] = []
    for rows in (512, 2048):
        shape = (1, 2, rows, 16)
        sizes.append(stepwell.compile(attention(shape, shape, shape)).memory.arena_bytes)
    assert sizes[1] <= 4.5 * sizes[0]


@pytest.mark.parametrize("target", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_strips_fit_the_second_level_cache(target: str) -> None:
    (rows,) = strips_of(attention((1, 8, 2048, 64), (1, 8, 2048, 64), (1, 8, 2048, 64)), target)
    assert 8 <= rows <= 64


@pytest.mark.parametrize("constant", ["k", "v"])
def test_products_with_weights_are_not_laid_out(constant: str) -> None:
    """Panels that `prepack-weights` makes would leave no product for strips to go through."""
    kinds = {"k": "tensor<64x48xf64>", "v": "tensor<48x64xf64>"}
    given = ", ".join(f"%{name}: {kind}" for name, kind in kinds.items() if name != constant)
    text = f"""func.func @main(%q: tensor<48x64xf64>, {given}) -> tensor<48x64xf64> {{
      %{constant} = graph.weight "{constant}" : {kinds[constant]}
      %s = graph.matmul %q, %k : (tensor<48x64xf64>, tensor<64x48xf64>) -> tensor<48x48xf64>
      %p = graph.softmax %s : (tensor<48x48xf64>) -> tensor<48x48xf64>
      %y = graph.matmul %p, %v : (tensor<48x48xf64>, tensor<48x64xf64>) -> tensor<48x64xf64>
      func.return %y : tensor<48x64xf64>
    }}"""
    draw = np.random.default_rng(11).standard_normal
    arrays = {"q": draw((48, 64)), "k": draw((64, 48)), "v": draw((48, 64))}
    exe = stepwell.compile(text, weights={constant: arrays[constant]}, cache=False, threads=1, tuning=False)
    (found,) = exe(*(array for name, array in arrays.items() if name != constant))
    scores = arrays["q"] @ arrays["k"]
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected = exponentials / exponentials.sum(axis=1, keepdims=True) @ arrays["v"]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


ONE_HEAD = """
func.func @main(%x: tensor<1xRxDxf32>) -> tensor<1x1xRxDxf32> {
  %wq = graph.weight "q" : tensor<DxDxf32>
  %wk = graph.weight "k" : tensor<DxDxf32>
  %wv = graph.weight "v" : tensor<DxDxf32>
  %b = graph.weight "b" : tensor<Dxf32>
  %q0 = graph.matmul %x, %wq : (tensor<1xRxDxf32>, tensor<DxDxf32>) -> tensor<1xRxDxf32>
  %q1 = graph.add %q0, %b : (tensor<1xRxDxf32>, tensor<Dxf32>) -> tensor<1xRxDxf32>
  %q2 = graph.reshape %q1, shape = [1, R, 1, D] : (tensor<1xRxDxf32>) -> tensor<1xRx1xDxf32>
  %q = graph.permute_dims %q2, axes = [0, 2, 1, 3] : (tensor<1xRx1xDxf32>) -> tensor<1x1xRxDxf32>
  %k0 = graph.matmul %x, %wk : (tensor<1xRxDxf32>, tensor<DxDxf32>) -> tensor<1xRxDxf32>
  %k1 = graph.reshape %k0, shape = [1, R, 1, D] : (tensor<1xRxDxf32>) -> tensor<1xRx1xDxf32>
  %k = graph.permute_dims %k1, axes = [0, 2, 3, 1] : (tensor<1xRx1xDxf32>) -> tensor<1x1xDxRxf32>
  %v0 = graph.matmul %x, %wv : (tensor<1xRxDxf32>, tensor<DxDxf32>) -> tensor<1xRxDxf32>
  %v1 = graph.reshape %v0, shape = [1, R, 1, D] : (tensor<1xRxDxf32>) -> tensor<1xRx1xDxf32>
  %v = graph.permute_dims %v1, axes = [0, 2, 1, 3] : (tensor<1xRx1xDxf32>) -> tensor<1x1xRxDxf32>
  %s = graph.matmul %q, %k : (tensor<1x1xRxDxf32>, tensor<1x1xDxRxf32>) -> tensor<1x1xRxRxf32>
  %p = graph.softmax %s : (tensor<1x1xRxRxf32>) -> tensor<1x1xRxRxf32>
  %y = graph.matmul %p, %v : (tensor<1x1xRxRxf32>, tensor<1x1xRxDxf32>) -> tensor<1x1xRxDxf32>
  func.return %y : tensor<1x1xRxDxf32>
}
"""


@pytest.mark.parametrize("rows, size", [(256, 32), (512, 64)])
@pytest.mark.parametrize("level", [2, 3])
def test_a_product_whose_weights_are_laid_out_stands_between(rows: int, size: int, level: int) -> None:
    """With one head the chain begins at the projection of the query, and the one of the keys is tiled by then."""
    random = np.random.default_rng(rows)
    weights = {name: random.standard_normal((size, size)).astype(np.float32) / 8 for name in "qkv"}
    weights["b"] = random.standard_normal(size).astype(np.float32)
    x = random.standard_normal((1, rows, size)).astype(np.float32)
    text = ONE_HEAD.replace("R", str(rows)).replace("D", str(size))
    (found,) = stepwell.compile(text, weights=weights, opt_level=level, threads=1, cache=False)(x)
    wide = {name: array.astype(np.float64) for name, array in weights.items()}
    q, k, v = x @ wide["q"] + wide["b"], x @ wide["k"], x @ wide["v"]
    scores = q @ k.swapaxes(1, 2)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    np.testing.assert_allclose(found[0], (scores / scores.sum(-1, keepdims=True)) @ v, rtol=2e-4, atol=2e-5)
