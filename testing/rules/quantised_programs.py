"""Programs for the rules of quantised tensors, whose types and literals hang together too closely to be drawn."""

from __future__ import annotations

from typing import Final

from ..programs.ir_generators import Chooser
from .hints import GENERATORS, Generator

BYTES: Final = ("i8", "ui8")


def _text(lines: list[str], arguments: str, result: str) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"func.func @main({arguments}) -> {result} {{\n{body}\n  func.return %y : {result}\n}}\n"


def _literal(choose: Chooser, name: str, dtype: str, extents: str = "") -> str:
    return f"%{name} = graph.full {choose.element((0, 1, 3, 100))} : tensor<{extents}{dtype}>"


def _scales(choose: Chooser, name: str) -> str:
    return f"%{name} = graph.full {choose.element((0.25, 0.1, 1.5))} : tensor<f32>"


def _dequantised(name: str, source: str, type_: str, channels: str, axis: int) -> str:
    dtype = type_.rpartition("x")[2]
    types = f"(tensor<{type_}>, tensor<{channels}f32>, tensor<{channels}{dtype}>)"
    return f"%{name} = graph.dequantize %{source}, %s{source}, %z{source}, axis = {axis} : {types}"


def quantised_there_and_back(choose: Chooser) -> str:
    dtype = choose.element(BYTES)
    types = f"(tensor<3x4x{{}}>, tensor<f32>, tensor<{dtype}>)"
    lines = [
        _scales(choose, "sq"),
        _literal(choose, "zq", dtype),
        _dequantised("r", "q", f"3x4x{dtype}", "", 0),
        f"%y = graph.quantize %r, %sq, %zq : {types.format('f32')}",
    ]
    return _text(lines, f"%q: tensor<3x4x{dtype}>", f"tensor<3x4x{dtype}>")


def product_of_bytes(choose: Chooser) -> str:
    left, right = choose.element(BYTES), choose.element(BYTES)
    columns = choose.element(("", "5x"))
    lines = [
        _scales(choose, "sx"),
        _literal(choose, "zx", left),
        _literal(choose, "zw", right, columns),
        _dequantised("a", "x", f"2x3x7x{left}", "", 0),
        _dequantised("b", "w", f"7x5x{right}", columns, 1),
        "%y = graph.matmul %a, %b : (tensor<2x3x7xf32>, tensor<7x5xf32>)",
    ]
    arguments = f"%x: tensor<2x3x7x{left}>, %w: tensor<7x5x{right}>, %sw: tensor<{columns}f32>"
    return _text(lines, arguments, "tensor<2x3x5xf32>")


def convolution_of_bytes(choose: Chooser) -> str:
    dtype, channels = choose.element(BYTES), choose.element(("", "16x"))
    inputs, layout = choose.element((2, 6)), choose.element(("NCHW", "NHWC"))
    image = f"1x{inputs}x5x6" if layout == "NCHW" else f"1x5x6x{inputs}"
    result = "1x16x3x3" if layout == "NCHW" else "1x3x3x16"
    lines = [
        _scales(choose, "sx"),
        _literal(choose, "zx", dtype),
        f"%zw = graph.full 0 : tensor<{channels}i8>",
        _dequantised("a", "x", f"{image}x{dtype}", "", 0),
        _dequantised("b", "w", f"16x{inputs}x3x3xi8", channels, 0),
        f'%y = graph.conv2d %a, %b, strides = [2, 2], padding = [1, 1, 1, 1], data_layout = "{layout}" '
        f": (tensor<{image}xf32>, tensor<16x{inputs}x3x3xf32>)",
    ]
    arguments = f"%x: tensor<{image}x{dtype}>, %w: tensor<16x{inputs}x3x3xi8>, %sw: tensor<{channels}f32>"
    return _text(lines, arguments, f"tensor<{result}xf32>")


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
    return _text(lines, f"%x: tensor<{batch}5x32xf32>", f"tensor<{batch}5x3xf32>")


PROGRAMS: Final[dict[str, Generator]] = {
    "integer-quantize-of-dequantize": quantised_there_and_back,
    "integer-matmul": product_of_bytes,
    "integer-conv2d": convolution_of_bytes,
    "packed-matmul": product_of_packed_weights,
}
"""The generators by the names of their rules."""

GENERATORS.update(PROGRAMS)

__all__ = ["GENERATORS", "PROGRAMS"]
