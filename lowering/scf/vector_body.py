"""
Sorts the ops in the body of a loop that is marked for vectors: indices that move with the loop, and values that are
loaded, computed, stored and summed up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, MemRefType, NoneAttr, bf16, f16, f32, i1, i8, i16, i32
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...core.ir.literals import constant_of
from ...core.roles import LOOP
from ...lazy_dataclass import dataclass

STORED = (f32, f16, bf16)
"""Types of the elements that the body may load and store."""

NUMBERS = (*STORED, i1, i8, i16, i32)
"""Types that the body may compute with. f16 and bf16 are extended and rounded only, and change their sign bit."""

COMPARED = (i8, i16, i32)
"""Types of elements that the body may load besides, where they are only compared: masks, places and lengths."""

TRAPPING = (arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp, arith.FloorDivSIOp, arith.CeilDivSIOp)
"""Ops that have no place in a `tile.map`, whose lanes cannot fail one by one."""

Access = memref.LoadOp | memref.StoreOp

COMBINING: dict[type[Operation], str] = {
    arith.AddfOp: "addf",
    arith.MaximumfOp: "maximumf",
    arith.MinimumfOp: "minimumf",
    arith.MaxnumfOp: "maxnumf",
    arith.AddiOp: "addi",
}
EXTREMES = ("maximumf", "minimumf")
"""Kinds that pass NaNs on."""
IDENTITY = {"addf": 0.0, "maximumf": float("-inf"), "minimumf": float("inf"), "maxnumf": float("-inf"), "addi": 0}


@dataclass(frozen=True)
class Reduction:
    """A carried value: `argument` inside the loop, next `update`, which combines it with one other number."""

    argument: SSAValue
    update: arith.AddfOp | arith.MaximumfOp | arith.MinimumfOp | arith.MaxnumfOp | arith.AddiOp

    @property
    def kind(self) -> str:
        return COMBINING[type(self.update)]

    @property
    def number(self) -> SSAValue:
        """The number that is combined with the carried one."""
        (number,) = [operand for operand in self.update.operands if operand is not self.argument]
        return number


@dataclass
class VectorBody:
    """A loop from 0 by steps of 1 whose iterations can be done side by side."""

    loop: scf.ForOp
    extent: int
    stored: tuple[Attribute, ...]
    """The types of the elements that may be loaded and stored."""
    kept: list[Operation] = field(default_factory=list)
    """The index arithmetic, and the loads that are the same in every iteration."""
    moving: dict[Operation, int] = field(default_factory=dict)
    """The dimension in which each load or store of neighbours moves."""
    computed: list[Operation] = field(default_factory=list)
    """Ops on the numbers of one iteration."""
    reductions: list[Reduction] = field(default_factory=list)

    @property
    def block(self) -> Block:
        return self.loop.body.block

    @property
    def extremes(self) -> list[Reduction]:
        """The maxima and minima that pass NaNs on."""
        return [each for each in self.reductions if each.kind in EXTREMES]

    @property
    def variable(self) -> SSAValue:
        return self.block.args[0]


def is_marked(op: Operation) -> bool:
    """Returns whether `op` is a loop that asks for vectors."""
    hint = op.attributes.get(LOOP)
    return isinstance(op, scf.ForOp) and hint is not None and getattr(hint, "data", "") == "vectorize"


def extent_of(loop: scf.ForOp) -> int | None:
    """Returns how often a loop from 0 by steps of 1 runs, where that is known."""
    bounds = [constant_of(value) for value in (loop.lb, loop.ub, loop.step)]
    return bounds[1] if bounds[0] == 0 and bounds[2] == 1 else None


def vector_body(loop: scf.ForOp, beside_products: bool = False) -> VectorBody | None:
    """
    Returns the parts of the body of `loop`, or None where there is one that has no form on tiles.

    With `beside_products` it may load and store bytes that are made of floats or become such, or compute nothing. It
    may sum up bytes anywhere.
    """
    extent = extent_of(loop)
    if extent is None:
        return None
    sums = bool(loop.iter_args) and all(value.type == i32 for value in loop.iter_args)
    found = VectorBody(loop, extent, (*STORED, i8) if beside_products or sums else STORED)
    steps: dict[SSAValue, int] = {found.variable: 1}
    for op in found.block.ops:
        if isinstance(op, scf.YieldOp):
            continue
        if not _take(found, op, steps):
            return None
    if (
        not (found.computed or beside_products)
        or not _reductions(found)
        or not _no_hazards(found)
        or not _bytes_are_floats(found)
    ):
        return None
    return found


def _take(body: VectorBody, op: Operation, steps: dict[SSAValue, int]) -> bool:
    """
    Sorts `op` into its list by its kind. Returns False for an op of no known kind.

    `steps` says how far indices move per iteration.
    """
    if isinstance(op, memref.LoadOp | memref.StoreOp):
        return _take_access(body, op, steps)
    if op.regions or len(op.results) != 1 or op.dialect_name() not in ("arith", "math"):
        return False
    if isinstance(op.results[0].type, IndexType):
        step = index_step(op, steps, body.block)
        if step is None:
            return False
        steps[op.results[0]] = step
        body.kept.append(op)
        return True
    if not isinstance(op, TRAPPING) and op.operands and all(_is_same(body, value, steps) for value in op.operands):
        body.kept.append(op)
        return True
    if isinstance(op, TRAPPING) or any(
        value.type not in NUMBERS and not isinstance(op, arith.ConstantOp) for value in (*op.operands, *op.results)
    ):
        return False
    body.computed.append(op)
    return True


def _is_same(body: VectorBody, value: SSAValue, steps: dict[SSAValue, int]) -> bool:
    """Returns whether a value is the same in every iteration."""
    if isinstance(value.type, IndexType):
        return _step_of(value, steps, body.block) == 0
    if not isinstance(value.owner, Operation):
        return value.owner is not body.block
    return value.owner.parent is not body.block or value.owner in body.kept


def _step_of(value: SSAValue, steps: dict[SSAValue, int], block: Block) -> int | None:
    if value in steps:
        return steps[value]
    inside = value.owner is block or (isinstance(value.owner, Operation) and value.owner.parent is block)
    return None if inside else 0


def index_step(op: Operation, steps: dict[SSAValue, int], block: Block) -> int | None:
    """Returns how far an index moves per iteration, where that is the same everywhere."""
    if isinstance(op, arith.ConstantOp):
        return 0
    parts = [_step_of(operand, steps, block) for operand in op.operands]
    if not any(part != 0 for part in parts):
        return 0
    if len(parts) != 2 or parts[0] is None or parts[1] is None:
        return None
    if isinstance(op, arith.AddiOp):
        return parts[0] + parts[1]
    if isinstance(op, arith.SubiOp):
        return parts[0] - parts[1]
    if isinstance(op, arith.MuliOp):
        factors = [constant_of(operand) for operand in op.operands]
        if factors[1] is not None:
            return parts[0] * factors[1]
        if factors[0] is not None:
            return parts[1] * factors[0]
    return None


def _take_access(body: VectorBody, op: Access, steps: dict[SSAValue, int]) -> bool:
    type_ = op.memref.type
    moves = [_step_of(index, steps, body.block) for index in op.indices]
    along = [dimension for dimension, step in enumerate(moves) if step != 0]
    if not along and isinstance(op, memref.LoadOp):
        body.kept.append(op)
        return True
    if not isinstance(type_, MemRefType) or not (type_.element_type in body.stored or _is_compared(op, type_)):
        return False
    plain = isinstance(type_.layout, NoneAttr)
    if not plain or along != [len(moves) - 1] or moves[-1] != 1:
        return False
    body.moving[op] = along[0]
    return True


def _is_compared(op: Access, type_: MemRefType) -> bool:
    """Returns whether integers are loaded and only compared."""
    return (
        isinstance(op, memref.LoadOp)
        and type_.element_type in COMPARED
        and all(isinstance(use.operation, arith.CmpiOp) for use in op.results[0].uses)
    )


def _reductions(body: VectorBody) -> bool:
    """
    Finds what becomes of the carried values.

    Returns False where that is no sum, maximum or minimum that may be regrouped.
    """
    last = body.block.last_op
    assert isinstance(last, scf.YieldOp)
    for argument, value in zip(body.block.args[1:], last.arguments, strict=True):
        update = value.owner
        if not isinstance(update, arith.AddfOp | arith.MaximumfOp | arith.MinimumfOp | arith.MaxnumfOp | arith.AddiOp):
            return False
        if isinstance(update, arith.AddfOp) and FastMathFlag.REASSOC not in update.fastmath.data:
            return False
        if isinstance(update, arith.AddiOp) and update.overflow_flags != arith.IntegerOverflowAttr("none"):
            return False  # Parts of a sum may overflow where the whole does not.
        others = [operand for operand in update.operands if operand is not argument]
        if len(others) != 1 or len(list(argument.uses)) != 1 or len(list(value.uses)) != 1:
            return False
        if update not in body.computed or argument.type != (i32 if isinstance(update, arith.AddiOp) else f32):
            return False
        body.reductions.append(Reduction(argument, update))
    return True


def _bytes_are_floats(body: VectorBody) -> bool:
    """Returns whether bytes that are loaded or stored are copied as they are or summed up, or are floats in between."""
    if all(isinstance(op, arith.ConstantOp) for op in body.computed) or any(r.kind == "addi" for r in body.reductions):
        return True
    if not any(op.memref.type.element_type == i8 for op in body.moving):  # pyright: ignore[reportAttributeAccessIssue]
        return True
    return any(value.type == f32 for op in body.computed for value in (*op.operands, *op.results))


def _no_hazards(body: VectorBody) -> bool:
    """Returns whether a buffer that is stored is read, if at all, only at the index of the store."""
    stores = [op for op in body.moving if isinstance(op, memref.StoreOp)]
    if not stores and not body.reductions:
        return False
    for store in stores:
        for op in (*body.moving, *body.kept):
            if not isinstance(op, memref.LoadOp | memref.StoreOp) or op is store or op.memref is not store.memref:
                continue
            if not same_indices(op.indices, store.indices):
                return False
    return True


def same_indices(left: Sequence[SSAValue], right: Sequence[SSAValue]) -> bool:
    """Returns whether indices are the same values, or constants of the same value."""
    return all(
        one is other or (constant_of(one) is not None and constant_of(one) == constant_of(other))
        for one, other in zip(left, right, strict=True)
    )
