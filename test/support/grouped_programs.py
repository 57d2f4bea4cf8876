"""Grouped convolutions as programs, and what they compute in NumPy, one product per tap and group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import stepwell

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Grouped:
    """A convolution of NHWC with HWIO, with a bias and relu behind it where `epilogue` names them."""

    image: tuple[int, int, int] = (1, 9, 9)
    groups: int = 4
    ins: int = 4
    outs: int = 4
    kernel: tuple[int, int] = (3, 3)
    strides: tuple[int, int] = (1, 1)
    padding: tuple[int, ...] = (1, 1, 1, 1)
    dilation: tuple[int, int] = (1, 1)
    epilogue: str = ""
    constant: bool = True
    attributes: str = ""

    @property
    def sizes(self) -> tuple[int, int]:
        """The height and width of the result."""
        extents = (
            size + before + after - by * (taps - 1) - 1
            for size, before, after, by, taps in zip(
                self.image[1:], self.padding[:2], self.padding[2:], self.dilation, self.kernel, strict=True
            )
        )
        height, width = (extent // stride + 1 for extent, stride in zip(extents, self.strides, strict=True))
        return height, width

    def arrays(self, seed: int) -> tuple[Array, Array, Array]:
        """Image, filter and bias, small integers."""
        generator = np.random.default_rng(seed)
        shapes = (
            (*self.image, self.groups * self.ins),
            (*self.kernel, self.ins, self.groups * self.outs),
            (self.groups * self.outs,),
        )
        x, w, b = (generator.integers(-3, 4, shape).astype(np.float32) for shape in shapes)
        return x, w, b

    def text(self) -> str:
        """The program. Filter and bias are weights, or arguments."""
        channels = self.groups * self.outs
        x = tensor(*self.image, self.groups * self.ins)
        w, b = tensor(*self.kernel, self.ins, channels), tensor(channels)
        y = tensor(self.image[0], *self.sizes, channels)
        known = f'%w = graph.weight "w" : {w}\n  %b = graph.weight "b" : {b}\n  ' if self.constant else ""
        given = "" if self.constant else f", %w: {w}, %b: {b}"
        properties = (
            f", strides = {list(self.strides)}, padding = {list(self.padding)}, dilation = {list(self.dilation)}, "
            f'groups = {self.groups}, data_layout = "NHWC", kernel_layout = "HWIO"'
        )
        lines = [f"%r0 = graph.conv2d %x, %w{properties}{self.attributes} : ({x}, {w}) -> {y}"]
        if "bias" in self.epilogue:
            lines.append(f"%r{len(lines)} = graph.bias_add %r{len(lines) - 1}, %b, axis = 3 : ({y}, {b}) -> {y}")
        if "relu" in self.epilogue:
            lines.append(f"%r{len(lines)} = graph.relu %r{len(lines) - 1} : ({y}) -> {y}")
        body = "\n  ".join(lines)
        head = f"func.func @main(%x: {x}{given}) -> {y}"
        return f"{head} {{\n  {known}{body}\n  func.return %r{len(lines) - 1} : {y}\n}}"

    def expected(self, x: Array, w: Array, b: Array) -> Array:
        """What NumPy gives."""
        top, left, bottom, right = self.padding
        padded = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
        height, width = self.sizes
        total = np.zeros((self.image[0], height, width, self.groups * self.outs), np.float32)
        for i, j in np.ndindex(*self.kernel):
            rows, columns = (
                slice(tap * by, tap * by + stride * (size - 1) + 1, stride)
                for tap, by, stride, size in zip((i, j), self.dilation, self.strides, (height, width), strict=True)
            )
            part = padded[:, rows, columns]
            for group in range(self.groups):
                of = slice(group * self.ins, (group + 1) * self.ins)
                to = slice(group * self.outs, (group + 1) * self.outs)
                total[..., to] += part[..., of] @ w[i, j, :, to]
        if "bias" in self.epilogue:
            total += b
        return np.maximum(total, 0) if "relu" in self.epilogue else total

    def check(self, seed: int = 0, threads: int = 1) -> None:
        """Compiles and runs the program and compares bit by bit."""
        x, w, b = self.arrays(seed)
        if self.constant:
            exe = stepwell.compile(self.text(), weights={"w": w, "b": b}, cache=False, threads=threads, tuning=False)
            (found,) = exe(x)
        else:
            (found,) = stepwell.compile(self.text(), cache=False, threads=threads, tuning=False)(x, w, b)
        np.testing.assert_array_equal(found, self.expected(x, w, b))


def tensor(*sizes: int) -> str:
    return f"tensor<{'x'.join(map(str, sizes))}xf32>"
