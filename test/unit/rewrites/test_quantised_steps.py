"""
Machine code of quantised ops against their graph in float64: at most one step of the output's scale apart.

Ops of elements are tried on all pairs of bytes. Products and convolutions are drawn: 300 of each with STEPWELL_FULL=1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from double_precision import DoubleProgram
from stepwell.core.text.parsing import parse

Array = np.ndarray[Any, Any]

PAIRS = {"add": 0.03, "subtract": 0.03, "multiply": 0.02, "maximum": 0.015, "minimum": 0.015}
"""Ops of two tensors of bytes, and the scale of what they give."""

TABLES = {
    "relu": 0.015,
    "leaky_relu": 0.015,
    "negative": 0.015,
    "abs": 0.015,
    "sigmoid": 1 / 256,
    "tanh": 1 / 128,
    "exp": 0.3,
    "gelu": 0.015,
    "silu": 0.015,
    "sqrt": 0.01,
    "rsqrt": 0.04,
    "exp2": 0.05,
    "expm1": 0.2,
    "log": 0.05,
    "log2": 0.06,
    "log1p": 0.04,
    "sin": 1 / 128,
    "cos": 1 / 128,
    "erf": 1 / 128,
}
"""Ops of one tensor of bytes. Square roots of negative numbers are NaN, which quantises to 0."""


class Text:
    """A function on tensors of bytes, line by line."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.arguments: dict[str, str] = {}
        self.results: list[tuple[str, str]] = []

    def number(self, name: str, value: float, dtype: str, extents: str = "") -> str:
        self.lines.append(f"%{name} = graph.full {value!r} : tensor<{extents}{dtype}>")
        return f"%{name}"

    def real(self, name: str, shape: str, dtype: str, scale: float, zero: int, axis: int = 1, extents: str = "") -> str:
        """Adds an argument of bytes, and returns what they stand for."""
        self.arguments[name] = f"tensor<{shape}x{dtype}>"
        s = self.number(f"s_{name}", scale, "f32", extents)
        z = self.number(f"z_{name}", zero, dtype, extents)
        types = f"(tensor<{shape}x{dtype}>, tensor<{extents}f32>, tensor<{extents}{dtype}>) -> tensor<{shape}xf32>"
        self.lines.append(f"%r_{name} = graph.dequantize %{name}, {s}, {z}, axis = {axis} : {types}")
        return f"%r_{name}"

    def result(self, name: str, value: str, shape: str, dtype: str, scale: float, zero: int) -> None:
        """Quantises a value and returns it."""
        s, z = self.number(f"s_{name}", scale, "f32"), self.number(f"z_{name}", zero, dtype)
        types = f"(tensor<{shape}xf32>, tensor<f32>, tensor<{dtype}>) -> tensor<{shape}x{dtype}>"
        self.lines.append(f"%{name} = graph.quantize {value}, {s}, {z} : {types}")
        self.results.append((name, f"tensor<{shape}x{dtype}>"))

    def __str__(self) -> str:
        arguments = ", ".join(f"%{name}: {type_}" for name, type_ in self.arguments.items())
        types = ", ".join(type_ for _, type_ in self.results)
        last = f"func.return {', '.join(f'%{name}' for name, _ in self.results)} : {types}"
        return "\n".join([f"func.func @main({arguments}) -> ({types}) {{", *self.lines, last, "}"])


def steps_apart(text: Text, arrays: list[Array]) -> dict[str, int]:
    """Returns by how many steps each result of the machine code is off."""
    module = parse(str(text))
    exact = DoubleProgram(module)(*arrays)
    found = stepwell.compile(module, cache=False)(*arrays)
    names = [name for name, _ in text.results]
    wide = [np.abs(one.astype(np.int64) - other.astype(np.int64)) for one, other in zip(found, exact, strict=True)]
    return dict(zip(names, (int(each.max(initial=0)) for each in wide), strict=True))


@pytest.mark.parametrize("dtype, zero", [("i8", -3), ("ui8", 128)])
def test_ops_of_elements_on_all_pairs_of_bytes(dtype: str, zero: int) -> None:
    text = Text()
    kind = np.int8 if dtype == "i8" else np.uint8
    a = text.real("a", "256x256", dtype, 0.0173, zero)
    b = text.real("b", "256x256", dtype, 0.0117, zero // 2)
    c = text.real("c", "256", dtype, 0.0231, zero, axis=0)
    for op, scale in PAIRS.items():
        types = "(tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>"
        text.lines.append(f"%v_{op} = graph.{op} {a}, {b} : {types}")
        text.result(op, f"%v_{op}", "256x256", dtype, scale, zero)
    for op, scale in TABLES.items():
        text.lines.append(f"%v_{op} = graph.{op} {c} : (tensor<256xf32>) -> tensor<256xf32>")
        text.result(op, f"%v_{op}", "256", dtype, scale, zero)
    every = np.arange(256).astype(np.uint8).view(kind)
    arrays = [np.repeat(every, 256).reshape(256, 256), np.tile(every, 256).reshape(256, 256), every]
    apart = steps_apart(text, arrays)
    assert apart == {name: apart[name] for name in apart if apart[name] <= 1}


FORMS = {
    "silu": ("sigmoid", "multiply"),
    "tanh of itself": ("tanh", "multiply"),
    "sum": ("exp", "add"),
    "difference": ("gelu", "subtract"),
    "quotient": ("cos", "divide"),
    "greater": ("sin", "maximum"),
    "lesser": ("erf", "minimum"),
}
"""A function of bytes, and an op of it and the bytes."""


@pytest.mark.parametrize("dtype, zero", [("i8", -3), ("ui8", 128)])
@pytest.mark.parametrize("through_bytes", [True, False], ids=["bytes between", "floats between"])
def test_functions_of_several_ops_on_all_bytes(dtype: str, zero: int, through_bytes: bool) -> None:
    """Of x and f(x) one table is made, whether f(x) is quantised or not."""
    text, floats, bytes_ = Text(), "tensor<256xf32>", f"tensor<256x{dtype}>"
    x = text.real("x", "256", dtype, 0.0231, zero, axis=0)
    for number, (function, op) in enumerate(FORMS.values()):
        value = f"%f{number}"
        text.lines.append(f"{value} = graph.{function} {x} : ({floats}) -> {floats}")
        if through_bytes:
            scale, point = text.number(f"sf{number}", 0.013, "f32"), text.number(f"zf{number}", zero // 2, dtype)
            kinds = f"tensor<f32>, tensor<{dtype}>"
            text.lines.append(
                f"%q{number} = graph.quantize {value}, {scale}, {point} : ({floats}, {kinds}) -> {bytes_}"
            )
            value = f"%g{number}"
            text.lines.append(
                f"{value} = graph.dequantize %q{number}, {scale}, {point} : ({bytes_}, {kinds}) -> {floats}"
            )
        text.lines.append(f"%v{number} = graph.{op} {x}, {value} : ({floats}, {floats}) -> {floats}")
        text.result(f"r{number}", f"%v{number}", "256", dtype, 0.021, zero)
    graph = str(stepwell.compile(parse(str(text)), cache=False).ir("graph"))
    assert floats not in graph and graph.count("graph.take") == len(FORMS)
    every = np.arange(256).astype(np.uint8).view(np.int8 if dtype == "i8" else np.uint8)
    apart = steps_apart(text, [every])
    assert apart == {name: apart[name] for name in apart if apart[name] <= 1}


def product(text: Text, name: str, random: np.random.Generator) -> list[Array]:
    m, k, n = (int(random.integers(1, most)) for most in (20, 70, 40))
    x, w = _bytes(random, m, k), _bytes(random, k, n)
    scale = float(0.0006 * np.sqrt(k))
    left = text.real(f"x{name}", f"{m}x{k}", _name(x), 0.02, int(random.integers(0, 9)))
    right = text.real(f"w{name}", f"{k}x{n}", str(_name(w)), 0.01, 0, axis=1, extents=f"{n}x")
    text.lines.append(
        f"%v{name} = graph.matmul {left}, {right} : (tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32>"
    )
    text.result(name, f"%v{name}", f"{m}x{n}", "i8", scale, 3)
    return [x, w]


def convolution(text: Text, name: str, random: np.random.Generator) -> list[Array]:
    n, c, o = (int(random.integers(1, most)) for most in (3, 20, 40))
    groups = int(random.choice((1, 1, 2, 3)))
    if groups > 1:  # Some groups have 16 channels and outputs, for which there are kernels on bytes.
        c, o = (int(random.choice((2, 16, 20))) for _ in range(2))
    rows, columns = (int(each) for each in random.integers(3, 9, 2))
    side = int(random.integers(1, 4))
    stride, pad = int(random.integers(1, 3)), int(random.integers(0, 2))
    x, w = _bytes(random, n, groups * c, rows, columns), _bytes(random, groups * o, c, side, side, signed=True)
    o *= groups
    out = [(size + 2 * pad - side) // stride + 1 for size in (rows, columns)]
    shape = f"{n}x{o}x{out[0]}x{out[1]}"
    image, kernel = f"{n}x{groups * c}x{rows}x{columns}", f"{o}x{c}x{side}x{side}"
    left = text.real(f"x{name}", image, _name(x), 0.02, int(random.integers(0, 9)))
    right = text.real(f"w{name}", kernel, "i8", 0.01, 0, axis=0, extents=f"{o}x")
    places = f"strides = [{stride}, {stride}], padding = [{pad}, {pad}, {pad}, {pad}], groups = {groups}"
    types = f"(tensor<{image}xf32>, tensor<{kernel}xf32>) -> tensor<{shape}xf32>"
    text.lines.append(f"%v{name} = graph.conv2d {left}, {right}, {places} : {types}")
    text.result(name, f"%v{name}", shape, "ui8", float(0.0006 * np.sqrt(c * side * side)), 120)
    return [x, w]


def _bytes(random: np.random.Generator, *shape: int, signed: bool = False) -> Array:
    kind = np.int8 if signed or random.integers(0, 2) else np.uint8
    limits = np.iinfo(kind)
    return random.integers(limits.min, limits.max, shape, kind, endpoint=True)


def _name(array: Array) -> str:
    return "i8" if array.dtype == np.int8 else "ui8"


@pytest.mark.ci_cases(0)
@pytest.mark.parametrize("draw", [product, convolution], ids=lambda draw: draw.__name__)
def test_products_that_are_drawn(draw: Callable[[Text, str, np.random.Generator], list[Array]]) -> None:
    for seed in range(20 if FULL else 1):
        random = np.random.default_rng(seed)
        text, arrays = Text(), list[Array]()
        for number in range(15 if FULL else 4):
            arrays += draw(text, f"y{number}", random)
        assert max(steps_apart(text, arrays).values()) <= 1, seed


@pytest.mark.parametrize("scale", ["0.7", "60000.0", "0.0001", "0.00005"])
@pytest.mark.parametrize("real", ["bf16", "f16", "f32"])
def test_steps_that_do_not_come_back_are_rounded(real: str, scale: str) -> None:
    """
    `quantize(dequantize(q))` is q only where products by the scale are exact enough and finite in its type. The class
    `quantised` divides in f32, where a quotient in bf16 has steps of its own.
    """
    text = f"""
func.func @main(%q: tensor<256xui8>) -> tensor<256xui8> {{
  %s = graph.full {scale} : tensor<{real}>
  %z = graph.full 0 : tensor<ui8>
  %y = graph.dequantize %q, %s, %z : (tensor<256xui8>, tensor<{real}>, tensor<ui8>)
  %p = graph.quantize %y, %s, %z : (tensor<256x{real}>, tensor<{real}>, tensor<ui8>)
  func.return %p : tensor<256xui8>
}}"""
    q = np.arange(256, dtype=np.uint8)
    wanted = stepwell.compile(text, opt_level=0, cache=False)(q)[0]
    found = stepwell.compile(text, opt_level=2, numerics="strict", cache=False)(q)[0]
    np.testing.assert_array_equal(found, wanted)
    quantised = stepwell.compile(text, opt_level=2, cache=False)(q)[0]
    assert np.abs(quantised.astype(int) - wanted).max() <= (real == "bf16")
