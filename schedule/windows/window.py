"""
Recognises reductions over windows: `out[.., o, ..] = combine over k of f(image[.., o * step + k * apart - pad, ..])`.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, prod

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ...analysis.affine import affine_of_value, is_linear, linear_terms, normal_form
from ...analysis.loop_nests import levels_of, perfect_block
from ...analysis.reductions import accumulators
from ...analysis.reorder import is_reassociable, may_reorder
from ...core.ir.walk import ops_of, walk
from ...dialects.tensor_loop import BlockOp, GridOp
from ...lazy_dataclass import dataclass
from ..kernels.contraction import Operand
from ..kernels.padding import padding_of

IDEMPOTENT = (
    arith.MaximumfOp,
    arith.MinimumfOp,
    arith.MaxSIOp,
    arith.MinSIOp,
    arith.MaxUIOp,
    arith.MinUIOp,
)
"""Updates that may take an element twice."""

WIDENING = (arith.ExtFOp, arith.ExtSIOp, arith.ExtUIOp)
"""Casts that keep the value, between what is read and the update."""


@dataclass(frozen=True)
class Side:
    """A dimension of the image that a window moves through: `index = axis * step + tap * apart - pad`."""

    dimension: int
    size: int
    axis: int
    tap: int
    step: int
    apart: int
    pad: int
    outputs: int
    taps: int

    @property
    def last(self) -> int:
        """Returns the greatest index, which may lie outside."""
        return (self.outputs - 1) * self.step + (self.taps - 1) * self.apart - self.pad

    @property
    def is_guarded(self) -> bool:
        """Returns whether an index may lie outside of the image."""
        return self.pad > 0 or self.last >= self.size

    @property
    def holds_nearest(self) -> bool:
        """Returns whether a window with an index outside holds the element of the image that is nearest to it."""
        return self.apart == 1 and self.pad < self.taps and (self.outputs - 1) * self.step - self.pad < self.size


@dataclass(frozen=True)
class Window:
    """A grid that reduces windows of `image` into `out`."""

    grid: GridOp
    block: BlockOp
    extents: tuple[int, ...]
    sides: tuple[Side, ...]
    image: Operand
    out: Operand
    update: Operation
    old: SSAValue
    """The accumulator that `update` takes."""
    value: SSAValue
    """What `update` takes beside it."""
    choice: scf.IfOp | None
    """The op that tells padding from the image, `None` without padding or where `copy` has it."""
    initial: Attribute
    copy: GridOp | None = None
    """The grid that fills a padded copy of the image, which the loops do without."""

    @property
    def free(self) -> tuple[int, ...]:
        """Returns the spatial axes that no window moves along."""
        moved = {side.axis for side in self.sides}
        return tuple(axis for axis, kind in enumerate(self.block.kinds) if kind == "spatial" and axis not in moved)

    @property
    def taps(self) -> int:
        return prod(side.taps for side in self.sides)

    @property
    def is_idempotent(self) -> bool:
        return isinstance(self.update, IDEMPOTENT)

    @property
    def padding(self) -> Attribute:
        """Returns the number that stands outside of the image, as it is before it is widened."""
        if self.choice is None:
            assert isinstance(self.image.padding, Attribute)
            return self.image.padding
        last = self.choice.false_region.block.last_op
        assert last is not None and isinstance(owner := last.operands[0].owner, arith.ConstantOp)
        return owner.value

    @property
    def element(self) -> Attribute:
        return self.out.type.element_type


def window_of(grid: GridOp) -> Window | None:
    """Returns the reduction over windows that `grid` computes, or `None` for every other grid."""
    block = perfect_block(levels_of(grid))
    if block is None or not block.has_reduce_axes or block.constraints or not may_reorder(block):
        return None
    bound = [expr.position for expr in block.binding_exprs if isinstance(expr, AffineDimExpr)]
    if tuple(block.binding_operands) != grid.variables or bound != list(range(len(block.axes))):
        return None
    extents = tuple(extent for extent in block.extents if isinstance(extent, int))
    found = accumulators(block)
    if len(extents) != len(block.axes) or found is None or len(found) != 1 or not is_reassociable(found[0]):
        return None
    update, old = found[0].store.value.owner, found[0].loads[0].res
    initial = _initial(block)
    if not isinstance(update, Operation) or len(update.operands) != 2 or initial is None:
        return None
    value = next((operand for operand in update.operands if operand is not old), None)
    operand = None if value is None else _image(block, value, old)
    if value is None or operand is None or not all(map(is_linear, found[0].indices)):
        return None
    image, choice = operand
    image, copy = (image, None) if choice is not None else _without_copy(grid, image, found[0].buffer, value, initial)
    sides = _sides(block, extents, image)
    if sides is None or (choice is not None and not _tells_padding(block, choice, image, sides, initial)):
        return None
    if choice is None and copy is None and any(side.is_guarded for side in sides):
        return None
    out = Operand(found[0].buffer, tuple(map(normal_form, found[0].indices)))
    return Window(grid, block, extents, sides, image, out, update, old, value, choice, initial, copy)


def _initial(block: BlockOp) -> Attribute | None:
    """Returns the constant that the init stores, if that is all it does."""
    if block.init is None:
        return None
    stores = ops_of(block.init, memref.StoreOp)
    if len(stores) != 1 or not isinstance(stores[0].value.owner, arith.ConstantOp):
        return None
    return stores[0].value.owner.value


def _image(block: BlockOp, value: SSAValue, old: SSAValue) -> tuple[Operand, scf.IfOp | None] | None:
    """Returns the one operand that a block reads but for its accumulator, and the `scf.if` that guards the load."""
    loads = [op for op in ops_of(block.body, memref.LoadOp) if op.res is not old]
    choices = ops_of(block.body, scf.IfOp)
    if len(loads) != 1 or len(choices) > 1:
        return None
    choice = choices[0] if choices else None
    if choice is not None and not _may_choose(choice, loads[0], value):
        return None
    if not all(_is_known(op) for op in walk(block.body)):
        return None
    axes: dict[SSAValue, int] = {axis: position for position, axis in enumerate(block.axes)}
    indices = [affine_of_value(index, axes, {}) for index in loads[0].indices]
    known = [normal_form(index) for index in indices if index is not None and is_linear(index)]
    return (Operand(loads[0].memref, tuple(known)), choice) if len(known) == len(indices) else None


def _without_copy(
    grid: GridOp, image: Operand, out: SSAValue, value: SSAValue, initial: Attribute
) -> tuple[Operand, GridOp | None]:
    """Returns the image itself and the grid that pads it with the initial number, where a window reads such a copy."""
    found = padding_of(image, grid, out) if isinstance(_narrow(value).owner, memref.LoadOp) else None
    if found is None or found[1].padding is None or number_of(found[1].padding) != number_of(initial):
        return image, None
    copy, source = found
    composed = tuple(normal_form(index.replace_dims_and_symbols(list(image.indices), ())) for index in source.indices)
    return (replace(source, indices=composed), copy) if all(map(is_linear, composed)) else (image, None)


def _may_choose(choice: scf.IfOp, load: memref.LoadOp, value: SSAValue) -> bool:
    """Returns whether a choice guards the load and nothing but casts that widen stands between it and the update."""
    if load.parent_block() is not choice.true_region.block or len(choice.results) != 1:
        return False
    return _narrow(value).owner is choice


def _narrow(value: SSAValue) -> SSAValue:
    """Returns what a value is widened from."""
    while isinstance(value.owner, WIDENING):
        value = value.owner.operands[0]
    return value


def _is_known(op: Operation) -> bool:
    """Returns whether an op computes indices from indices, or numbers from numbers."""
    if op.dialect_name() not in ("arith", "math"):
        return True
    kinds = [isinstance(value.type, IndexType) for value in op.operands]
    stays = isinstance(op, arith.CmpiOp) or (bool(op.results) and isinstance(op.results[0].type, IndexType))
    return not any(kinds) or (all(kinds) and stays)


def _sides(block: BlockOp, extents: tuple[int, ...], image: Operand) -> tuple[Side, ...] | None:
    """Returns one side for each reduce axis, in their order, or `None` where a dimension has another form."""
    found: dict[int, Side] = {}
    assert isinstance(image.buffer.type, MemRefType)
    for dimension, (index, size) in enumerate(zip(image.indices, image.buffer.type.get_shape(), strict=True)):
        terms, offset = linear_terms(index)
        factors = {atom.position: by for atom, by in terms.items() if isinstance(atom, AffineDimExpr)}
        taps = [axis for axis in factors if block.kinds[axis] == "reduce"]
        if not taps:
            continue
        spatial = [axis for axis in factors if axis not in taps]
        if len(taps) != 1 or len(spatial) > 1 or taps[0] in found or min(factors.values()) < 1:
            return None
        if not spatial:
            return None  # A reduction over all of a dimension is no window.
        axis, tap = spatial[0], taps[0]
        numbers = (factors[axis], factors[tap], -offset, extents[axis], extents[tap])
        found[tap] = Side(dimension, size, axis, tap, *numbers)
    reduce = [axis for axis, kind in enumerate(block.kinds) if kind == "reduce"]
    used = [axis for index in image.indices for axis in index.used_dims()]
    if len(used) != len(set(used)) or any(axis not in found and extents[axis] > 1 for axis in reduce):
        return None
    return tuple(found[axis] for axis in reduce if axis in found) or None


def _tells_padding(
    block: BlockOp, choice: scf.IfOp, image: Operand, sides: tuple[Side, ...], initial: Attribute
) -> bool:
    """Returns whether a choice gives the initial number exactly where the index is outside of the image."""
    last = choice.false_region.block.last_op
    other = last.operands[0].owner if last is not None and last.operands else None
    if not isinstance(other, arith.ConstantOp) or number_of(other.value) != number_of(initial):
        return False
    axes: dict[SSAValue, int] = {axis: position for position, axis in enumerate(block.axes)}
    allowed, needed = set[AffineExpr](), set[AffineExpr]()
    for side in sides:
        index = image.indices[side.dimension]
        low, high = normal_form(index), normal_form(AffineExpr.constant(side.size - 1) - index)
        allowed |= {low, high}
        needed |= {low} if side.pad > 0 else set()
        needed |= {high} if side.last >= side.size else set()
    found = _inequalities(choice.cond, axes)
    return found is not None and found <= allowed and needed <= found


def _inequalities(condition: SSAValue, axes: dict[SSAValue, int]) -> set[AffineExpr] | None:
    """Returns expressions that are all at least 0 where a condition holds, and nowhere else."""
    owner = condition.owner
    if isinstance(owner, arith.AndIOp):
        parts = [_inequalities(operand, axes) for operand in owner.operands]
        return None if parts[0] is None or parts[1] is None else parts[0] | parts[1]
    if not isinstance(owner, arith.CmpiOp):
        return None
    left, right = (affine_of_value(side, axes, {}) for side in owner.operands)
    if left is None or right is None:
        return None
    match arith.CMPI_COMPARISON_OPERATIONS[owner.predicate.value.data]:
        case "sge":
            return {normal_form(left - right)}
        case "sgt":
            return {normal_form(left - right - 1)}
        case "sle":
            return {normal_form(right - left)}
        case "slt":
            return {normal_form(right - left - 1)}
        case _:
            return None


def number_of(attribute: Attribute) -> float | int | None:
    """Returns the number that a constant holds."""
    if isinstance(attribute, FloatAttr | IntegerAttr):
        return attribute.value.data
    return None


def is_identity(window: Window) -> bool:
    """Returns whether the initial number never changes what it is combined with, bit by bit."""
    number, type_ = number_of(window.initial), window.element
    bits = type_.width.data if isinstance(type_, IntegerType) else 0
    match window.update:
        case arith.MaximumfOp():
            return number == -inf
        case arith.MinimumfOp():
            return number == inf
        case arith.MaxSIOp():
            return number == -(1 << bits - 1)
        case arith.MinSIOp():
            return number == (1 << bits - 1) - 1
        case arith.MaxUIOp():
            return number == 0
        case arith.MinUIOp():
            return number in (-1, (1 << bits) - 1)
        case _:
            return False
