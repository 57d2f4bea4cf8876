"""Programs for the rules of products: with operands of two types, of few rows, and with packed weights."""

from __future__ import annotations

from ...te.dtypes import product_type
from ..programs.ir_generators import Chooser
from .joined_programs import GENERATORS


def _product(choose: Chooser, moved: bool) -> str:
    """A product with weights that are converted, mostly from narrow floats to wider ones, and moved or not."""
    left, narrow = choose.element(("f32", "f16", "bf16", "f64")), choose.element(("f16", "bf16", "f32", "f8E5M2", "i8"))
    wide = choose.element(("f32", "f32", "f64", "f16", "bf16"))
    before = "4x3" if moved else "3x4"
    result = f"tensor<2x4x{product_type(left, wide)}>"
    lines = [f"%f = graph.astype %w, dtype = {wide} : (tensor<{before}x{narrow}>) -> tensor<{before}x{wide}>"]
    if moved:
        lines.append(f"%p = graph.permute_dims %f : (tensor<4x3x{wide}>) -> tensor<3x4x{wide}>")
    kernel = "%p" if moved else "%f"
    lines.append(f"%y = graph.matmul %x, {kernel} : (tensor<2x3x{left}>, tensor<3x4x{wide}>) -> {result}")
    lines.append(f"func.return %y : {result}")
    body = "\n".join(f"  {line}" for line in lines)
    return f"func.func @main(%x: tensor<2x3x{left}>, %w: tensor<{before}x{narrow}>) -> {result} {{\n{body}\n}}\n"


def product_of_narrow(choose: Chooser) -> str:
    """A product of floats with converted weights."""
    return _product(choose, moved=False)


def product_of_moved_narrow(choose: Chooser) -> str:
    """A product of floats with converted weights that are moved."""
    return _product(choose, moved=True)


def few_rows_by_rows(choose: Chooser) -> str:
    """A product of mostly few rows with a transposed operand, which is now and then constant or needed twice."""
    rows, terms, columns = (
        choose.element((1, 2, 3, 4, 5)),
        choose.element((16, 32, 48, 64, 80)),
        choose.element((1, 2, 40)),
    )
    dtype, batch = choose.element(("f32", "f32", "f32", "f16")), choose.element(("", "2x"))
    left, right = f"tensor<{batch}{rows}x{terms}x{dtype}>", f"tensor<{batch}{columns}x{terms}x{dtype}>"
    turned, result = f"tensor<{batch}{terms}x{columns}x{dtype}>", f"tensor<{batch}{rows}x{columns}x{dtype}>"
    other = choose.element(("[0, 2, 1]", "[1, 2, 0]")) if columns == 2 else "[0, 2, 1]"  # Samples that become columns.
    axes = other if batch else "[1, 0]"
    lines = [f"%p = graph.permute_dims %k, axes = {axes} : ({right}) -> {turned}"]
    argument = f", %k: {right}"
    if choose.element((False, False, False, True)):
        lines.insert(0, f"%k = graph.full 0.5 : {right}")
        argument = ""
    lines.append(f"%y = graph.matmul %q, %p : ({left}, {turned}) -> {result}")
    both = choose.element((False, False, False, True))
    returned, types = ("%y, %p", f"{result}, {turned}") if both else ("%y", result)
    lines.append(f"func.return {returned} : {types}")
    body = "\n".join(f"  {line}" for line in lines)
    return f"func.func @main(%q: {left}{argument}) -> ({types}) {{\n{body}\n}}\n"


def packed_product_in_f32(choose: Chooser) -> str:
    """A product of floats with packed weights."""
    dtype, bits = choose.element(("f16", "bf16", "f64", "f64")), choose.element((4, 8))
    rounded = choose.element(("", ", rounded_bits = 8"))
    types = f"tensor<2x32x{dtype}>, tensor<5x{32 * bits // 8}xui8>, tensor<5x2x{dtype}>, tensor<5x2xui8>"
    arguments = ", ".join(
        f"{name}: {type_}" for name, type_ in zip(("%x", "%w", "%s", "%z"), types.split(", "), strict=True)
    )
    result = f"tensor<2x5x{dtype}>"
    line = f"%y = graph.matmul_packed %x, %w, %s, %z, bits = {bits}, block_size = 16{rounded} : ({types}) -> {result}"
    return f"func.func @main({arguments}) -> {result} {{\n  {line}\n  func.return %y : {result}\n}}\n"


GENERATORS.update(
    {
        "product-of-narrow": product_of_narrow,
        "product-of-moved-narrow": product_of_moved_narrow,
        "few-rows-by-rows": few_rows_by_rows,
        "packed-product-in-f32": packed_product_in_f32,
    }
)

__all__ = ["GENERATORS"]
