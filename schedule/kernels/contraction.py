"""
Finds contractions among loop nests: `out[m.., n] += a[m.., k..] * b[k.., n]`. Matrix products and convolutions have
this form.

The roles of the axes follow from which operands they index, as in K. Goto, R. van de Geijn, "Anatomy of
High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008, generalised to any number of axes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, MemRefType, f32, f64, i1
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ...analysis.access_regions import element_strides
from ...analysis.affine import affine_of_value, bounds, is_linear, linear_terms, normal_form
from ...analysis.loop_nests import levels_of, perfect_block
from ...analysis.reductions import Accumulator, accumulators, init_stores
from ...analysis.reorder import is_reassociable, may_reorder
from ...core.ir.answers import kept
from ...core.ir.element_types import element_bytes, is_small_float
from ...dialects.tensor_loop import BlockOp, GridOp
from ...lazy_dataclass import dataclass

Indices = tuple[AffineExpr, ...]
"""The indices of an access: one affine expression of the axes of the block per dimension of a buffer."""


@dataclass(frozen=True)
class Operand:
    """An input: `buffer[indices]`, and outside the buffer `padding` where that is given."""

    buffer: SSAValue
    indices: Indices
    padding: Attribute | None = None
    unsigned: bool = False
    """True where narrow integers are widened without a sign."""

    @property
    def type(self) -> MemRefType:
        assert isinstance(self.buffer.type, MemRefType)
        return self.buffer.type

    def axes(self) -> frozenset[int]:
        """Returns the axes that choose the element."""
        return frozenset().union(*self._used)

    @cached_property
    def _used(self) -> tuple[frozenset[int], ...]:
        """The axes in each index."""
        return tuple(frozenset(index.used_dims()) for index in self.indices)

    @cached_property
    def _terms(self) -> tuple[Mapping[AffineExpr, int], ...]:
        """The factors of the axes in each index."""
        return tuple(linear_terms(index)[0] for index in self.indices)

    def dimension_along(self, axis: int) -> tuple[int, int] | None:
        """
        Returns the dimension of the buffer that `axis` moves in and the elements of that dimension per step, `None`
        where `axis` moves in several.
        """
        found = [
            (dimension, terms.get(AffineDimExpr(axis), 0))
            for dimension, terms in enumerate(self._terms)
            if axis in self._used[dimension]
        ]
        return found[0] if len(found) == 1 else None

    def stride_along(self, axis: int) -> int | None:
        """Returns the elements in memory per step of `axis`, 0 where the step does not matter."""
        if axis not in self.axes():
            return 0
        place = self.dimension_along(axis)
        stride = None if place is None else element_strides(self.buffer)[place[0]]
        return None if place is None or stride is None else stride * place[1]


@dataclass(frozen=True)
class Contraction:
    """
    A grid that computes `out[...] = init + sum over the reduce axes of a[...] * b[...]`.

    `m` and `n` are the rows and columns of register tiles: `m` does not index `b`, `n` does not index `a` and is
    contiguous in `out`. `k` is the innermost reduce axis. `outer` and `reduce` are the other spatial and reduce axes,
    outermost first.
    """

    grid: GridOp
    block: BlockOp
    extents: tuple[int, ...]
    a: Operand
    b: Operand
    out: Operand
    init: Attribute
    m: int | None
    n: int
    k: int
    outer: tuple[int, ...]
    reduce: tuple[int, ...]

    @property
    def tile_element(self) -> Attribute:
        """Returns the element type of the sums."""
        return self.out.type.element_type

    def extent(self, axis: int | None) -> int:
        return 1 if axis is None else self.extents[axis]


@kept
def contraction_of(grid: GridOp) -> Contraction | None:
    """Returns the contraction that `grid` computes, or `None` when it computes none that can be tiled."""
    levels = levels_of(grid)
    block = perfect_block(levels)
    if block is None or block.constraints or not may_reorder(block) or not bound_in_order(grid, block):
        return None
    extents = tuple(extent for extent in block.extents if isinstance(extent, int))
    if len(extents) != len(block.extents) or 0 in extents:
        return None
    found = accumulators(block)
    if found is None or len(found) != 1 or not is_reassociable(found[0]):
        return None
    out = Operand(found[0].buffer, found[0].indices)
    init, factors = initial_value(block, found[0]), factors_of(found[0], block, True, mixed=True)
    if init is None or factors is None or not all(is_linear(index) for index in out.indices):
        return None
    if out.type.element_type == f64 and all(each.type.element_type != f64 for each in factors):
        return None  # Tiles extend operands to f32 only.
    for a, b in (factors, factors[::-1]):
        if a.type.element_type != b.type.element_type and a.type.element_type != f32:
            continue
        axes = _axes(block, extents, a, b, out)
        if axes is not None:
            return Contraction(grid, block, extents, a, b, out, init, *axes)
    return None


def bound_in_order(grid: GridOp, block: BlockOp) -> bool:
    """Returns whether axis i has the value of loop variable i, which takes every value that the axis may have."""
    return (
        grid.extents == block.extents
        and tuple(block.binding_operands) == grid.variables
        and all(
            isinstance(expr, AffineDimExpr) and expr.position == position
            for position, expr in enumerate(block.binding_exprs)
        )
    )


def initial_value(block: BlockOp, accumulator: Accumulator) -> Attribute | None:
    """Returns the constant that the init sets the accumulator to."""
    stores = init_stores(block, (accumulator,))
    if stores is None or len(stores) != 1:
        return None
    (store,) = stores
    assert isinstance(store, memref.StoreOp)
    return _constant(store.value)


def _constant(value: SSAValue) -> Attribute | None:
    return value.owner.value if isinstance(value.owner, arith.ConstantOp) else None


def factors_of(
    accumulator: Accumulator, block: BlockOp, unsigned: bool = False, mixed: bool = False
) -> tuple[Operand, Operand] | None:
    """
    Returns the two operands whose product is added. With `unsigned` they may be widened without a sign. With `mixed`
    one may be f32, and the other a small float.
    """
    update = accumulator.store.value.owner
    old = accumulator.loads[0].res
    if not isinstance(update, arith.AddfOp | arith.AddiOp):
        return None
    added = update.rhs if update.lhs is old else update.lhs
    product = added.owner
    if not isinstance(product, arith.MulfOp | arith.MuliOp) or not added.has_one_use():
        return None
    if isinstance(product, arith.MulfOp) and not (contracts(product) and contracts(update)):
        return None
    dims: dict[SSAValue, int] = {axis: position for position, axis in enumerate(block.axes)}
    operands = [operand_of(each, dims, block, unsigned) for each in (product.lhs, product.rhs)]
    left, right = operands
    if left is None or right is None:
        return None
    types = {left.type.element_type, right.type.element_type}
    if len(types) > 1 and not (mixed and all(each == f32 or is_small_float(each) for each in types)):
        return None
    return left, right


def contracts(op: Operation) -> bool:
    """Returns whether a multiplication and an addition may be rounded once."""
    flags = op.properties.get("fastmath")
    return isinstance(flags, arith.FastMathFlagsAttr) and FastMathFlag.ALLOW_CONTRACT in flags.data


def operand_of(value: SSAValue, dims: dict[SSAValue, int], block: BlockOp, unsigned: bool = False) -> Operand | None:
    """Returns the element that `value` is, widened or not. With `unsigned` it may be widened without a sign."""
    owner = value.owner
    if unsigned and isinstance(owner, arith.ExtUIOp) and owner.input.type != i1:
        narrow = isinstance(owner.input.owner, memref.LoadOp | scf.IfOp)
        found = operand_of(owner.input, dims, block) if narrow else None
        return None if found is None else replace(found, unsigned=True)
    if isinstance(owner, arith.ExtFOp | arith.ExtSIOp):
        if isinstance(owner, arith.ExtFOp) and not is_small_float(owner.input.type):
            return None
        value, owner = owner.input, owner.input.owner
    if isinstance(owner, memref.LoadOp):
        return _loaded(owner, dims, None)
    return _padded(owner, dims, block) if isinstance(owner, scf.IfOp) else None


def _loaded(load: memref.LoadOp, dims: dict[SSAValue, int], padding: Attribute | None) -> Operand | None:
    type_ = load.memref.type
    if not isinstance(type_, MemRefType) or not isinstance(type_.element_type, AnyFloat | IntegerType):
        return None
    if element_bytes(type_.element_type) is None:  # such as tf32, which no register holds
        return None
    indices = [affine_of_value(index, dims, {}) for index in load.indices]
    known = tuple(normal_form(index) for index in indices if index is not None)
    if len(known) != len(indices) or not all(is_linear(index) for index in known):
        return None
    return Operand(load.memref, known, padding)


# Padding: `if (every index is in the buffer) load else constant`


def _padded(guard: scf.IfOp, dims: dict[SSAValue, int], block: BlockOp) -> Operand | None:
    if len(guard.results) != 1 or not guard.false_region.blocks:
        return None
    inside, outside = guard.true_region.block.last_op, guard.false_region.block.last_op
    assert inside is not None and outside is not None
    load, padding = inside.operands[0].owner, _constant(outside.operands[0])
    if not isinstance(load, memref.LoadOp) or not isinstance(padding, FloatAttr | IntegerAttr):
        return None
    operand = _loaded(load, dims, padding)
    if operand is None:
        return None
    conditions = _conditions(guard.cond, dims)
    if conditions is None:
        return None
    intervals = [(0, extent - 1) for extent in block.extents if isinstance(extent, int)]
    ranges = {condition: bounds(condition, intervals) for condition in conditions}
    open_ones = {condition for condition, range_ in ranges.items() if range_ is None or range_[0] < 0}
    return operand if open_ones == _in_bounds(operand, block) else None


def _conditions(value: SSAValue, dims: dict[SSAValue, int]) -> frozenset[AffineExpr] | None:
    """Returns the expressions all of which must be at least 0, or `None` for a condition of another form."""
    found: set[AffineExpr] = set()
    stack = [value]
    while stack:
        owner = stack.pop().owner
        if isinstance(owner, arith.AndIOp):
            stack += owner.operands
            continue
        expr = _at_least_zero(owner, dims) if isinstance(owner, arith.CmpiOp) else None
        if expr is None:
            return None
        found.add(normal_form(expr))
    return frozenset(found)


def _at_least_zero(compare: arith.CmpiOp, dims: dict[SSAValue, int]) -> AffineExpr | None:
    left, right = (affine_of_value(each, dims, {}) for each in compare.operands)
    if left is None or right is None:
        return None
    match arith.CMPI_COMPARISON_OPERATIONS[compare.predicate.value.data]:
        case "sge":
            return left - right
        case "sle":
            return right - left
        case "slt":
            return right - left - 1
        case "sgt":
            return left - right - 1
        case _:
            return None


def _in_bounds(operand: Operand, block: BlockOp) -> frozenset[AffineExpr]:
    """
    Returns the expressions that must be at least 0 for the element to be in the buffer. Those that always are are left
    out.
    """
    needed: set[AffineExpr] = set()
    for low, high, index, size in index_ranges(operand, block):
        if low < 0:
            needed.add(normal_form(index))
        if high >= size:
            needed.add(normal_form(index * -1 + (size - 1)))
    return frozenset(needed)


def index_ranges(operand: Operand, block: BlockOp) -> Iterator[tuple[int, int, AffineExpr, int]]:
    """Yields per dimension the least and the greatest index, the index, and the size of the buffer."""
    intervals = [(0, extent - 1) for extent in block.extents if isinstance(extent, int)]
    for index, size in zip(operand.indices, operand.type.get_shape(), strict=True):
        interval = bounds(index, intervals)
        assert interval is not None
        yield *interval, index, size


# Roles of the axes


def _axes(
    block: BlockOp, extents: tuple[int, ...], a: Operand, b: Operand, out: Operand
) -> tuple[int | None, int, int, tuple[int, ...], tuple[int, ...]] | None:
    """
    Returns the axes m, n, k, other spatial ones and other reduce ones. It is `None` when this order of operands does
    not fit.
    """
    if b.padding is not None:
        return None
    spatial = [axis for axis, kind in enumerate(block.kinds) if kind == "spatial"]
    reduce = [axis for axis, kind in enumerate(block.kinds) if kind == "reduce"]
    columns = [
        axis
        for axis in spatial
        if axis not in a.axes() and alone(b, axis) and alone(out, axis) and out.stride_along(axis) == 1
    ]
    depths = [axis for axis in reduce if alone(a, axis) and alone(b, axis)]
    if len(columns) != 1 or not depths or extents[columns[0]] == 1:
        return None
    (n,) = columns
    depths = [axis for axis in depths if _apart(b, axis, n)]
    if not depths:
        return None
    k = min(depths, key=lambda axis: (a.stride_along(axis) != 1, -extents[axis]))
    rows = [axis for axis in spatial if axis != n and axis not in b.axes() and _apart(a, axis, k) and alone(out, axis)]
    rows = [axis for axis in rows if extents[axis] > 1]
    m = rows[-1] if rows else None
    outer = tuple(axis for axis in spatial if axis not in (m, n))
    return m, n, k, outer, tuple(axis for axis in reduce if axis != k)


def _apart(operand: Operand, first: int, second: int) -> bool:
    """Returns whether two axes move in one dimension each, and not in the same."""
    places = operand.dimension_along(first), operand.dimension_along(second)
    return None not in places and places[0][0] != places[1][0]  # pyright: ignore[reportOptionalSubscript]


def alone(operand: Operand, axis: int) -> bool:
    """Returns whether `axis` moves in one dimension, one element at a time."""
    place = operand.dimension_along(axis)
    return place is not None and place[1] == 1
