"""Programs for the rules of quantised tensors, whose types and literals hang together too closely to be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Final

from ...lazy_dataclass import dataclass
from ..programs.ir_generators import Chooser, rarely
from .hints import GENERATORS, Generator

BYTES: Final = ("i8", "ui8")

EDGE: Final = {"i8": (-128, 127), "ui8": (255, 0)}
"""A number and a zero point as far apart as they can be."""


def _text(lines: list[str], arguments: Sequence[str], result: str) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"func.func @main({', '.join(arguments)}) -> {result} {{\n{body}\n  func.return %y : {result}\n}}\n"


def _literal(choose: Chooser, name: str, dtype: str, extents: str = "") -> str:
    return f"%{name} = graph.full {choose.element((0, 1, 3, 100))} : tensor<{extents}{dtype}>"


def _scales(choose: Chooser, name: str, dtype: str = "f32") -> str:
    return f"%{name} = graph.full {choose.element((0.25, 0.1, 1.5))} : tensor<{dtype}>"


@dataclass
class _Program:
    """Lines and arguments of a program that is being written. `real` is the element type of its floats."""

    choose: Chooser
    real: str = "f32"
    lines: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    def zero_point(self, name: str, type_: str) -> None:
        """A zero point, one number that is known but for one in six."""
        if rarely(self.choose, 6):
            self.arguments.append(f"%{name}: tensor<{type_}>")
        else:
            extents, _, dtype = type_.rpartition("x")
            self.lines.append(_literal(self.choose, name, dtype, f"{extents}x" if extents else ""))

    def dequantised(self, name: str, source: str, type_: str, channels: str, axis: int) -> None:
        """`%name`, the real numbers of `%source`, whose scales and zero points are `%ssource` and `%zsource`."""
        dtype = type_.rpartition("x")[2]
        types = f"(tensor<{type_}>, tensor<{channels}{self.real}>, tensor<{channels}{dtype}>)"
        self.lines.append(f"%{name} = graph.dequantize %{source}, %s{source}, %z{source}, axis = {axis} : {types}")

    def text(self, result: str) -> str:
        return _text(self.lines, self.arguments, result)


def quantised_there_and_back(choose: Chooser) -> str:
    """Bytes that become floats and bytes again, mostly by the same scale and zero point and of the same type."""
    dtype, other = choose.element(BYTES), choose.element(BYTES)
    other = other if rarely(choose, 4) else dtype
    lines, arguments = [], [f"%q: tensor<3x4x{dtype}>"]
    numbers: dict[str, tuple[str, str]] = {
        "s": (str(choose.element((0.25, 0.1, 1.5))), "f32"),
        "z": (str(choose.element((0, 1, 3, 100))), dtype),
    }
    numbers["t"] = (str(choose.element((0.25, 0.1, 1.5))) if rarely(choose, 4) else numbers["s"][0], "f32")
    numbers["u"] = (str(choose.element((0, 1, 3, 100))) if rarely(choose, 4) else numbers["z"][0], other)
    for name, (number, type_) in numbers.items():
        if rarely(choose, 8):
            arguments.append(f"%{name}: tensor<{type_}>")
        else:
            lines.append(f"%{name} = graph.full {number} : tensor<{type_}>")
    lines += [
        f"%r = graph.dequantize %q, %s, %z : (tensor<3x4x{dtype}>, tensor<f32>, tensor<{dtype}>)",
        f"%y = graph.quantize %r, %t, %u : (tensor<3x4xf32>, tensor<f32>, tensor<{other}>)",
    ]
    return _text(lines, arguments, f"tensor<3x4x{other}>")


def product_of_bytes(choose: Chooser) -> str:
    """
    A product of bytes, now and then of other integers or floats, with scales of rows or terms, or of more terms than 32
    bits hold.
    """
    left, right = (choose.element(("i16", "i32") if rarely(choose, 8) else BYTES) for _ in range(2))
    if rarely(choose, 8) and left in EDGE and right in EDGE:
        return _long_product(choose, left, right)
    program = _Program(choose, choose.element(("f32", "f32", "f32", "f32", "f64")))
    columns, axis = choose.element((("", 1), ("5x", 1), ("7x", 0)))
    rows, place = choose.element((("", 0), ("", 0), ("", 0), ("3x", 1), ("7x", 2)))
    program.arguments = [
        f"%x: tensor<2x3x7x{left}>",
        f"%w: tensor<7x5x{right}>",
        f"%sw: tensor<{columns}{program.real}>",
    ]
    if rows:
        program.arguments.append(f"%sx: tensor<{rows}{program.real}>")
    else:
        program.lines.append(_scales(choose, "sx", program.real))
    program.zero_point("zx", f"{rows}{left}")
    program.zero_point("zw", f"{columns}{right}")
    program.dequantised("a", "x", f"2x3x7x{left}", rows, place)
    program.dequantised("b", "w", f"7x5x{right}", columns, axis)
    program.lines.append(f"%y = graph.matmul %a, %b : (tensor<2x3x7x{program.real}>, tensor<7x5x{program.real}>)")
    return program.text(f"tensor<2x3x5x{program.real}>")


def _long_product(choose: Chooser, left: str, right: str) -> str:
    """A product of many terms, each of which is as large as it can be."""
    terms = choose.element((30_000, 40_000))
    program = _Program(choose)
    for name, type_, extents in (("x", left, f"1x{terms}"), ("w", right, f"{terms}x1")):
        number, zero = EDGE[type_]
        program.lines += [
            f"%{name} = graph.full {number} : tensor<{extents}x{type_}>",
            f"%s{name} = graph.full 0.25 : tensor<f32>",
            f"%z{name} = graph.full {zero} : tensor<{type_}>",
        ]
    program.dequantised("a", "x", f"1x{terms}x{left}", "", 0)
    program.dequantised("b", "w", f"{terms}x1x{right}", "", 0)
    program.lines.append(f"%y = graph.matmul %a, %b : (tensor<1x{terms}xf32>, tensor<{terms}x1xf32>)")
    return program.text("tensor<1x1xf32>")


def convolution_of_bytes(choose: Chooser) -> str:
    """A convolution of bytes, now and then of other integers or floats, or with scales of other axes."""
    left, right = (choose.element(("i16", "i32") if rarely(choose, 10) else BYTES) for _ in range(2))
    if rarely(choose, 10) and left in EDGE and right in EDGE:
        return _wide_convolution(choose, left, right)
    program = _Program(choose, choose.element(("f32", "f32", "f32", "f32", "f64")))
    inputs, layout = choose.element((2, 6)), choose.element(("NCHW", "NHWC"))
    channels, axis = choose.element((("", 0), ("16x", 0), ("16x", 0), (f"{inputs}x", 1)))
    step, size = choose.element(((2, "3x3"), (1, "5x6")))
    image = f"1x{inputs}x5x6" if layout == "NCHW" else f"1x5x6x{inputs}"
    result = f"1x16x{size}" if layout == "NCHW" else f"1x{size}x16"
    scales, place = choose.element((("", 0), ("", 0), ("", 0), (f"{inputs}x", layout.index("C"))))
    program.arguments = [f"%x: tensor<{image}x{left}>", f"%w: tensor<16x{inputs}x3x3x{right}>"]
    program.arguments.append(f"%sw: tensor<{channels}{program.real}>")
    if scales:
        program.arguments.append(f"%sx: tensor<{scales}{program.real}>")
    else:
        program.lines.append(_scales(choose, "sx", program.real))
    program.zero_point("zx", f"{scales}{left}")
    if rarely(choose, 4):
        program.zero_point("zw", f"{channels}{right}")
    else:
        middle = 128 if right == "ui8" and not rarely(choose, 4) else 0
        program.lines.append(f"%zw = graph.full {middle} : tensor<{channels}{right}>")
    program.dequantised("a", "x", f"{image}x{left}", scales, place)
    program.dequantised("b", "w", f"16x{inputs}x3x3x{right}", channels, axis)
    program.lines.append(
        f'%y = graph.conv2d %a, %b, strides = [{step}, {step}], padding = [1, 1, 1, 1], data_layout = "{layout}" '
        f": (tensor<{image}x{program.real}>, tensor<16x{inputs}x3x3x{program.real}>)"
    )
    return program.text(f"tensor<{result}x{program.real}>")


def _wide_convolution(choose: Chooser, left: str, right: str) -> str:
    """A convolution of many channels, whose terms are as large as they can be without a zero point of the weights."""
    shape = f"1x{choose.element((30_000, 150_000))}x1x1"
    (number, zero), weight = EDGE[left], EDGE[right][0]
    program = _Program(choose)
    program.lines = [
        f"%x = graph.full {number} : tensor<{shape}x{left}>",
        f"%w = graph.full {weight} : tensor<{shape}x{right}>",
        *(f"%s{name} = graph.full 0.25 : tensor<f32>" for name in "xw"),
        f"%zx = graph.full {zero} : tensor<{left}>",
        f"%zw = graph.full {128 if right == 'ui8' else 0} : tensor<{right}>",
    ]
    program.dequantised("a", "x", f"{shape}x{left}", "", 0)
    program.dequantised("b", "w", f"{shape}x{right}", "", 0)
    types = f"(tensor<{shape}xf32>, tensor<{shape}xf32>)"
    program.lines.append(f"%y = graph.conv2d %a, %b : {types}")
    return program.text("tensor<1x1x1x1xf32>")


def product_of_packed_weights(choose: Chooser) -> str:
    dtype, block = choose.element(BYTES), choose.element((0, 16))
    scales = f"tensor<{choose.element(('', '3x'))}f32>" if not block else "tensor<2x3xf32>"
    zeros = scales.replace("f32", dtype)
    batch = choose.element(("", "2x"))
    bytes_ = ", ".join(f"[{', '.join(str(choose.element((0, 1, 3, 100))) for _ in range(3))}]" for _ in range(32))
    where = f"axis = {0 if block else 1}, block_size = {block}"
    lines = [
        f"%w = graph.constant dense<[{bytes_}]> : tensor<32x3x{dtype}>",
        f"%s = graph.constant dense<{choose.element((0.25, 0.1, 1.5))}> : {scales}",
        f"%z = graph.constant dense<{choose.element((0, 1, 100))}> : {zeros}",
        f"%b = graph.dequantize %w, %s, %z, {where} : (tensor<32x3x{dtype}>, {scales}, {zeros})",
        f"%y = graph.matmul %x, %b : (tensor<{batch}5x32xf32>, tensor<32x3xf32>)",
    ]
    return _text(lines, [f"%x: tensor<{batch}5x32xf32>"], f"tensor<{batch}5x3xf32>")


PROGRAMS: Final[dict[str, Generator]] = {
    "integer-quantize-of-dequantize": quantised_there_and_back,
    "integer-matmul": product_of_bytes,
    "integer-conv2d": convolution_of_bytes,
    "packed-matmul": product_of_packed_weights,
}
"""The generators by the names of their rules."""

GENERATORS.update(PROGRAMS)

__all__ = ["GENERATORS", "PROGRAMS"]
