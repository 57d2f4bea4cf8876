"""Programs for shipped rules whose pattern cannot be drawn, as two of its parts depend on each other."""

from __future__ import annotations

from ..programs.ir_generators import Chooser
from .hints import generator


@generator("mean-of-sum")
def mean_of_sum(choose: Chooser) -> str:
    """A sum that is divided by a number, or multiplied by one, which often fits the number of its elements."""
    rows, columns = choose.integer(1, 4), choose.integer(1, 3)
    name, over, dims = choose.element(
        [("[0]", rows, f"1x{columns}x"), ("[1]", columns, f"{rows}x1x"), ("[0, 1]", rows * columns, "1x1x")]
    )
    dtype, op = (
        choose.element(["f32", "f32", "f64", "f16"]),
        choose.element(["divide", "multiply", "divide", "multiply", "add"]),
    )
    number = choose.element([over, over, over, over + 1, 2 * over, 0])
    factor = number if op == "divide" or number == 0 else 1 / number
    result = f"tensor<{dims}{dtype}>"
    other = choose.element([f"tensor<{dtype}>", result])
    operands = [("%s", result), ("%n", other)]
    if choose.integer(0, 3) == 0:
        operands.reverse()
    (left, left_type), (right, right_type) = operands
    return f"""func.func @main(%x: tensor<{rows}x{columns}x{dtype}>) -> {result} {{
  %n = graph.full {float(factor):.20f} : {other}
  %s = graph.sum %x, axis = {name}, keepdims = true : (tensor<{rows}x{columns}x{dtype}>) -> {result}
  %r = graph.{op} {left}, {right} : ({left_type}, {right_type}) -> {result}
  func.return %r : {result}
}}"""
