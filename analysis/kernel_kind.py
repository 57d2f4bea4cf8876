"""
Tells what fusion may do with a call of a loop function, from the blocks of that function.

It asks the same questions as `op_kind.py`, of axes, loads and stores instead of tensor expressions. A kernel made from
an op has the kind of the op (`docs/fusion.md`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ..core.ir.walk import ops_of, walk
from ..dialects.tensor_loop import BlockOp, FuncOp
from .access_regions import Access, body_accesses, is_inside, shape_of
from .kinds import OPAQUE_FACTS, OpFacts, OpKind, kind_of_stages
from .reduced_rows import Rows

_SUMS = frozenset({"arith.addf", "arith.addi"})
_PRODUCTS = frozenset({"arith.mulf", "arith.muli"})
_CASTS = ("arith.ext", "arith.trunc", "arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui")


def facts_of_kernel(kernel: Operation | None) -> OpFacts:
    """
    Returns the kind and the rows of what a loop function computes.

    The kind is `OPAQUE` when the function may fail, reduces and has several outputs, or holds anything but blocks that
    compute each element of a buffer once.
    """
    if not isinstance(kernel, FuncOp) or not kernel.outputs:
        return OPAQUE_FACTS
    if any(op.name == "cf.assert" for op in walk(kernel)):
        return OPAQUE_FACTS
    blocks = ops_of(kernel, BlockOp)
    stages = [_Stage(block) for block in blocks]
    if not stages or _moves_nothing(stages, kernel):
        return OPAQUE_FACTS
    rows = {stage.rows() for stage in stages if stage.block.has_reduce_axes}
    kind = kind_of_stages([stage.kind() for stage in stages], [shape_of(output) for output in kernel.outputs])
    return OPAQUE_FACTS if kind is OpKind.OPAQUE else OpFacts(kind, rows.pop() if len(rows) == 1 else None)


def _moves_nothing(stages: Sequence[_Stage], kernel: FuncOp) -> bool:
    """Returns whether no block sets one of the outputs, so that the blocks do not explain the kernel."""
    written = {buffer for stage in stages for buffer in stage.written}
    return any(output not in written for output in kernel.outputs)


class _Stage:
    """One block with its accesses outside the init."""

    def __init__(self, block: BlockOp):
        self.block = block
        found = body_accesses(block.body.block)
        inside = None if block.init is None else block.init.body.block
        self.accesses = [each for each in found.accesses if inside is None or not is_inside(each.op, inside)]
        self.opaque = bool(found.opaque) or bool(block.constraints)
        self.stores = [access for access in self.accesses if access.is_store]
        self.written = {access.buffer for access in self.stores}
        self.loads = [each for each in self.accesses if not each.is_store and each.buffer not in self.written]

    def kind(self) -> OpKind:
        spatial = [dim for dim, kind in enumerate(self.block.kinds) if kind == "spatial"]
        in_place = all([_dim(index) for index in store.indices] == spatial for store in self.stores)
        if self.opaque or not self.stores or not in_place:
            return OpKind.OPAQUE
        if self.block.has_reduce_axes:
            return self._kind_of_reduction()
        if len(self.stores) > 1:
            return OpKind.OPAQUE
        kinds = {self._kind_of_load(load) for load in self.loads}
        if OpKind.INJECTIVE in kinds:
            return OpKind.INJECTIVE
        return OpKind.BROADCAST if kinds == {OpKind.BROADCAST} else OpKind.ELEMENTWISE

    def _kind_of_load(self, load: Access) -> OpKind:
        """Returns how the place of an element that is read relates to the place of the element that is computed."""
        extents = self.block.extents
        wanted = [dim for dim, extent in enumerate(extents) if extent != 1]
        read: list[int] = []
        for index, size in zip(load.indices, shape_of(load.buffer), strict=True):
            if size == 1:
                continue
            dim = _dim(index)
            if dim not in wanted or (isinstance(extents[dim], int) and size >= 0 and extents[dim] != size):
                return OpKind.INJECTIVE
            read.append(dim)
        if read == wanted:
            return OpKind.ELEMENTWISE
        places = [wanted.index(dim) for dim in read]
        in_order = all(a < b for a, b in zip(places, places[1:], strict=False))
        return OpKind.BROADCAST if in_order else OpKind.INJECTIVE

    def _kind_of_reduction(self) -> OpKind:
        if any(self._axes_of(*load.op.indices) is None for load in self.loads):
            return OpKind.OPAQUE
        if self._is_product_sum():
            return OpKind.OUT_FUSABLE
        reduced = self._reduce_dims()
        for load in self.loads:
            for index, value in zip(load.indices, load.op.indices, strict=True):
                if _dim(index) < 0 and (self._axes_of(value) or set()) & reduced:
                    return OpKind.OUT_FUSABLE
        return OpKind.REDUCTION

    def _axes_of(self, *indices: SSAValue) -> set[int] | None:
        """Returns the axes that choose the element that is loaded, or `None` when loaded elements choose it too."""
        pending, seen, found = list(indices), set[SSAValue](), set[int]()
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            if isinstance(value.owner, memref.LoadOp):
                return None
            if isinstance(value.owner, Operation):
                pending += value.owner.operands
            elif value in self.block.axes:
                found.add(self.block.axes.index(value))
        return found

    def _reduce_dims(self) -> set[int]:
        return {dim for dim, kind in enumerate(self.block.kinds) if kind == "reduce"}

    def _is_product_sum(self) -> bool:
        """Returns whether the block adds products of elements of two tensors to its one element, apart from casts."""
        if len(self.stores) != 1:
            return False
        total = _without_casts(self.stores[0].op.value)  # pyright: ignore[reportAttributeAccessIssue]
        if not isinstance(total.owner, Operation) or total.owner.name not in _SUMS:
            return False
        accumulators = {each.op for each in self.accesses if not each.is_store and each.buffer in self.written}
        values = [_without_casts(operand) for operand in total.owner.operands]
        products = [value for value in values if value.owner not in accumulators]
        if len(products) != 1 or not isinstance(products[0].owner, Operation):
            return False
        if products[0].owner.name not in _PRODUCTS:
            return False
        lhs, rhs = (_without_casts(operand) for operand in products[0].owner.operands)
        return isinstance(lhs.owner, memref.LoadOp) and isinstance(rhs.owner, memref.LoadOp) and lhs != rhs

    def rows(self) -> Rows | None:
        """Returns the rows that the block reduces, or `None` when its loads do not read one element per iteration."""
        reduced = self._reduce_dims()
        if any(self._axes_of(*load.op.indices) is None for load in self.loads):
            return None
        places: dict[tuple[AffineExpr | None, ...], Access] = {}
        for load in self.loads:
            if (self._axes_of(*load.op.indices) or set()) & reduced:
                places[load.indices] = load
        if len(places) != 1:
            return None
        (load,) = places.values()
        indices = [
            (_dim(index), size) for index, size in zip(load.indices, shape_of(load.buffer), strict=True) if size != 1
        ]
        if any(dim < 0 for dim, _ in indices):
            return None
        return Rows(
            tuple(size for _, size in indices),
            tuple(number for number, (dim, _) in enumerate(indices) if dim in reduced),
        )


def _dim(index: AffineExpr | None) -> int:
    """Returns the axis that an index is, or -1 when it is anything else."""
    return index.position if isinstance(index, AffineDimExpr) else -1


def _without_casts(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, Operation) and value.owner.name.startswith(_CASTS):
        value = value.owner.operands[0]
    return value


__all__ = ["facts_of_kernel"]
