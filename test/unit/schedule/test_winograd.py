"""
Convolutions 3x3 by F(2x2, 3x3), against NumPy written on its own.

Images are small integers and filters small integers too, so that all sums are exact, quarters of filters included, and
results are compared bit by bit; errors are measured on numbers of any kind.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.dialects.tensor_loop import FuncOp
from stepwell.schedule.winograd import plan as winograd
from xdsl.dialects.builtin import ModuleOp

EXAMPLES = 100 if FULL else 4
Array = np.ndarray[Any, Any]


def tensor(*sizes: int, element: str = "f32") -> str:
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"


def convolve(x: Array, w: Array, padding: list[int]) -> Array:
    """NHWC by HWIO in steps of 1, one matrix product per tap, in the precision of the operands."""
    top, left, bottom, right = padding
    padded = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
    height, width = padded.shape[1] - 2, padded.shape[2] - 2
    total = padded[:, :height, :width] @ w[0, 0]
    for i, j in [(i, j) for i in range(3) for j in range(3)][1:]:
        total += padded[:, i : i + height, j : j + width] @ w[i, j]
    return total


def program(
    x: tuple[int, ...],
    w: tuple[int, ...],
    properties: str,
    out: tuple[int, ...],
    epilogue: str = "",
    element: str = "f32",
) -> str:
    """`w` is a weight, as what follows the convolution is: a bias, the image itself, a relu."""
    images, filters, result = (tensor(*sizes, element=element) for sizes in (x, w, out))
    lines = [
        f'%w = graph.weight "w" : {filters}',
        f'%r1 = graph.conv2d %x, %w, data_layout = "NHWC", kernel_layout = "HWIO"{properties} '
        f": ({images}, {filters}) -> {result}",
    ]
    if "bias" in epilogue:
        lines.insert(0, f'%b = graph.weight "b" : {tensor(out[3], element=element)}')
        lines.append(f"%r2 = graph.add %r1, %b : ({result}, {tensor(out[3], element=element)}) -> {result}")
    if "residual" in epilogue:
        last = lines[-1].split(" ")[0]
        lines.append(f"%r3 = graph.add {last}, %x : ({result}, {images}) -> {result}")
    if "relu" in epilogue:
        last = lines[-1].split(" ")[0]
        lines.append(f"%r4 = graph.relu {last} : ({result}) -> {result}")
    body = "\n    ".join([*lines, f"func.return {lines[-1].split(' ')[0]} : {result}"])
    return f"""builtin.module attributes {{stepwell.weights = "given.safetensors"}} {{
  func.func @main(%x: {images}) -> {result} {{
    {body}
  }}
}}"""


def packed(text: str, pipeline: str = "graph-optimize,to-loops,prepack-weights{target=x86-64-v4}") -> ModuleOp:
    module = parse(text)
    run_pipeline(make_context(), module, pipeline)
    return module


def is_transformed(module: ModuleOp) -> bool:
    names = [op.sym_name.data for op in module.ops if isinstance(op, FuncOp)]
    return any(name.startswith("pack_filters") for name in names)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it does not pay."""
    monkeypatch.setattr(winograd, "_pays", lambda *_: True)


class TestResults:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(st.data())
    def test_any_size(self, data: st.DataObject) -> None:
        draw = data.draw
        padding = [draw(st.integers(0, 2)) for _ in range(4)]
        height, width = (
            draw(st.integers(max(2, 5 - sum(padding[side::2])), 9), label=name)
            for side, name in ((0, "height"), (1, "width"))
        )
        batch, depth, channels = (draw(st.sampled_from(each)) for each in ((1, 2, 3), (1, 5, 37), (2, 16, 65)))
        epilogue = draw(st.sampled_from(["", "bias relu"]))
        rng = np.random.default_rng(draw(st.integers(0, 99)))
        x = rng.integers(-4, 5, (batch, height, width, depth)).astype(np.float32)
        w = rng.integers(-4, 5, (3, 3, depth, channels)).astype(np.float32)
        b = rng.integers(-9, 10, channels).astype(np.float32)
        expected = convolve(x, w, padding)
        text = program(x.shape, w.shape, f", padding = {padding}", expected.shape, epilogue)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(winograd, "_pays", lambda *_: True)
            patch.setattr(winograd, "ENOUGH_SQUARES", draw(st.sampled_from([1, 4, 48]), label="squares"))
            found = stepwell.compile(text, weights={"w": w, "b": b} if epilogue else {"w": w})(x)[0]
        if epilogue:
            expected = np.maximum(expected + b, 0)
        np.testing.assert_array_equal(found, expected)

    @pytest.mark.usefixtures("always")
    def test_a_residual_and_the_same_bits_on_threads(self) -> None:
        rng = np.random.default_rng(2)
        x = rng.standard_normal((2, 21, 30, 64)).astype(np.float32)
        w = rng.standard_normal((3, 3, 64, 64)).astype(np.float32) / 24
        text = program(x.shape, w.shape, ", padding = [1, 1, 1, 1]", x.shape, "residual relu")
        one, two = (stepwell.compile(text, weights={"w": w}, threads=threads)(x)[0] for threads in (1, 2))
        np.testing.assert_array_equal(one, two)
        expected = np.maximum(convolve(x.astype(float), w.astype(float), [1, 1, 1, 1]) + x, 0)
        np.testing.assert_allclose(one, expected, atol=1e-5)

    @pytest.mark.ci_cases(1)
    @pytest.mark.parametrize("target", ["x86-64", "x86-64-v3", "aarch64-neon"])
    @pytest.mark.usefixtures("always")
    def test_targets(self, target: str) -> None:
        rng = np.random.default_rng(3)
        x = rng.integers(-4, 5, (1, 7, 10, 20)).astype(np.float32)
        w = rng.integers(-4, 5, (3, 3, 20, 24)).astype(np.float32)
        expected = convolve(x, w, [1, 1, 1, 1])
        text = program(x.shape, w.shape, ", padding = [1, 1, 1, 1]", expected.shape)
        module = packed(text, f"graph-optimize,to-loops,prepack-weights{{target={target}}}")
        np.testing.assert_array_equal(stepwell.compile(module, weights={"w": w})(x)[0], expected)

    @pytest.mark.usefixtures("always")
    def test_double_precision(self) -> None:
        rng = np.random.default_rng(4)
        x, w = rng.standard_normal((1, 6, 6, 9)), rng.standard_normal((3, 3, 9, 11))
        expected = convolve(x, w, [0, 0, 0, 0])
        text = program(x.shape, w.shape, "", expected.shape, element="f64")
        assert is_transformed(packed(text))
        np.testing.assert_allclose(stepwell.compile(text, weights={"w": w})(x)[0], expected, atol=1e-13)

    @pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
    @pytest.mark.usefixtures("always")
    def test_small_floats(self, dtype: Any) -> None:
        """Images and filters are widened, and the sums rounded once: those here are exact in 8 bits."""
        rng = np.random.default_rng(6)
        x, w = rng.integers(-1, 2, (2, 7, 6, 20)), rng.integers(-1, 2, (3, 3, 20, 24))
        expected = convolve(x, w, [1, 1, 1, 1])
        assert np.abs(expected).max() <= 256
        element = "f16" if dtype == np.float16 else "bf16"
        text = program(x.shape, w.shape, ", padding = [1, 1, 1, 1]", expected.shape, element=element)
        assert is_transformed(packed(text))
        found = stepwell.compile(text, weights={"w": w.astype(dtype)})(x.astype(dtype))[0]
        np.testing.assert_array_equal(found.astype(int), expected)

    def test_its_error_is_that_of_a_few_roundings_more(self) -> None:
        """docs/numerics.md: within a few times the error of sums one after the other."""
        rng = np.random.default_rng(5)
        x = rng.standard_normal((1, 14, 14, 256)).astype(np.float32)
        w = (rng.standard_normal((3, 3, 256, 256)) / 48).astype(np.float32)
        exact = convolve(x.astype(float), w.astype(float), [1, 1, 1, 1])
        text = program(x.shape, w.shape, ", padding = [1, 1, 1, 1]", exact.shape)
        assert is_transformed(packed(text))
        fast, strict = (
            np.abs(stepwell.compile(text, weights={"w": w}, numerics=numerics)(x)[0] - exact)
            for numerics in ("default", "strict")
        )
        assert np.sqrt(np.mean(fast**2)) < 2 * np.sqrt(np.mean(strict**2))
        assert fast.max() < 4 * strict.max()


class TestChoice:
    @pytest.mark.ci_cases(3)
    @pytest.mark.parametrize(
        ("sizes", "taken"),
        [
            ((1, 56, 56, 64, 64), True),
            ((1, 7, 7, 512, 512), True),
            ((1, 28, 28, 33, 65), True),
            ((1, 56, 56, 3, 16), False),
            ((1, 28, 28, 8, 8), False),
            ((1, 3, 3, 512, 512), False),
        ],
    )
    def test_where_it_pays(self, sizes: tuple[int, ...], taken: bool) -> None:
        batch, height, width, depth, channels = sizes
        text = program(
            (batch, height, width, depth),
            (3, 3, depth, channels),
            ", padding = [1, 1, 1, 1]",
            (batch, height, width, channels),
        )
        assert is_transformed(packed(text)) == taken

    @pytest.mark.parametrize("target", ["zen5", "sapphire-rapids"])
    def test_large_filters(self, target: str) -> None:
        """Filters of 16 MB are read once per block, so blocks are large."""
        text = program((8, 7, 7, 512), (3, 3, 512, 512), ", padding = [1, 1, 1, 1]", (8, 7, 7, 512))
        found = str(packed(text, f"graph-optimize,to-loops,plan-schedules{{target={target}}}"))
        assert "#schedule.winograd<images = 4, rows = 4" in found

    @pytest.mark.parametrize(
        ("w", "out", "properties"),
        [
            ((3, 3, 64, 64), (1, 8, 8, 64), ", padding = [1, 1, 1, 1], strides = [2, 2]"),
            ((3, 3, 64, 64), (1, 12, 12, 64), ", dilation = [2, 2]"),
            ((5, 5, 64, 64), (1, 12, 12, 64), ""),
            ((1, 3, 64, 64), (1, 16, 14, 64), ""),
            ((3, 3, 32, 64), (1, 14, 14, 64), ", groups = 2"),
            ((3, 3, 64, 64), (1, 14, 20, 64), ", padding = [0, 4, 0, 2]"),
        ],
        ids=["stride", "dilation", "5x5", "1x3", "groups", "wide padding"],
    )
    @pytest.mark.usefixtures("always")
    def test_other_convolutions_are_left_alone(self, w: tuple[int, ...], out: tuple[int, ...], properties: str) -> None:
        assert not is_transformed(packed(program((1, 16, 16, 64), w, properties, out)))

    def test_strict(self) -> None:
        text = program((1, 28, 28, 64), (3, 3, 64, 64), "", (1, 26, 26, 64))
        assert is_transformed(packed(text))
        assert not is_transformed(
            packed(text, "graph-optimize,to-loops,prepack-weights{target=x86-64-v4 winograd=false}")
        )
