"""Programs for the rules of quantised tensors, whose types and literals hang together too closely to be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Final

from ...lazy_dataclass import dataclass
from ..programs.ir_generators import Chooser, rarely
from .hints import GENERATORS, Generator

BYTES: Final = ("i8", "ui8")

WORDS: Final = ("i16", "ui16")

SMALL: Final = ("i4", "ui4", "ui2")

EDGE: Final = {"i8": (-128, 127), "ui8": (255, 0), "i16": (-32768, 32767), "ui16": (65535, 0)}
"""A number and a zero point as far apart as they can be."""


def _text(lines: list[str], arguments: Sequence[str], result: str) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"func.func @main({', '.join(arguments)}) -> {result} {{\n{body}\n  func.return %y : {result}\n}}\n"


def _zeros_of(dtype: str) -> tuple[int, ...]:
    """Zero points that integers of a type may have."""
    return (0, 1, 3) if dtype in SMALL else (0, 1, 3, 100)


def _literal(choose: Chooser, name: str, dtype: str, extents: str = "") -> str:
    number = choose.element((0, 100, 300, 20000) if dtype in WORDS else _zeros_of(dtype))
    return f"%{name} = graph.full {number} : tensor<{extents}{dtype}>"


def _scales(choose: Chooser, name: str, dtype: str = "f32") -> str:
    return f"%{name} = graph.full {choose.element((0.25, 0.1, 1.5))} : tensor<{dtype}>"


@dataclass
class Program:
    """Lines and arguments of a program that is being written. `real` is the element type of its floats."""

    choose: Chooser
    real: str = "f32"
    lines: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    def zero_point(self, name: str, type_: str) -> None:
        """Zero points: one number, or now and then several, that are known but for one in six."""
        extents, _, dtype = type_.rpartition("x")
        if rarely(self.choose, 6):
            self.arguments.append(f"%{name}: tensor<{type_}>")
        elif extents and rarely(self.choose, 3):
            several = _dense(self.choose, _zeros_of(dtype), tuple(map(int, extents.split("x"))))
            self.lines.append(f"%{name} = graph.constant dense<{several}> : tensor<{type_}>")
        else:
            self.lines.append(_literal(self.choose, name, dtype, f"{extents}x" if extents else ""))

    def scales(self, name: str, extents: str) -> None:
        """The scales of weights, which are known in one of three programs."""
        if rarely(self.choose, 3):
            number = self.choose.element((0.25, 0.1, 1.5))
            self.lines.append(f"%{name} = graph.full {number} : tensor<{extents}{self.real}>")
        else:
            self.arguments.append(f"%{name}: tensor<{extents}{self.real}>")

    def quantised_by(self, source: str, channels: str, dtype: str) -> None:
        """The scale and the zero point of `%source`, or those of its channels."""
        if channels:
            self.arguments.append(f"%s{source}: tensor<{channels}{self.real}>")
        else:
            self.lines.append(_scales(self.choose, f"s{source}", self.real))
        self.zero_point(f"z{source}", f"{channels}{dtype}")

    def dequantised(self, name: str, source: str, type_: str, channels: str, axis: int, block: int = 0) -> None:
        """`%name`, the real numbers of `%source`, whose scales and zero points are `%ssource` and `%zsource`."""
        dtype = type_.rpartition("x")[2]
        types = f"(tensor<{type_}>, tensor<{channels}{self.real}>, tensor<{channels}{dtype}>)"
        properties = f"axis = {axis}, block_size = {block}"
        self.lines.append(f"%{name} = graph.dequantize %{source}, %s{source}, %z{source}, {properties} : {types}")

    def text(self, result: str) -> str:
        return _text(self.lines, self.arguments, result)


MOVES: Final = (("permute_dims", "", "40x3"), ("reshape", ", shape = [6, 20]", "6x20"), ("squeeze", "", "3x40"))
"""Moves of a tensor 3x40, or 1x3x40 for the last, with their properties and what shape they make."""


def quantised_there_and_back(choose: Chooser) -> str:
    """Bytes that become floats and bytes again."""
    return _there_and_back(choose, "3x40", [], "3x40")


def moved_there_and_back(choose: Chooser) -> str:
    """Bytes that become floats, are moved and become bytes again."""
    name, properties, made = choose.element(MOVES)
    given = "1x3x40" if name == "squeeze" else "3x40"
    move = f"%m = graph.{name} %r{properties} : (tensor<{given}x{{real}}>)"
    return _there_and_back(choose, given, [move], made)


def taken_there_and_back(choose: Chooser) -> str:
    """Bytes that become floats, of which some are taken and become bytes again."""
    lines = [
        "%i = graph.constant dense<[1, 0]> : tensor<2xi64>",
        "%m = graph.take %r, %i, axis = 0 : (tensor<3x40x{real}>, tensor<2xi64>)",
    ]
    return _there_and_back(choose, "3x40", lines, "2x40")


def _there_and_back(choose: Chooser, given: str, moves: Sequence[str], made: str) -> str:
    """
    Bytes that become floats and bytes again, mostly by the same scale and zero point and of the same type.

    The floats may be too coarse for all steps of a scale to come back as they were.
    """
    real = choose.element(("f32", "f32", "f32", "f16", "bf16"))
    dtype, other = choose.element(BYTES), choose.element(BYTES)
    other = other if rarely(choose, 4) else dtype
    lines, arguments = [], [f"%q: tensor<{given}x{dtype}>"]
    numbers: dict[str, tuple[str, str]] = {
        "s": (str(choose.element((0.25, 0.1, 1.5))), real),
        "z": (str(choose.element((0, 1, 3, 100))), dtype),
    }
    numbers["t"] = (str(choose.element((0.25, 0.1, 1.5))) if rarely(choose, 4) else numbers["s"][0], real)
    numbers["u"] = (str(choose.element((0, 1, 3, 100))) if rarely(choose, 4) else numbers["z"][0], other)
    for name, (number, type_) in numbers.items():
        if rarely(choose, 8):
            arguments.append(f"%{name}: tensor<{type_}>")
        else:
            lines.append(f"%{name} = graph.full {number} : tensor<{type_}>")
    lines += [
        f"%r = graph.dequantize %q, %s, %z : (tensor<{given}x{dtype}>, tensor<{real}>, tensor<{dtype}>)",
        *(line.replace("{real}", real) for line in moves),
        f"%y = graph.quantize {'%m' if moves else '%r'}, %t, %u "
        f": (tensor<{made}x{real}>, tensor<{real}>, tensor<{other}>)",
    ]
    return _text(lines, arguments, f"tensor<{made}x{other}>")


def taken_of_bytes(choose: Chooser) -> str:
    """What is taken of what bytes stand for, mostly of one scale or of one for each row or block."""
    dtype = choose.element((*BYTES, "i16"))
    scales, place, block = choose.element(
        (("", 0, 0), ("", 0, 0), ("3x", 0, 0), ("8x", 1, 0), ("3x2x", 1, 4), ("1x8x", 0, 3))
    )
    program = Program(choose, arguments=[f"%q: tensor<3x8x{dtype}>"])
    program.lines.append("%i = graph.constant dense<[2, 0, 2, 1]> : tensor<4xi64>")
    program.quantised_by("q", scales, dtype)
    program.dequantised("r", "q", f"3x8x{dtype}", scales, place, block)
    axis = choose.element((0, 0, 1))
    program.lines.append(f"%y = graph.take %r, %i, axis = {axis} : (tensor<3x8xf32>, tensor<4xi64>)")
    return program.text(f"tensor<{'4x8' if axis == 0 else '3x4'}xf32>")


def bytes_of_right_operand(choose: Chooser) -> str:
    """Floats that become bytes, mostly without signs, and the right operand of a product, moved in between or not."""
    return _multiplied_bytes(choose, "i8" if rarely(choose, 6) else "ui8", left=rarely(choose, 6))


def bytes_of_left_operand(choose: Chooser) -> str:
    """Floats that become bytes, mostly with signs, and the left operand of a product, moved in between or not."""
    return _multiplied_bytes(choose, "ui8" if rarely(choose, 6) else "i8", left=not rarely(choose, 6))


def _multiplied_bytes(choose: Chooser, dtype: str, left: bool) -> str:
    channels = choose.element(("", "", "4x"))
    program = Program(choose, arguments=["%x: tensor<3x4xf32>", "%w: tensor<4x4xf32>", "%v: tensor<3x3xf32>"])
    for name in "qr":
        program.lines.append(f"%s{name} = graph.full {choose.element((0.25, 0.1, 1.5))} : tensor<{channels}f32>")
        program.zero_point(f"z{name}", f"{channels}{dtype}")
    types = f"tensor<{channels}f32>, tensor<{channels}{dtype}>"
    program.lines.append(f"%q = graph.quantize %x, %sq, %zq, axis = 1 : (tensor<3x4xf32>, {types})")
    read, shape, axis = "%q", "3x4", 1
    if rarely(choose, 2):
        program.lines.append(f"%m = graph.permute_dims %q : (tensor<3x4x{dtype}>)")
        read, shape, axis = "%m", "4x3", 0
    program.lines.append(f"%r = graph.dequantize {read}, %sr, %zr, axis = {axis} : (tensor<{shape}x{dtype}>, {types})")
    square = {("3x4", True): "w", ("3x4", False): "v", ("4x3", True): "v", ("4x3", False): "w"}[shape, left]
    sides = (f"%r, %{square}", f"tensor<{shape}xf32>, tensor<{'4x4' if square == 'w' else '3x3'}xf32>")
    if not left:
        sides = tuple(", ".join(reversed(each.split(", "))) for each in sides)
    program.lines.append(f"%y = graph.matmul {sides[0]} : ({sides[1]})")
    return program.text(f"tensor<{shape}xf32>")


def product_of_bytes(choose: Chooser) -> str:
    """
    A product of bytes, now and then of other integers or floats, with scales of rows or terms, or of more terms than 32
    bits hold.
    """
    left, right = (choose.element(("i16", "i32") if rarely(choose, 8) else BYTES) for _ in range(2))
    left = choose.element(WORDS) if rarely(choose, 4) else left
    right = choose.element(SMALL) if rarely(choose, 6) else right
    if rarely(choose, 8) and left in EDGE and right in BYTES:
        return _long_product(choose, left, right)
    program = Program(choose, choose.element(("f32", "f32", "f32", "f32", "f64")))
    columns, axis = choose.element((("", 1), ("5x", 1), ("7x", 0)))
    rows, place = choose.element((("", 0), ("", 0), ("", 0), ("3x", 1), ("7x", 2)))
    program.arguments = [f"%x: tensor<2x3x7x{left}>", f"%w: tensor<7x5x{right}>"]
    program.scales("sw", columns)
    program.quantised_by("x", rows, left)
    program.zero_point("zw", f"{columns}{right}")
    program.dequantised("a", "x", f"2x3x7x{left}", rows, place)
    program.dequantised("b", "w", f"7x5x{right}", columns, axis)
    program.lines.append(f"%y = graph.matmul %a, %b : (tensor<2x3x7x{program.real}>, tensor<7x5x{program.real}>)")
    return program.text(f"tensor<2x3x5x{program.real}>")


def _long_product(choose: Chooser, left: str, right: str) -> str:
    """A product of many terms, each of which is as large as it can be."""
    terms = choose.element((30_000, 150_000))
    program = Program(choose)
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
    left = choose.element(WORDS) if rarely(choose, 4) else left
    if rarely(choose, 10) and left in EDGE and right in BYTES:
        return _wide_convolution(choose, left, right)
    program = Program(choose, choose.element(("f32", "f32", "f32", "f32", "f64")))
    (inputs, groups), layout = choose.element(((2, 1), (6, 1), (6, 1), (16, 16))), choose.element(("NCHW", "NHWC"))
    kernel = f"16x{inputs // groups}x3x3"
    channels, axis = choose.element((("", 0), ("16x", 0), ("16x", 0), (f"{inputs // groups}x", 1)))
    step, size = choose.element(((2, "3x3"), (1, "5x6")))
    image = f"1x{inputs}x5x6" if layout == "NCHW" else f"1x5x6x{inputs}"
    result = f"1x16x{size}" if layout == "NCHW" else f"1x{size}x16"
    scales, place = choose.element((("", 0), ("", 0), ("", 0), (f"{inputs}x", layout.index("C"))))
    program.arguments = [f"%x: tensor<{image}x{left}>", f"%w: tensor<{kernel}x{right}>"]
    program.scales("sw", channels)
    program.quantised_by("x", scales, left)
    if rarely(choose, 2):
        program.zero_point("zw", f"{channels}{right}")
    else:
        middle = 128 if right == "ui8" and not rarely(choose, 4) else 0
        program.lines.append(f"%zw = graph.full {middle} : tensor<{channels}{right}>")
    program.dequantised("a", "x", f"{image}x{left}", scales, place)
    program.dequantised("b", "w", f"{kernel}x{right}", channels, axis)
    program.lines.append(
        f"%y = graph.conv2d %a, %b, strides = [{step}, {step}], padding = [1, 1, 1, 1], groups = {groups}, "
        f'data_layout = "{layout}" : (tensor<{image}x{program.real}>, tensor<{kernel}x{program.real}>)'
    )
    return program.text(f"tensor<{result}x{program.real}>")


def _wide_convolution(choose: Chooser, left: str, right: str) -> str:
    """A convolution of many channels, whose terms are as large as they can be without a zero point of the weights."""
    channels = choose.element((8_000, 40_000))
    image, kernel = f"1x{channels}x3x3", f"2x{channels}x2x2"
    (number, zero), weight = EDGE[left], EDGE[right][0]
    program = Program(choose)
    program.lines = [
        f"%x = graph.full {number} : tensor<{image}x{left}>",
        f"%w = graph.full {weight} : tensor<{kernel}x{right}>",
        *(f"%s{name} = graph.full 0.25 : tensor<f32>" for name in "xw"),
        f"%zx = graph.full {zero} : tensor<{left}>",
        f"%zw = graph.full {128 if right == 'ui8' else 0} : tensor<{right}>",
    ]
    program.dequantised("a", "x", f"{image}x{left}", "", 0)
    program.dequantised("b", "w", f"{kernel}x{right}", "", 0)
    types = f"(tensor<{image}xf32>, tensor<{kernel}xf32>)"
    program.lines.append(f"%y = graph.conv2d %a, %b : {types}")
    return program.text("tensor<1x2x2x2xf32>")


def product_of_packed_weights(choose: Chooser) -> str:
    """A product with constant bytes, now and then of other integers, of other floats, or with scales of rows."""
    dtype = choose.element(("i16", "i32") if rarely(choose, 8) else BYTES)
    real = choose.element(("f16", "bf16", "f64")) if rarely(choose, 4) else "f32"
    extents, axis, block = choose.element((("", 0, 0), ("3x", 1, 0), ("3x", 1, 0), ("2x3x", 0, 16), ("32x", 0, 0)))
    batch = choose.element(("", "2x"))
    numbers = (0, 1, 3, 100) if dtype == "ui8" else (0, 1, -3, 100, -128)
    weights = _dense(choose, numbers, (32, 3))
    shape = tuple(int(each) for each in extents.split("x") if each)
    zeros = _dense(choose, numbers, shape) if rarely(choose, 2) else str(choose.element(numbers))
    lines = [
        f"%w = graph.constant dense<{weights}> : tensor<32x3x{dtype}>",
        f"%s = graph.constant dense<{choose.element((0.25, 0.1, 1.5))}> : tensor<{extents}{real}>",
        f"%z = graph.constant dense<{zeros}> : tensor<{extents}{dtype}>",
        f"%b = graph.dequantize %w, %s, %z, axis = {axis}, block_size = {block} "
        f": (tensor<32x3x{dtype}>, tensor<{extents}{real}>, tensor<{extents}{dtype}>)",
        f"%y = graph.matmul %x, %b : (tensor<{batch}5x32x{real}>, tensor<32x3x{real}>)",
    ]
    return _text(lines, [f"%x: tensor<{batch}5x32x{real}>"], f"tensor<{batch}5x3x{real}>")


def pool_of_integers(choose: Chooser) -> str:
    """A window over what integers stand for, mostly of one positive scale, and of integers that ops compute on."""
    dtype = choose.element((*BYTES, *BYTES, "i16", "i4", "ui2"))
    channels = "3x" if rarely(choose, 5) else ""
    program = Program(choose, arguments=[f"%q: tensor<2x3x5x4x{dtype}>"])
    if channels or rarely(choose, 6):
        program.arguments.append(f"%sq: tensor<{channels}f32>")
    else:
        number = choose.element((0.25, 0.1, 1.5)) * (-1 if rarely(choose, 5) else 1)
        program.lines.append(f"%sq = graph.full {number} : tensor<f32>")
    program.arguments.append(f"%zq: tensor<{channels}{dtype}>")
    program.dequantised("r", "q", f"2x3x5x4x{dtype}", channels, 1)
    padding = choose.element(("", ", padding = [1, 0, 1, 1]"))
    extents = "6x4" if padding else "4x3"
    program.lines.append(f"%y = graph.max_pool2d %r, pool_size = [2, 2]{padding} : (tensor<2x3x5x4xf32>)")
    return program.text(f"tensor<2x3x{extents}xf32>")


FUNCTIONS: Final = (
    *("exp", "exp2", "expm1", "log", "log2", "log1p", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf", "sigmoid", "silu"),
    *("gelu", 'gelu, approximate = "tanh"', "relu", "negative"),
)
"""Functions with their properties, the last two of which need no table."""


def function_of_bytes(choose: Chooser) -> str:
    """A function of what bytes stand for, mostly by known scales, as bytes again."""
    given, made = (choose.element((*BYTES, *BYTES, "i16")) for _ in range(2))
    name, _, properties = choose.element(FUNCTIONS).partition(",")
    lines, arguments = [], [f"%q: tensor<3x40x{given}>"]
    rows = ["3x" if rarely(choose, 8) else "" for _ in range(2)]
    types = [f"tensor<{each}{dtype}>" for each, dtype in zip(rows * 2, ("f32", "f32", given, made), strict=True)]
    for key, type_ in zip("stzu", types, strict=True):
        if rarely(choose, 12):
            arguments.append(f"%{key}: {type_}")
        else:
            number = choose.element((0.25, 0.1, 1.5, 0.02)) if type_.endswith("f32>") else choose.element((0, 3, 100))
            lines.append(f"%{key} = graph.full {number} : {type_}")
    lines += [
        f"%r = graph.dequantize %q, %s, %z, axis = 0 : (tensor<3x40x{given}>, {types[0]}, {types[2]})",
        f"%f = graph.{name} %r{',' if properties else ''}{properties} : (tensor<3x40xf32>)",
        f"%y = graph.quantize %f, %t, %u, axis = 0 : (tensor<3x40xf32>, {types[1]}, {types[3]})",
    ]
    return _text(lines, arguments, f"tensor<3x40x{made}>")


def function_of_two(choose: Chooser) -> str:
    """
    An op of what bytes stand for and of a function of it, which is quantised in between or not, as bytes again. Now and
    then the op is of other bytes too, or the function is read elsewhere.
    """
    dtype = choose.element((*BYTES, *BYTES, "i16"))
    name, _, properties = choose.element(FUNCTIONS).partition(",")
    op = choose.element(("multiply", "add", "subtract", "divide", "maximum", "minimum"))
    real, whole = "tensor<3x40xf32>", f"tensor<3x40x{dtype}>"
    lines, arguments, steps = [], [f"%q: {whole}"], f"tensor<f32>, tensor<{dtype}>"
    rows = "3x" if rarely(choose, 8) else ""
    for key in "svt":
        type_ = f"tensor<{rows if key == 't' else ''}f32>"
        if rarely(choose, 12):
            arguments.append(f"%{key}: {type_}")
        else:
            lines.append(f"%{key} = graph.full {choose.element((0.25, 0.1, 1.5, 0.02))} : {type_}")
    lines += [
        _literal(choose, "z", dtype),
        _literal(choose, "u", dtype, rows),
        f"%r = graph.dequantize %q, %s, %z : ({whole}, {steps})",
        f"%f = graph.{name} %r{',' if properties else ''}{properties} : ({real})",
    ]
    if choose.element((True, False)):
        lines.append(f"%g = graph.quantize %f, %v, %z : ({real}, {steps})")
        lines.append(f"%h = graph.dequantize %g, %v, %z : ({whole}, {steps})")
    else:
        lines.append(f"%h = graph.add %f, %v : ({real}, tensor<f32>)")
    other = "%r"
    if rarely(choose, 5):
        arguments.append(f"%p: {whole}")
        lines.append(f"%o = graph.dequantize %p, %s, %z : ({whole}, {steps})")
        other = "%o"
    lines.append(f"%m = graph.{op} {other}, %h : ({real}, {real})")
    steps = f"tensor<{rows}f32>, tensor<{rows}{dtype}>"
    lines.append(f"%y = graph.quantize %m, %t, %u, axis = 0 : ({real}, {steps})")
    return _text(lines, arguments, whole)


def groups_of_bytes(choose: Chooser) -> str:
    """A convolution of bytes in groups of channels, now and then of other integers or of many terms."""
    left, right = ("i16", "i16") if rarely(choose, 10) else (choose.element(BYTES), choose.element(BYTES))
    inputs, groups = choose.element(((8, 2), (8, 4), (8, 8), (6, 1), (1400, 2), (600, 2)))
    side = 2 if inputs <= 8 else 1
    image, kernel = f"1x{inputs}x3x3", f"8x{inputs // groups}x{side}x{side}"
    sums = "ui32" if left == right == "ui8" else "i32"
    lines, arguments = [], [f"%x: tensor<{image}x{left}>", f"%w: tensor<{kernel}x{right}>"]
    if inputs > 8 and left in EDGE and right in EDGE:
        arguments = []
        lines = [f"%x = graph.full {EDGE[left][0]} : tensor<{image}x{left}>"]
        numbers = [1, *[EDGE[right][0]] * (inputs // groups - 1)]  # Such sums are odd, so floats round them.
        lines.append(f"%w = graph.constant dense<{[[[[each]] for each in numbers]] * 8}> : tensor<{kernel}x{right}>")
    lines.append(
        f"%y = graph.conv2d %x, %w, groups = {groups}, out_dtype = {sums} "
        f": (tensor<{image}x{left}>, tensor<{kernel}x{right}>)"
    )
    return _text(lines, arguments, f"tensor<1x8x{4 - side}x{4 - side}x{sums}>")


def convolution_to_one_output(choose: Chooser) -> str:
    """A convolution of bytes with one output, now and then with two or with few channels."""
    inputs, outputs, layout = choose.element((16, 16, 3)), choose.element((1, 1, 2)), choose.element(("NCHW", "NHWC"))
    left, right = choose.element(BYTES), "i8"
    image, result = f"1x{inputs}x3x4", f"1x{outputs}x2x3"
    if layout == "NHWC":
        image, result = f"1x3x4x{inputs}", f"1x2x3x{outputs}"
    kernel, sums = f"{outputs}x{inputs}x2x2x{right}", "i16" if rarely(choose, 6) else "i32"
    line = f'%y = graph.conv2d %x, %w, data_layout = "{layout}", out_dtype = {sums} '
    lines = [line + f": (tensor<{image}x{left}>, tensor<{kernel}>)"]
    return _text(lines, [f"%x: tensor<{image}x{left}>", f"%w: tensor<{kernel}>"], f"tensor<{result}x{sums}>")


def _dense(choose: Chooser, numbers: Sequence[int], shape: tuple[int, ...]) -> str:
    """Returns numbers as the elements of a constant of a shape."""
    if not shape:
        return str(choose.element(numbers))
    return f"[{', '.join(_dense(choose, numbers, shape[1:]) for _ in range(shape[0]))}]"


PROGRAMS: Final[dict[str, Generator]] = {
    "returned-integers": quantised_there_and_back,
    "returned-moves": moved_there_and_back,
    "returned-takes": taken_there_and_back,
    "signed-bytes": bytes_of_right_operand,
    "unsigned-bytes": bytes_of_left_operand,
    "integer-takes": taken_of_bytes,
    "integer-max-pool": pool_of_integers,
    "integer-table": function_of_bytes,
    "integer-table-of-two": function_of_two,
    "integer-groups": groups_of_bytes,
    "integer-one-output": convolution_to_one_output,
    "integer-matmul": product_of_bytes,
    "integer-conv2d": convolution_of_bytes,
    "packed-matmul": product_of_packed_weights,
}
"""The generators by the names of their rules."""

GENERATORS.update(PROGRAMS)

__all__ = ["GENERATORS", "PROGRAMS"]
