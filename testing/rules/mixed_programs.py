"""Programs for the rules of products whose operands are floats of two types."""

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


GENERATORS.update(
    {
        "product-of-narrow": product_of_narrow,
        "product-of-moved-narrow": product_of_moved_narrow,
    }
)

__all__ = ["GENERATORS"]
