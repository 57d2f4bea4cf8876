"""
`optimize-layouts`: random convolution nets give what they gave before, bit by bit, with transposes at the borders only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from stepwell.core.ir.verification import verify_module
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.dialects.graph.base import plain_properties
from xdsl.dialects.builtin import ModuleOp

SEEDS = range(300 if FULL else 6)


@dataclass
class Net:
    """A random net in NCHW, of small integers: every sum is exact in any order."""

    random: Random
    types: list[str] = field(default_factory=list)
    inputs: list[np.ndarray[Any, Any]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    images: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)

    def argument(self, *sizes: int) -> tuple[str, str]:
        numbers = np.random.default_rng(self.random.randrange(2**30))
        self.inputs.append(numbers.integers(-2, 3, sizes).astype(np.float32))
        self.types.append(type_of(sizes))
        return f"%a{len(self.types) - 1}", type_of(sizes)

    def fixed(self, element: str, rows: list[list[Any]]) -> tuple[str, str]:
        """A constant."""
        name, type_ = f"%v{len(self.lines)}", type_of((len(rows), len(rows[0])), element)
        self.lines.append(f"{name} = graph.constant dense<{rows}> : {type_}")
        return name, type_

    def add(self, op: str, operands: list[tuple[str, str]], sizes: tuple[int, ...], element: str = "f32") -> str:
        name = f"%v{len(self.lines)}"
        values, types = ", ".join(v for v, _ in operands), ", ".join(t for _, t in operands)
        op, _, properties = op.partition(" ")
        properties = f", {properties}" if properties else ""
        self.lines.append(f"{name} = graph.{op} {values}{properties} : ({types}) -> {type_of(sizes, element)}")
        if len(sizes) == 4 and element == "f32":
            self.images.append((name, sizes))
        return name

    def convolution(self) -> None:
        name, (batch, channels, high, wide) = self.random.choice(self.images)
        groups = self.random.choice([1, 1, 2, channels])
        groups = groups if channels % groups == 0 else 1
        out = groups * self.random.choice([1, 2, 3])
        kernel, stride, before, after = (self.random.randrange(*bounds) for bounds in ((1, 4), (1, 3), (0, 2), (0, 2)))
        sizes = [(size + before + after - kernel) // stride + 1 for size in (high, wide)]
        if min(sizes) < 1:
            return
        hwio = self.random.random() < 0.3
        shape = (kernel, kernel, channels // groups, out) if hwio else (out, channels // groups, kernel, kernel)
        filters = self.argument(*shape)
        layout = 'kernel_layout = "HWIO", ' if hwio else ""
        padding = f"padding = [{before}, {before}, {after}, {after}]"
        op = f"conv2d strides = [{stride}, {stride}], {padding}, groups = {groups}, {layout}dilation = [1, 1]"
        self.add(op, [(name, type_of((batch, channels, high, wide))), filters], (batch, out, *sizes))
        self.add(
            "clip min = -3.0, max = 3.0",
            [(self.images[-1][0], type_of(self.images[-1][1]))],
            self.images[-1][1],
        )

    def other(self) -> None:
        name, sizes = self.random.choice(self.images)
        image, (batch, channels, high, wide) = (name, type_of(sizes)), sizes
        match self.random.choice(
            ["relu", "bias", "vector", "same", "two", "pool", "mean", "concat", "join", "pad", "max", "scale"]
            + ["slice", "repeat", "resize", "place", "chosen"]
        ):
            case "relu":
                self.add("relu", [image], sizes)
            case "bias":
                self.add(
                    self.random.choice(["bias_add", "bias_add axis = -3"]),
                    [image, self.argument(channels)],
                    sizes,
                )
            case "vector":
                shape = self.random.choice([(channels, 1, 1), (wide,), (1, channels, 1, 1), (high, 1), ()])
                self.add("add", [self.argument(*shape), image], sizes)
            case "same":
                self.add("maximum", [image, self.argument(*sizes)], sizes)
            case "two":
                others = [each for each in self.images if each[1] == sizes]
                self.add("add", [image, (self.random.choice(others)[0], type_of(sizes))], sizes)
                self.add("clip min = -3.0, max = 3.0", [(self.images[-1][0], type_of(sizes))], sizes)
            case "pool" if min(high, wide) >= 2:
                shape = (batch, channels, high // 2, wide // 2)
                self.add("max_pool2d pool_size = [2, 2], strides = [2, 2]", [image], shape)
            case "mean":
                axes, kept = self.random.choice([([2, 3], True), ([1], True), ([-1, -2], False), ([0, 2], False)])
                gone = {axis % 4 for axis in axes}
                shape = tuple(1 if a in gone else s for a, s in enumerate(sizes) if kept or a not in gone)
                self.add(f"max axis = {axes}, keepdims = {str(kept).lower()}", [image], shape)
            case "concat":
                self.add("concat axis = 1", [image, image], (batch, 2 * channels, high, wide))
            case "join":  # with an image that came in with the channels first
                more = self.random.choice([1, channels, 3 * channels])
                parts = [image, self.argument(batch, more, high, wide)]
                self.random.shuffle(parts)
                self.add("concat axis = -3", parts, (batch, channels + more, high, wide))
            case "slice" if channels > 1 and wide > 1:
                shape = (batch, channels - 1, high, (wide + 1) // 2)
                ranges = f"begin = [1, 0], end = [{channels}, {wide}], strides = [1, 2]"
                self.add(f"strided_slice axes = [1, -1], {ranges}", [image], shape)
            case "repeat" if high * wide < 50:
                between, shape = (batch, channels, high, 1, wide, 1), (batch, channels, high, 2, wide, 3)
                one = self.add("expand_dims axis = [3, 5]", [image], between)
                two = self.add(f"broadcast_to shape = {list(shape)}", [(one, type_of(between))], shape)
                sizes = (batch, channels, 2 * high, 3 * wide)
                self.add(f"reshape shape = {list(sizes)}", [(two, type_of(shape))], sizes)
            case "resize":
                places = self.fixed("i64", [[0], [high // 2], [high - 1], [0]])
                weights = self.fixed("f32", [[1.0], [2.0], [1.0], [-1.0]])
                self.add("resample axis = 2", [image, places, weights], (batch, channels, 4, wide))
                self.add(
                    "clip min = -3.0, max = 3.0",
                    [(self.images[-1][0], type_of(self.images[-1][1]))],
                    self.images[-1][1],
                )
            case "place":
                one = self.add("argmax axis = 1, keepdims = true", [image], (batch, 1, high, wide), "i64")
                self.add(
                    "astype dtype = f32",
                    [(one, type_of((batch, 1, high, wide), "i64"))],
                    (batch, 1, high, wide),
                )
            case "chosen":
                held = self.add("greater", [image, self.argument()], sizes, "i1")
                self.add("where", [(held, type_of(sizes, "i1")), image, self.argument(channels, 1, 1)], sizes)
            case "pad":
                shape = (batch, channels, high + 1, wide + 2)
                self.add("pad pad_width = [0, 0, 0, 0, 1, 0, 0, 2]", [image], shape)
            case "scale":
                one = self.add("max axis = [2, 3], keepdims = true", [image], (batch, channels, 1, 1))
                self.add("minimum", [image, (one, type_of((batch, channels, 1, 1)))], sizes)
            case _:
                self.add("max axis = [2], keepdims = true", [image], (batch, channels, 1, wide))

    def text(self) -> str:
        results = [*self.images[-2:], self.images[self.random.randrange(1, len(self.images))]]
        arguments = ", ".join(f"%a{number}: {type_}" for number, type_ in enumerate(self.types))
        types = ", ".join(type_of(sizes) for _, sizes in results)
        body = "\n  ".join(self.lines)
        names = ", ".join(name for name, _ in results)
        return f"func.func @main({arguments}) -> ({types}) {{\n  {body}\n  func.return {names} : {types}\n}}"


def type_of(sizes: tuple[int, ...], element: str = "f32") -> str:
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"


def random_net(seed: int) -> Net:
    net = Net(Random(seed))
    sizes = (net.random.choice([1, 2]), net.random.choice([2, 3, 4]), 7, 6)
    name, _ = net.argument(*sizes)
    net.images.append((name, sizes))
    while len(net.images) < 2:
        net.convolution()
    for _ in range(net.random.randrange(3, 9)):
        net.random.choice([net.convolution, net.other, net.other])()
    return net


def optimised(text: str) -> ModuleOp:
    module = parse(text)
    run_pipeline(make_context(), module, "optimize-layouts")
    verify_module(module)
    return module


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_nets(seed: int) -> None:
    net = random_net(seed)
    text = net.text()
    module = optimised(text)
    once = str(module)
    run_pipeline(make_context(), module, "optimize-layouts")
    assert str(module) == once
    for op in module.walk():
        if op.name == "graph.conv2d":
            found = plain_properties(op)
            assert (found["data_layout"], found["kernel_layout"]) == ("NHWC", "HWIO")
    expected = stepwell.compile(text, opt_level=0, cache=False)(*net.inputs)
    for level, program in ((0, once), (2, text)):
        found = stepwell.compile(program, opt_level=level, cache=False)(*net.inputs)
        for got, wanted in zip(found, expected, strict=True):
            np.testing.assert_array_equal(got, wanted)


CHAIN = 400


def test_a_long_chain_has_transposes_at_its_ends_only() -> None:
    lines, previous = [], "%x"
    for number in range(CHAIN):
        lines.append(f"%c{number} = graph.conv2d {previous}, %w : (tensor<1x4x5x5xf32>, tensor<4x4x1x1xf32>)")
        lines.append(f"%r{number} = graph.relu %c{number} : (tensor<1x4x5x5xf32>)")
        previous = f"%r{number}"
    text = f"""func.func @main(%x: tensor<1x4x5x5xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x5x5xf32> {{
  {chr(10).join(lines)}
  func.return {previous} : tensor<1x4x5x5xf32>
}}"""
    module = optimised(text)
    axes = [plain_properties(op)["axes"] for op in module.walk() if op.name == "graph.permute_dims"]
    assert axes.count((0, 2, 3, 1)) == 1 and axes.count((0, 3, 1, 2)) == 1
    assert len(axes) == 2 + CHAIN
    run_pipeline(make_context(), module, "eliminate-common-subexpr")
    assert sum(op.name == "graph.permute_dims" for op in module.walk()) == 3
