"""Programs for the rules of ops that put quantised tensors together."""

from __future__ import annotations

from ..programs.ir_generators import Chooser, rarely
from .quantised_programs import BYTES, GENERATORS, WORDS, Program


def _put_together(choose: Chooser, number: int) -> Program:
    """A program with so many tensors `%r0`, … of 2x3x5x4 numbers, mostly of one known scale, zero point and type."""
    dtype = choose.element((*BYTES, *BYTES, *WORDS, "i4"))
    channels = "3x" if rarely(choose, 6) else ""
    program = Program(choose)
    scale = choose.element((0.25, 0.1, 1.5)) * (-1 if rarely(choose, 6) else 1)
    zero = choose.element((0, 1, 3, 5))
    for each in range(number):
        kind = choose.element(BYTES) if rarely(choose, 6) else dtype
        program.arguments.append(f"%q{each}: tensor<2x3x5x4x{kind}>")
        for name, type_, usual, others in (("s", "f32", scale, (0.5, -0.5)), ("z", kind, zero, (2,))):
            if rarely(choose, 8):
                program.arguments.append(f"%{name}q{each}: tensor<{channels}{type_}>")
            else:
                value = choose.element(others) if rarely(choose, 8) else usual
                program.lines.append(f"%{name}q{each} = graph.full {value} : tensor<{channels}{type_}>")
        program.dequantised(f"r{each}", f"q{each}", f"2x3x5x4x{kind}", channels, 1)
    return program


def integers_padded(choose: Chooser) -> str:
    """Elements around what integers stand for, mostly zeros."""
    program = _put_together(choose, 1)
    value = choose.element(("0.0", "0.0", "0.0", "-0.0", "1.0"))
    widths = "0, 0, 1, 0, 0, 0, 2, 1"
    program.lines.append(f"%y = graph.pad %r0, pad_width = [{widths}], value = {value} : (tensor<2x3x5x4xf32>)")
    return program.text("tensor<2x4x5x7xf32>")


def integers_joined(choose: Chooser) -> str:
    """Two or three tensors of what integers stand for, one after the other."""
    number = choose.element((2, 3))
    program = _put_together(choose, number)
    operands, types = (
        ", ".join(each) for each in ([f"%r{i}" for i in range(number)], ["tensor<2x3x5x4xf32>"] * number)
    )
    program.lines.append(f"%y = graph.concat {operands}, axis = 1 : ({types})")
    return program.text(f"tensor<2x{3 * number}x5x4xf32>")


def extrema_of_integers(choose: Chooser) -> str:
    """The greater or the smaller ones of what integers stand for."""
    program = _put_together(choose, 2)
    kind = choose.element(("maximum", "minimum"))
    program.lines.append(f"%y = graph.{kind} %r0, %r1 : (tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>)")
    return program.text("tensor<2x3x5x4xf32>")


GENERATORS.update(
    {
        "integer-pads": integers_padded,
        "integer-joins": integers_joined,
        "integer-extrema": extrema_of_integers,
    }
)
