"""Programs for the rules of quantised weights: dequantised by ops on floats, and in floats of 16 bits."""

from __future__ import annotations

from ..programs.ir_generators import Chooser, rarely
from .mixed_programs import GENERATORS

NUMBERS = {"i8": (0, 1, -3, 100, -128), "ui8": (0, 1, 3, 200), "ui4": (0, 1, 7, 15), "i4": (0, 1, -8, 7)}
"""Integers of each type that weights are made of."""


def _dense(choose: Chooser, dtype: str, extents: tuple[int, ...]) -> str:
    """A constant of integers that differ."""
    if not extents:
        return str(choose.element(NUMBERS[dtype]))
    return "[" + ", ".join(_dense(choose, dtype, extents[1:]) for _ in range(extents[0])) + "]"


def _type(extents: tuple[int, ...], dtype: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in extents)}{dtype}>"


def _weights(choose: Chooser, dtype: str, real: str, extents: tuple[int, ...]) -> tuple[list[str], list[str]]:
    """Lines that make `%f`, integers as floats, and the arguments they need: the integers now and then."""
    given = [f"%w: {_type(extents, dtype)}"] if rarely(choose, 6) else []
    lines = [] if given else [f"%w = graph.constant dense<{_dense(choose, dtype, extents)}> : {_type(extents, dtype)}"]
    lines.append(f"%f = graph.astype %w, dtype = {real} : ({_type(extents, dtype)}) -> {_type(extents, real)}")
    return lines, given


def _of_scales(choose: Chooser, around: bool) -> str:
    """Integers, less zero points or not, times scales that spread in some way."""
    real = choose.element(("f32", "f32", "f16", "bf16", "f64"))
    dtype = choose.element((*NUMBERS, "i32")) if rarely(choose, 4) else choose.element(tuple(NUMBERS))
    numbers = NUMBERS.get(dtype, (0, 300))
    extents = (2, 3, 4)
    scales = choose.element(((), (4,), (3, 1), (2, 1, 1), (2, 3, 1), (1, 3, 4), (2, 1, 4), (2, 3, 4), (1, 1)))
    if dtype not in NUMBERS:
        lines, given = [f"%w = graph.full {choose.element(numbers)} : {_type(extents, dtype)}"], list[str]()
        lines.append(f"%f = graph.astype %w, dtype = {real} : ({_type(extents, dtype)}) -> {_type(extents, real)}")
    else:
        lines, given = _weights(choose, dtype, real, extents)
    whole, spread, value = _type(extents, real), _type(scales, real), "%f"
    if rarely(choose, 5):
        given.append(f"%s: {spread}")
    else:
        lines.append(f"%s = graph.full {choose.element((0.25, 0.1, 1.5))} : {spread}")
    if around:
        places = choose.element((scales, scales, (), (4,)))
        if rarely(choose, 2):
            other = choose.element(tuple(NUMBERS))
            lines.append(f"%n = graph.constant dense<{_dense(choose, other, places)}> : {_type(places, other)}")
            lines.append(f"%z = graph.astype %n, dtype = {real} : ({_type(places, other)}) -> {_type(places, real)}")
        else:
            lines.append(f"%z = graph.full {choose.element((7.0, 0.0, -2.0, 7.5, 300.0))} : {_type(places, real)}")
        lines.append(f"%c = graph.subtract %f, %z : ({whole}, {_type(places, real)}) -> {whole}")
        value = "%c"
    lines.append(f"%y = graph.multiply {value}, %s : ({whole}, {spread}) -> {whole}")
    return _function(lines, given, whole)


def _function(lines: list[str], arguments: list[str], result: str) -> str:
    body = "\n".join(f"  {line}" for line in [*lines, f"func.return %y : {result}"])
    return f"func.func @main({', '.join(arguments)}) -> {result} {{\n{body}\n}}\n"


def scaled_by_hand(choose: Chooser) -> str:
    """Integers that become floats and are multiplied by scales."""
    return _of_scales(choose, around=False)


def scaled_around_zeros(choose: Chooser) -> str:
    """Integers that become floats, less zero points, times scales."""
    return _of_scales(choose, around=True)


def product_of_integers(choose: Chooser) -> str:
    """A product with integers that become floats, moved or not, mostly from the right."""
    real = choose.element(("f32", "f32", "f16", "f64"))
    lines, given = _weights(choose, choose.element(tuple(NUMBERS)), real, (4, 3))
    matrix, turned = _type((4, 3), real), _type((3, 4), real)
    right, shape = "%f", (4, 3)
    if choose.element((False, True)):
        lines.append(f"%t = graph.permute_dims %f : ({matrix}) -> {turned}")
        right, shape = "%t", (3, 4)
    if rarely(choose, 5):
        result = _type((shape[0], 2), real)
        lines.append(
            f"%y = graph.matmul {right}, %x : ({_type(shape, real)}, {_type((shape[1], 2), real)}) -> {result}"
        )
        return _function(lines, [*given, f"%x: {_type((shape[1], 2), real)}"], result)
    result = _type((2, shape[1]), real)
    lines.append(f"%y = graph.matmul %x, {right} : ({_type((2, shape[0]), real)}, {_type(shape, real)}) -> {result}")
    return _function(lines, [*given, f"%x: {_type((2, shape[0]), real)}"], result)


def _dequantised(
    choose: Chooser,
    name: str,
    dtype: str,
    extents: tuple[int, ...],
    real: str,
    scales: tuple[tuple[int, ...], int, int],
) -> list[str]:
    """Lines that make `%name` of constant integers `%wname`."""
    shape, axis, block = scales
    return [
        f"%s{name} = graph.full {choose.element((0.25, 0.1, 1.5))} : {_type(shape, real)}",
        f"%z{name} = graph.full {choose.element(NUMBERS[dtype][:2])} : {_type(shape, dtype)}",
        f"%{name} = graph.dequantize %w{name}, %s{name}, %z{name}, axis = {axis}, block_size = {block} : "
        f"({_type(extents, dtype)}, {_type(shape, real)}, {_type(shape, dtype)}) -> {_type(extents, real)}",
    ]


def cast_of_conversion(choose: Chooser) -> str:
    """What integers stand for, mostly in 16 bits, as floats of another type."""
    real, wide = choose.element(("f16", "bf16", "f32")), choose.element(("f32", "f32", "f64", "f16"))
    dtype = choose.element(tuple(NUMBERS))
    lines = _dequantised(choose, "d", dtype, (3, 4), real, choose.element((((), 1, 0), ((4,), 1, 0), ((3, 2), 1, 2))))
    lines.append(f"%y = graph.astype %d, dtype = {wide} : ({_type((3, 4), real)}) -> {_type((3, 4), wide)}")
    return _function(lines, [f"%wd: {_type((3, 4), dtype)}"], _type((3, 4), wide))


MOVES = (
    ("permute_dims", "", (4, 3)),
    ("reshape", ", shape = [2, 6]", (2, 6)),
    ("reshape", ", shape = [3, 2, 2]", (3, 2, 2)),
    ("expand_dims", ", axis = [0]", (1, 3, 4)),
)


def moved_cast(choose: Chooser) -> str:
    """What mostly constant integers stand for, rounded to 16 bits and moved."""
    dtype, real = choose.element(tuple(NUMBERS)), choose.element(("f16", "f16", "bf16", "f64"))
    lines = _dequantised(choose, "d", dtype, (3, 4), "f32", choose.element((((), 1, 0), ((3,), 0, 0), ((4,), 1, 0))))
    given = [f"%wd: {_type((3, 4), dtype)}"]
    if not rarely(choose, 5):
        lines.insert(0, f"%wd = graph.constant dense<{_dense(choose, dtype, (3, 4))}> : {_type((3, 4), dtype)}")
        given = []
    name, properties, made = choose.element(MOVES)
    before, after = _type((3, 4), real), _type(made, real)
    lines.append(f"%c = graph.astype %d, dtype = {real} : ({_type((3, 4), 'f32')}) -> {before}")
    lines.append(f"%y = graph.{name} %c{properties} : ({before}) -> {after}")
    return _function(lines, given, after)


def narrow_product(choose: Chooser) -> str:
    """A product in 16 bits of what bytes stand for, or of rows and constant weights, cast in between or not."""
    real, dtype = choose.element(("f16", "bf16", "f16", "f32")), choose.element(tuple(NUMBERS))
    forms = (((), 1, 0), ((3,), 1, 0), ((32,), 0, 0), ((2, 3), 0, 16))
    lines = [f"%wb = graph.constant dense<{_dense(choose, dtype, (32, 3))}> : {_type((32, 3), dtype)}"]
    inner = choose.element((real, "f32"))
    lines += _dequantised(choose, "b", dtype, (32, 3), inner, choose.element(forms))
    right = "%b"
    if inner != real:
        lines.append(f"%c = graph.astype %b, dtype = {real} : ({_type((32, 3), inner)}) -> {_type((32, 3), real)}")
        right = "%c"
    if choose.element((True, False)):
        left, given = "%a", [f"%wa: {_type((4, 32), 'ui8')}"]
        lines += _dequantised(choose, "a", "ui8", (4, 32), real, choose.element((((), 1, 0), ((), 1, 0), ((4,), 0, 0))))
    else:
        left, given = "%x", [f"%x: {_type((4, 32), real)}"]
    lines.append(f"%y = graph.matmul {left}, {right} : ({_type((4, 32), real)}, {_type((32, 3), real)})")
    return _function(lines, given, _type((4, 3), real))


GENERATORS.update(
    {
        "dequantised-by-scale": scaled_by_hand,
        "dequantised-around-zeros": scaled_around_zeros,
        "dequantised-by-one": product_of_integers,
        "widened-conversions": cast_of_conversion,
        "widened-moves": moved_cast,
        "widened-products": narrow_product,
    }
)

__all__ = ["GENERATORS"]
