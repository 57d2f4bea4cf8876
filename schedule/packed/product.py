"""
Finds products with packed weights among loop nests, which `graph.matmul_packed` becomes:

    out[m, n] = sum over k of x[m, k] * (number(w[n, …], k) - zero_point) * scale[n, k floordiv block]

A number is a byte, or one half of a byte.
"""

from __future__ import annotations

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, MemRefType, f32, i8
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ...analysis.affine import affine_of_value, normal_form
from ...analysis.loop_nests import levels_of, perfect_block
from ...analysis.reductions import accumulators
from ...analysis.reorder import is_reassociable, may_reorder
from ...dialects.tensor_loop import BlockOp, GridOp
from ...lazy_dataclass import dataclass
from ..kernels.contraction import Contraction, Operand, bound_in_order, contracts, initial_value

DEPTH = 32
"""The most numbers of a row of x that have one unit. Blocks of weights are multiples of it, or shorter."""


@dataclass(frozen=True)
class PackedProduct:
    """A product with packed weights."""

    c: Contraction
    """The product as others see it. Its `b` is the buffer of the packed weights, over the axes n and k."""
    scale: Operand
    zero_point: Operand | int
    """The zero points, one for each scale or one for all, or the number that all have."""
    bits: int
    block_size: int
    """The numbers of a row that have one scale."""
    unit: Operand | None = None
    """What the numbers of a block of x are multiples of, where they are integers of 8 bits: `unit[m, block]`."""

    @property
    def depth(self) -> int:
        """Returns the numbers of a row of x that have one unit."""
        return min(self.block_size, DEPTH)

    @property
    def steps(self) -> int:
        """Returns the parts of a row that have one unit each."""
        return self.blocks * self.block_size // self.depth

    @property
    def blocks(self) -> int:
        """Returns the number of scales of a row of weights."""
        return self.scale.type.get_shape()[1]

    @property
    def one_zero_point(self) -> bool:
        """Returns whether all weights have one zero point."""
        return isinstance(self.zero_point, int) or not self.zero_point.indices

    @property
    def packed(self) -> tuple[Operand, ...]:
        """Returns the operands that are laid out when the program is loaded, weights first."""
        zero_points = () if isinstance(self.zero_point, int) or self.one_zero_point else (self.zero_point,)
        return (self.c.b, self.scale, *zero_points)


def packed_product_of(grid: GridOp) -> PackedProduct | None:
    """Returns the product with packed weights that `grid` computes, or `None` where it computes none."""
    block = perfect_block(levels_of(grid))
    if block is None or block.constraints or not may_reorder(block) or not bound_in_order(grid, block):
        return None
    extents = tuple(extent for extent in block.extents if isinstance(extent, int))
    reduce = [axis for axis, kind in enumerate(block.kinds) if kind == "reduce"]
    if len(extents) != len(block.extents) or 0 in extents or len(reduce) != 1 or len(extents) < 2:
        return None
    found = accumulators(block)
    if found is None or len(found) != 1 or not is_reassociable(found[0]):
        return None
    init = initial_value(block, found[0])
    if not isinstance(init, FloatAttr) or init.value.data != 0.0:
        return None
    factors = _factors(found[0].store.value, found[0].loads[0].res, block)
    if factors is None:
        return None
    return _product(grid, block, extents, Operand(found[0].buffer, found[0].indices), factors, init)


class _Values:
    """The values of a block as what they compute."""

    def __init__(self, block: BlockOp):
        self.dims: dict[SSAValue, int] = {axis: position for position, axis in enumerate(block.axes)}
        self._extents = block.extents

    def load(self, value: SSAValue) -> Operand | None:
        """Returns the element that `value` is loaded from."""
        load = value.owner
        if not isinstance(load, memref.LoadOp) or not isinstance(load.memref.type, MemRefType):
            return None
        indices = [self.index(index) for index in load.indices]
        known = tuple(index for index in indices if index is not None)
        return Operand(load.memref, known) if len(known) == len(indices) else None

    def index(self, value: SSAValue) -> AffineExpr | None:
        """Returns the expression of the axes that an index or an integer made of one is, with one quotient at most."""
        op = value.owner
        if isinstance(op, arith.IndexCastOp):
            return self.index(op.input)
        if isinstance(op, arith.DivUIOp | arith.RemUIOp | arith.MuliOp):
            left, right = (self.index(each) for each in op.operands)
            if left is None or not isinstance(right, AffineConstantExpr):
                return None
            if isinstance(op, arith.MuliOp):
                return left * right
            if isinstance(op, arith.RemUIOp):
                return left % right
            extent = self._extents[left.position] if isinstance(left, AffineDimExpr) else None
            return _quotient(left, right.value, extent) if isinstance(extent, int) else left // right
        found = affine_of_value(value, self.dims, {})
        return None if found is None else normal_form(found)


@dataclass(frozen=True)
class _Factors:
    """The operands of a product before their indices are known to fit."""

    x: Operand
    weights: Operand
    shift: AffineExpr | None
    """The place of a number of 4 bits in its byte. `None` for bytes."""
    zero_point: Operand | int
    scale: Operand
    unit: Operand | None


def _factors(total: SSAValue, old: SSAValue, block: BlockOp) -> _Factors | None:
    update, values = total.owner, _Values(block)
    if not isinstance(update, arith.AddfOp) or update.result.type != f32 or not contracts(update):
        return None
    product = (update.rhs if update.lhs is old else update.lhs).owner
    if not isinstance(product, arith.MulfOp) or not contracts(product):
        return None
    left, unit = product.lhs, None
    if isinstance(left.owner, arith.MulfOp):
        left, unit = left.owner.lhs, values.load(left.owner.rhs)
        if unit is None:
            return None
    x, real = values.load(left), product.rhs.owner
    if x is None or not isinstance(real, arith.MulfOp):
        return None
    scale, difference = values.load(real.rhs), real.lhs.owner
    if scale is None or not isinstance(difference, arith.SubfOp):
        return None
    zero_point, number = _zero_point(difference.rhs, values), _number(difference.lhs, values)
    if zero_point is None or number is None:
        return None
    return _Factors(x, *number, zero_point, scale, unit)


def _zero_point(value: SSAValue, values: _Values) -> Operand | int | None:
    """Returns the byte without a sign of which `value` is the float, or its number where that is known."""
    owner = value.owner
    if not isinstance(owner, arith.UIToFPOp):
        return None
    byte = owner.input.owner
    if isinstance(byte, arith.ConstantOp) and isinstance(byte.value, IntegerAttr):
        return byte.value.value.data % 256
    return values.load(owner.input)


def _number(value: SSAValue, values: _Values) -> tuple[Operand, AffineExpr | None] | None:
    """Returns the byte that holds a number, and the place of the number in it where that has 4 bits."""
    if not isinstance(value.owner, arith.SIToFPOp):
        return None
    word, shift = value.owner.input, None
    if isinstance(word.owner, arith.AndIOp):
        shifted, mask = word.owner.lhs.owner, word.owner.rhs.owner
        if not isinstance(mask, arith.ConstantOp) or mask.value != IntegerAttr(15, mask.result.type):  # pyright: ignore
            return None
        if not isinstance(shifted, arith.ShRSIOp | arith.ShRUIOp):
            return None
        word, shift = shifted.lhs, values.index(shifted.rhs)
        if shift is None:
            return None
    if not isinstance(word.owner, arith.ExtUIOp):
        return None
    byte = values.load(word.owner.input)
    return None if byte is None else (byte, shift)


def _product(
    grid: GridOp, block: BlockOp, extents: tuple[int, ...], out: Operand, factors: _Factors, init: FloatAttr
) -> PackedProduct | None:
    """Returns the product of these factors where their indices are those of one."""
    (k,) = (axis for axis, kind in enumerate(block.kinds) if kind == "reduce")
    *rows, n = (axis for axis, kind in enumerate(block.kinds) if kind == "spatial")
    if out.stride_along(n) != 1 or any(extents[axis] != 1 for axis in rows[:-1]):
        return None
    shapes = factors.weights.type.get_shape(), factors.scale.type.get_shape()
    if len(shapes[0]) != 2 or len(shapes[1]) != 2 or factors.weights.type.element_type != i8:
        return None
    bits = 8 if factors.shift is None else 4
    block_size, rest = divmod(shapes[0][1] * 8 // bits, shapes[1][1])
    if rest or block_size % 8 or block_size % min(block_size, DEPTH):
        return None
    column, depth = AffineDimExpr(n), AffineDimExpr(k)
    scales = (column, _quotient(depth, block_size, extents[k]))
    fits = (
        factors.weights.indices == (column, _quotient(depth, 8 // bits, extents[k]))
        and factors.scale.indices == scales
        and (isinstance(factors.zero_point, int) or factors.zero_point.indices in (scales, ()))
        and factors.shift in (None, depth % 2 * 4)
        and factors.x.type.element_type == factors.scale.type.element_type == f32
        and factors.x.stride_along(k) == 1
        and n not in factors.x.axes()
        and (factors.unit is None or _is_unit(factors.unit, factors.x, scales[1], k))
    )
    if not fits:
        return None
    m = rows[-1] if rows and extents[rows[-1]] > 1 else None
    outer = tuple(axis for axis in rows if axis != m)
    weights = Operand(factors.weights.buffer, (column, depth))
    c = Contraction(grid, block, extents, factors.x, weights, out, init, m, n, k, outer, ())
    return PackedProduct(c, factors.scale, factors.zero_point, bits, block_size, factors.unit)


def _is_unit(unit: Operand, x: Operand, block: AffineExpr, k: int) -> bool:
    """Returns whether an operand has one number for each block of a row of x."""
    rows = tuple(index for index in x.indices if index != AffineDimExpr(k))
    return unit.type.element_type == f32 and unit.indices == (*rows, block) and x.indices[:-1] == rows


def _quotient(expr: AffineExpr, divisor: int, extent: int) -> AffineExpr:
    """Returns a quotient as indices are written, 0 where it has no other value."""
    if divisor == 1:
        return expr
    return AffineExpr.constant(0) if divisor >= extent else expr // divisor
