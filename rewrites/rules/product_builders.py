"""Named builders: convolutions that pad, and matrix products of transposed operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from ...core.ir.element_types import dtype_name, is_small_float
from ...dialects.graph.base import plain_properties
from ...dialects.graph.contraction import Conv2dOp, MatmulOp
from ...dialects.graph.element_types import class_members
from ...dialects.graph.movement import PadOp, PermuteDimsOp
from ...patterns.language.constants import element_type, is_float_type
from ...patterns.language.match import Match, as_value
from ...patterns.language.registry import Thing, builder, condition
from ...te.dtypes import product_type
from ..inference.quantisation import emit
from .conditions import holds_all, permutation
from .movement_builders import permuted
from .shared_builders import changed, made


@builder("padded-convolution")
def padded_convolution(match: Match, root: Conv2dOp, padded: PadOp) -> Sequence[SSAValue] | None:
    """The `graph.conv2d` of what `padded` pads. Declines other values than zeros, and padded images or channels."""
    found = plain_properties(padded)
    widths, layout = found["pad_width"], plain_properties(root)["data_layout"]
    around = [widths[2 * axis : 2 * axis + 2] for axis in map(layout.index, "NCHW")]
    if found["value"] != 0 or any(width for axis in around[:2] for width in axis):
        return None
    (top, bottom), (left, right) = around[2:]
    sides = zip(plain_properties(root)["padding"], (top, left, bottom, right), strict=True)
    properties = changed(root, padding=[one + other for one, other in sides])
    return made(match, root.name, [padded.operands[0], root.operands[1]], properties)


@condition("transposes")
def transposes(match: Match, op: PermuteDimsOp) -> bool:
    """The `graph.permute_dims` swaps the last two dimensions, and no others."""
    order = permutation(op)
    count = len(order)
    return count > 1 and order == (*range(count - 2), count - 1, count - 2)


@condition("of-matrices")
def of_matrices(match: Match, op: MatmulOp) -> bool:
    """Both operands of the `graph.matmul` have two dimensions or more."""
    types = [value.type for value in op.operands]
    return all(isinstance(type_, TensorType) and type_.get_num_dims() > 1 for type_ in types)


@condition("narrower")
def narrower(match: Match, value: Thing, converted: Thing) -> bool:
    """The elements of `value` are floats of fewer bits than those of `converted`, which hold all of them."""
    types = [element_type(as_value(thing).type) for thing in (value, converted)]
    return is_float_type(types[0]) and types[0] != types[1] and holds_all(types[0], types[1])


@condition("product-has-type")
def product_has_type(match: Match, op: MatmulOp, left: Thing, right: Thing) -> bool:
    """There is a product like `op` of elements of the types of `left` and `right`, and it has the type of `op`."""
    given, types = plain_properties(op)["out_dtype"], [_dtype_of(thing) for thing in (left, right)]
    return set(types) <= set(class_members("F")) and (given or product_type(*types)) == _dtype_of(op)


@builder("transposed-product")
def transposed_product(match: Match, op: MatmulOp, left: Thing, right: Thing) -> Sequence[SSAValue]:
    """The last two dimensions swapped of a product like `op` of `left` and `right`."""
    product = match.create(op.name, [as_value(left), as_value(right)], None, op.properties).results[0]
    return [_transposed(match, product)]


@builder("product-with-left-transposed")
def product_with_left_transposed(match: Match, op: MatmulOp, left: Thing, right: Thing) -> Sequence[SSAValue]:
    """A product like `op` of `left`, whose last two dimensions are swapped first, and `right`."""
    return made(match, op.name, [_transposed(match, as_value(left)), as_value(right)], changed(op))


@builder("product-with-right-transposed")
def product_with_right_transposed(match: Match, op: MatmulOp, left: Thing, right: Thing) -> Sequence[SSAValue]:
    """A product like `op` of `left` and `right`, whose last two dimensions are swapped first."""
    return made(match, op.name, [as_value(left), _transposed(match, as_value(right))], changed(op))


FEW: Final = 4
"""The most rows that are multiplied by each row of another operand with no copy of that in between."""

TERMS: Final = 16
"""The least terms for each of these rows, of 32 at least. The sum of a row takes the time of so many terms."""

PAGE: Final = 1024
"""
The elements of f32 in a page. The rows of a transposed copy that are whole pages apart are all in the same few sets of
the cache, so it takes four times as long. Twice as many rows are few then.
"""


@condition("few-rows", protects="cost")
def few_rows(match: Match, left: Thing, right: Thing) -> bool:
    """
    Sums of products of the rows of `left` and `right`, of like batches and one type of at most 32 bits, take less time
    than a transposed copy of `right`.
    """
    types = [as_value(thing).type for thing in (left, right)]
    dtypes = {dtype_name(type_.element_type) if isinstance(type_, TensorType) else None for type_ in types}
    if len(dtypes) > 1 or dtypes.isdisjoint(("f32", "f16", "bf16")):
        return False
    shapes = [type_.get_shape() for type_ in types]  # pyright: ignore[reportAttributeAccessIssue]
    if min(map(len, shapes)) < 2:
        return False
    (*batch, rows, terms), (*other, columns, _) = shapes
    if batch != other or not all(each > 0 for each in (*batch, rows, terms, columns)) or terms < 2 * TERMS:
        return False
    return rows <= min(FEW, terms // TERMS) or (rows <= 2 * FEW and columns % PAGE == 0)


@builder("sums-of-products")
def sums_of_products(match: Match, op: MatmulOp, left: Thing, right: Thing) -> Sequence[SSAValue]:
    """The sums of the products of each row of `left` and each row of `right`. They are formed in at least f32."""
    x, y = as_value(left), as_value(right)
    result = _dtype_of(op.results[0])
    if is_small_float(element_type(x.type)):
        x, y = (emit(match, "astype", each, dtype="f32") for each in (x, y))
    products = emit(
        match, "multiply", emit(match, "expand_dims", x, axis=[-2]), emit(match, "expand_dims", y, axis=[-3])
    )
    total = emit(match, "sum", products, axis=[-1])
    return [total if result == "f32" else emit(match, "astype", total, dtype=result)]


@builder("product-with-moved")
def product_with_moved(
    match: Match, op: MatmulOp, left: Thing, moved: PermuteDimsOp, right: Thing
) -> Sequence[SSAValue]:
    """A product like `op` of `left` and of `right`, which is moved as `moved` does."""
    other = match.create(moved.name, [as_value(right)], None, moved.properties).results[0]
    return match.create(op.name, [as_value(left), other], None, op.properties).results


def _dtype_of(thing: Thing) -> str:
    return str(dtype_name(element_type(as_value(thing).type)))


def _transposed(match: Match, value: SSAValue) -> SSAValue:
    type_ = value.type
    assert isinstance(type_, TensorType)
    count = type_.get_num_dims()
    return permuted(match, value, [*range(count - 2), count - 1, count - 2])
