"""
Softmax with exponentials that may be some more units off: pass `relax-exponentials`.

Before: a block multiplies scores by a constant, others take the maximum of a row and `exp` of the differences to it.
After: the scores stay as they are. The differences are multiplied, and `exp` has the flag `afn`.
"""

from __future__ import annotations

from math import inf

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import FloatAttr, MemRefType, ModuleOp, f32
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.reductions import accumulators
from ...core.ir.literals import constant_of, float_of
from ...core.ir.walk import ops_of
from ...core.passes.applications import allowed
from ...core.passes.base import StepwellPass
from ...dialects import tensor_loop
from ...lazy_dataclass import dataclass
from ...schedule.primitives.nests import covers_axes
from ...schedule.rows.nan import Exponentials, exponentials_of
from .inline_blocks import Accessor, accessors, erase

APPROXIMATE = arith.FastMathFlagsAttr([FastMathFlag.APPROX_FUNC])


@dataclass(frozen=True)
class RelaxExponentialsPass(StepwellPass):
    """
    Lets the exponentials of a softmax be approximate, and multiplies their arguments in place of all scores before.

    Before:

        tensor_loop.grid (%i, %k) in (64, 512) { <%s[%vi, %vk] = %s[%vi, %vk] * 0.125> }
        tensor_loop.grid (%i, %k) in (64, 512) { <%m[%vi] = max(%m[%vi], %s[%vi, %vk])> }
        tensor_loop.grid (%i, %k) in (64, 512) { <%e[%vi, %vk] = exp(%s[%vi, %vk] - %m[%vi])> }

    After:

        tensor_loop.grid (%i, %k) in (64, 512) { <%m[%vi] = max(%m[%vi], %s[%vi, %vk])> }
        tensor_loop.grid (%i, %k) in (64, 512) { <%e[%vi, %vk] = exp((%s[%vi, %vk] - %m[%vi]) * 0.125)> }  // afn

    The difference to the maximum is rounded, which is an error of up to |x| 2^-24 of `exp(x)`. So there is no point in
    exponentials that are much more exact than that. `expand-math` computes those with `afn` to 2 + |x| / 4 units, and
    takes a factor of the argument into its constants. `strict` leaves the pass out.

    The factor is positive, so it changes no order. It moves where the scaled scores are a temporary of which only the
    maximum is taken before the exponential, and where nothing needs them after it. Exponentials are those of which the
    maximum may pass over NaNs (`schedule/rows/nan.py`): they are summed up and scaled by a number from that sum.
    """

    name = "relax-exponentials"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, tensor_loop.FuncOp) and allowed("loops", self.name, function):
                for block in ops_of(function, tensor_loop.BlockOp):
                    for found in _exponentials(block):
                        self._relax(block, found)

    def _relax(self, block: tensor_loop.BlockOp, found: Exponentials) -> None:
        if found.op.result.type != f32:
            return
        found.op.properties["fastmath"] = APPROXIMATE
        self.count("exponentials relaxed")
        scaling = _scaling(block, found)
        if scaling is not None:
            _move(scaling, found)
            self.count("factors moved behind maxima")


def _exponentials(block: tensor_loop.BlockOp) -> list[Exponentials]:
    """Returns the exponentials of numbers less the maxima that `block` takes."""
    maxima = [each for each in accumulators(block) or () if isinstance(each.store.value.owner, arith.MaximumfOp)]
    found = [exponentials_of(block, each) for each in maxima if len(each.loads) == 1]
    return [each for each in found if each is not None]


@dataclass(frozen=True)
class _Scaling:
    """A kernel that multiplies all elements of a buffer by a constant."""

    kernel: Operation
    factor: float


def _scaling(block: tensor_loop.BlockOp, found: Exponentials) -> _Scaling | None:
    """Returns the kernel right before `block` that scales what the exponentials are taken of, if it may move."""
    load = found.difference.lhs.owner
    if not isinstance(load, memref.LoadOp) or not isinstance(load.memref.owner, tensor_loop.AllocOp):
        return None
    if [use.operation for use in found.difference.result.uses] != [found.op]:
        return None
    touching = accessors(load.memref) or []
    kernels = [each.block for each in touching]
    row = load.parent_op()
    if block not in kernels or len({*kernels}) != len(kernels) or kernels.index(block) == 0:
        return None
    place = kernels.index(block)
    after = touching[place + 1 :]
    if not after or after[0].block is not row or len(touching[place].loads) != 1 or len(after[0].loads) != 1:
        return None
    if touching[place].stores or (not after[0].stores and len(after) > 1):
        return None
    factor = _factor(touching[place - 1], load.memref)
    return None if factor is None else _Scaling(touching[place - 1].nest, factor)


def _factor(accessor: Accessor, buffer: SSAValue) -> float | None:
    """Returns the positive constant that a block multiplies all elements of `buffer` by, and does nothing else."""
    block = accessor.block
    if block.has_reduce_axes or block.constraints or not covers_axes(block) or block.init is not None:
        return None
    if len(accessor.loads) != 1 or len(accessor.stores) != 1 or len(ops_of(accessor.nest, tensor_loop.BlockOp)) != 1:
        return None
    (load,), (store,) = accessor.loads, accessor.stores
    product = store.value.owner
    if len(ops_of(block, memref.LoadOp)) != 1 or len(ops_of(block, memref.StoreOp)) != 1:
        return None
    if not isinstance(product, arith.MulfOp) or not _is_whole(block, store) or [*load.indices] != [*store.indices]:
        return None
    others = [each for each in product.operands if each is not load.res]
    factor = float_of(others[0]) if len(others) == 1 else None
    return factor if factor is not None and 0.0 < factor < inf else None


def _is_whole(block: tensor_loop.BlockOp, store: memref.StoreOp) -> bool:
    """Returns whether a block stores every element of a buffer once."""
    type_ = store.memref.type
    assert isinstance(type_, MemRefType)
    axes = dict(zip(block.axes, block.extents, strict=True))
    moving = [index for index in store.indices if index in axes]
    return len({*moving}) == len(moving) == len(axes) and all(
        size == 1 if constant_of(index) == 0 else axes.get(index) == size  # pyright: ignore[reportArgumentType]
        for index, size in zip(store.indices, type_.get_shape(), strict=True)
    )


def _move(scaling: _Scaling, found: Exponentials) -> None:
    """Multiplies the arguments of the exponentials, and erases the kernel that scales before."""
    factor = arith.ConstantOp(FloatAttr(scaling.factor, f32))
    product = arith.MulfOp(found.difference.result, factor.result)
    for op in (factor, product):
        op.location = found.op.location
    Rewriter.insert_op([factor, product], InsertPoint.before(found.op))
    found.op.operands[0] = product.result
    erase(scaling.kernel)
