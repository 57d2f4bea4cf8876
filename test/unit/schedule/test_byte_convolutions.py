"""
Convolutions of bytes are exact: any signs, strides, dilations, padding, groups, by whatever instructions the machine
has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from named_machines import runs_here, wide_targets
from stepwell.core.passes.context import PassContext
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.dialects import tile
from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType, f32, i32

TARGETS = [*wide_targets(), *(each for each in ("x86-64-v4", "x86-64-v3", "x86-64") if runs_here(each))]
"""Those with wide registers whose instructions this machine has, and those that multiply bytes in 16 bits."""
ELEMENTS = {"i8": np.int8, "ui8": np.uint8}
SIGNS = tuple(ELEMENTS)


@dataclass(frozen=True)
class Convolution:
    """`[n, h, w, c]` with filters `[r, s, c / groups, o]`."""

    image: tuple[int, int, int, int] = (1, 9, 20, 64)
    window: tuple[int, int] = (3, 3)
    outputs: int = 32
    strides: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Top, left, bottom, right."""
    dilation: tuple[int, int] = (1, 1)
    groups: int = 1
    signs: tuple[str, str] = ("i8", "i8")
    constant: bool = True
    first: bool = False
    """Whether the channels come first."""
    widened: bool = False
    """Whether bytes of other signs are widened to 32 bits before they are multiplied."""

    @property
    def places(self) -> tuple[int, int]:
        """The extents of the result."""
        top, left, bottom, right = self.padding
        sums = zip(
            self.image[1:3],
            (top + bottom, left + right),
            self.window,
            self.dilation,
            self.strides,
            strict=True,
        )
        h, w = ((size + pad - d * (k - 1) - 1) // s + 1 for size, pad, k, d, s in sums)
        return h, w

    @property
    def is_legal(self) -> bool:
        return min(self.places) >= 1

    def text(self, epilogue: bool = False) -> str:
        n, h, w, c = self.image
        data, weights, result = (
            [n, h, w, c],
            [*self.window, c // self.groups, self.outputs],
            self.result_shape(),
        )
        layout = 'data_layout = "NHWC", kernel_layout = "HWIO"'
        if self.first:
            data, weights = [n, c, h, w], [self.outputs, c // self.groups, *self.window]
            layout = 'data_layout = "NCHW", kernel_layout = "OIHW"'

        def tensor(shape: list[int], element: str) -> str:
            return f"tensor<{'x'.join(map(str, shape))}x{element}>"

        x, y = tensor(data, self.signs[0]), tensor(weights, self.signs[1])
        r = tensor(result, "i32" if "i8" in self.signs else "ui32")
        options = (
            f"strides = {list(self.strides)}, padding = {list(self.padding)}, dilation = {list(self.dilation)}, "
            f"groups = {self.groups}, {layout}"
        )
        if self.signs[0] == self.signs[1] or not self.widened:
            body = (
                f"%r = graph.conv2d %x, %y, {options}, out_dtype = {'i32' if 'i8' in self.signs else 'ui32'} : ({x}, "
                f"{y}) -> {r}"
            )
        else:
            wide = tensor(data, "i32"), tensor(weights, "i32")
            body = f"""%a = graph.astype %x, dtype = i32 : ({x}) -> {wide[0]}
  %b = graph.astype %y, dtype = i32 : ({y}) -> {wide[1]}
  %r = graph.conv2d %a, %b, {options} : ({wide[0]}, {wide[1]}) -> {r}"""
        returned = r
        if epilogue:
            f, returned = tensor(result, "f32"), tensor(result, "i8")
            body += f"""
  %f = graph.astype %r, dtype = f32 : ({r}) -> {f}
  %s = graph.constant dense<0.015625> : tensor<f32>
  %g = graph.multiply %f, %s : ({f}, tensor<f32>) -> {f}
  %e = graph.astype %g, dtype = i8 : ({f}) -> {returned}"""
        argument = "" if self.constant else f", %y: {y}"
        weight = f'%y = graph.weight "w" : {y}' if self.constant else ""
        return f"""func.func @main(%x: {x}{argument}) -> {returned} {{
  {weight}
  {body}
  func.return {"%e" if epilogue else "%r"} : {returned}
}}"""

    def result_shape(self) -> list[int]:
        shape = [self.image[0], *self.places, self.outputs]
        return [shape[axis] for axis in (0, 3, 1, 2)] if self.first else shape

    def arrays(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Random bytes, with channels and filters of the extreme ones; NHWC and HWIO."""
        rng = np.random.default_rng(seed)
        shapes = self.image, (*self.window, self.image[3] // self.groups, self.outputs)
        found = []
        for shape, sign in zip(shapes, self.signs, strict=True):
            info = np.iinfo(ELEMENTS[sign])
            array = rng.integers(info.min, info.max + 1, shape, dtype=info.dtype)
            array[..., 0], array[..., -1] = info.min or info.max, info.max
            found.append(array)
        return found[0], found[1]

    def expected(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """One product per tap, in 64 bits."""
        (top, left, bottom, right), (h, w) = self.padding, self.places
        wide = np.pad(x.astype(np.int64), ((0, 0), (top, bottom), (left, right), (0, 0)))
        each, outputs = self.image[3] // self.groups, self.outputs // self.groups
        result = np.zeros((self.image[0], h, w, self.outputs), np.int64)
        for r, s in np.ndindex(*self.window):
            begin = r * self.dilation[0], s * self.dilation[1]
            rows = slice(begin[0], begin[0] + (h - 1) * self.strides[0] + 1, self.strides[0])
            columns = slice(begin[1], begin[1] + (w - 1) * self.strides[1] + 1, self.strides[1])
            for g in range(self.groups):
                to = slice(g * outputs, (g + 1) * outputs)
                part = wide[:, rows, columns, g * each : (g + 1) * each]
                result[..., to] += part @ y[r, s, :, to].astype(np.int64)
        return result

    def run(self, x: np.ndarray, y: np.ndarray, target: str, epilogue: bool = False, threads: int = 1) -> np.ndarray:
        if self.first:
            x, y = (
                np.ascontiguousarray(x.transpose(0, 3, 1, 2)),
                np.ascontiguousarray(y.transpose(3, 2, 0, 1)),
            )
        with PassContext(config={"target": target}):
            weights = {"w": y} if self.constant else None
            program = stepwell.compile(self.text(epilogue), cache=False, weights=weights, threads=threads)
        found = np.asarray(program(x) if self.constant else program(x, y)).reshape(self.result_shape())
        return found.transpose(0, 2, 3, 1) if self.first else found

    def check(self, target: str, seed: int = 0, threads: int = 1) -> None:
        x, y = self.arrays(seed)
        found = self.run(x, y, target, threads=threads)
        np.testing.assert_array_equal(found.view(np.uint32), self.expected(x, y).astype(np.uint32))


CASES = {
    "1x1": Convolution(window=(1, 1)),
    "1x1 with a stride": Convolution(window=(1, 1), strides=(2, 2), outputs=48),
    "3x3 with padding": Convolution(padding=(1, 1, 1, 1)),
    "padding on one side": Convolution(image=(1, 5, 16, 64), padding=(0, 2, 1, 0)),
    "whole registers": Convolution(image=(1, 5, 34, 128), outputs=64),
    "strides": Convolution(image=(2, 9, 37, 64), strides=(2, 3), padding=(1, 1, 1, 1)),
    "dilation": Convolution(image=(1, 9, 40, 64), dilation=(2, 3), padding=(2, 0, 1, 4)),
    "channels that fill no register": Convolution(image=(1, 6, 20, 23), outputs=21),
    "many channels": Convolution(image=(1, 4, 18, 160), window=(2, 2), outputs=100),
    "few channels": Convolution(image=(1, 20, 40, 3), window=(7, 7), strides=(2, 2), outputs=32, padding=(3, 3, 3, 3)),
    "one channel": Convolution(image=(1, 8, 30, 1), window=(3, 5), outputs=16),
    "few rows": Convolution(image=(1, 7, 7, 64), padding=(1, 1, 1, 1), outputs=40),
    "one row": Convolution(image=(1, 3, 3, 64), outputs=40),
    "one column": Convolution(image=(1, 40, 3, 64), outputs=40),
    "groups": Convolution(image=(1, 6, 20, 64), groups=2, padding=(1, 1, 1, 1)),
    "depthwise": Convolution(image=(1, 9, 20, 64), groups=64, outputs=64, padding=(1, 1, 1, 1)),
    "depthwise of the largest window": Convolution(
        image=(1, 9, 8, 40), window=(7, 7), groups=40, outputs=40, strides=(2, 1), padding=(3, 3, 3, 3)
    ),
    "depthwise without a sign": Convolution(
        image=(1, 9, 20, 64), groups=64, outputs=64, padding=(1, 1, 1, 1), signs=("ui8", "i8")
    ),
    "a large window": Convolution(image=(1, 12, 30, 16), window=(9, 9), outputs=16, padding=(4, 4, 4, 4)),
    "windows in the padding": Convolution(image=(1, 2, 3, 32), window=(1, 1), padding=(0, 20, 2, 17)),
    "filters that are not constant": Convolution(padding=(1, 1, 1, 1), constant=False),
    "channels first": Convolution(padding=(1, 0, 1, 1), first=True),
}


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_convolutions(name: str, target: str) -> None:
    CASES[name].check(target)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("left", SIGNS)
@pytest.mark.parametrize("right", SIGNS)
def test_all_signs(target: str, left: str, right: str) -> None:
    for widened in (False, True)[: 1 + (left != right)]:
        Convolution(image=(1, 4, 21, 40), padding=(1, 1, 0, 2), signs=(left, right), widened=widened).check(target)


CONVOLUTIONS = st.builds(
    Convolution,
    image=st.tuples(st.integers(1, 2), st.integers(1, 10), st.integers(1, 40), st.integers(1, 80)),
    window=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    outputs=st.integers(2, 70),
    strides=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    padding=st.tuples(*[st.integers(0, 3)] * 4),
    dilation=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    signs=st.tuples(st.sampled_from(SIGNS), st.sampled_from(SIGNS)),
    constant=st.booleans(),
    first=st.booleans(),
    widened=st.booleans(),
).filter(lambda each: each.is_legal)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("target", TARGETS)
def test_random_convolutions(target: str) -> None:
    @settings(max_examples=150 if FULL else 4, deadline=None, database=None, derandomize=not FULL)
    @given(CONVOLUTIONS, st.integers(0, 2**16))
    def check(convolution: Convolution, seed: int) -> None:
        convolution.check(target, seed)

    check()


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("target", TARGETS)
def test_results_do_not_depend_on_threads(target: str) -> None:
    for constant in (True, False):
        Convolution(image=(2, 30, 40, 64), outputs=64, padding=(1, 1, 1, 1), constant=constant).check(target, threads=2)


@pytest.mark.parametrize("target", TARGETS)
def test_sums_wrap(target: str) -> None:
    """2**17 products of -128 * -128 make 2**31."""
    each = Convolution(image=(1, 4, 4, 8192), window=(4, 4), outputs=16)
    x, y = (np.full(array.shape, -128, np.int8) for array in each.arrays(0))
    assert set(each.run(x, y, target).ravel().tolist()) == {-(2**31)}


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "name", ["1x1", "3x3 with padding", "channels that fill no register", "channels first", "depthwise"]
)
def test_scaled_results(name: str, target: str) -> None:
    """A scale on the sums in f32, then bytes."""
    each = CASES[name]
    x, y = each.arrays(2)
    wanted = np.trunc(each.expected(x, y).astype(np.float32) * np.float32(0.015625))
    found = each.run(x, y, target, epilogue=True)
    np.testing.assert_array_equal(found, np.clip(wanted, -128, 127).astype(np.int8))


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("target", TARGETS)
def test_depthwise_convolutions_sum_up_in_f32(target: str) -> None:
    """All channels of a vector at once, and a result of whole numbers."""
    text = CASES["depthwise"].text()
    module = parse(text)
    run_pipeline(make_context(), module, f'graph-optimize,to-loops,schedule-cpu{{target="{target}"}}')
    sums = [op.results[0].type for op in module.walk() if isinstance(op, tile.MapOp)]
    assert {each.element_type for each in sums if isinstance(each, VectorType)} == {f32, i32}
    assert not any(isinstance(op, arith.MuliOp) and op.result.type == i32 for op in module.walk())
