"""
The checks of reads that are not proven to come after writes: part of `guard-accesses` and `lower-loops-to-scf`.

A buffer that holds nothing at first gets a shadow, a buffer of the same shape with integers as wide as its elements.
The shadow starts as zeros. A write sets its elements in the shadow to -1, and a read asserts that they are. At its end
the function asserts that its outputs are written as a whole. Views of a buffer have views of its shadow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xdsl.dialects import arith, cf, memref, scf, vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, IntegerType, MemRefType, NoneAttr, UnitAttr
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from ...analysis.ranges.coverage import Unproven, unproven
from ...analysis.ranges.events import ALLOCATIONS, SILENT, VIEWS, called_buffers, lanes_of
from ...analysis.ranges.races import root_of
from ...analysis.ranges.spans import Number, Span, touches
from ...analysis.ranges.values import element_bytes
from ...core.ir.cloning import clone_op
from ...core.ir.walk import walk
from ...core.messages.diagnostics import emit_remark, fail, remarks_wanted
from ...core.passes.base import count
from ...core.roles import UNCHECKED, WRITTEN
from ...dialects.tensor_loop import AllocOp, BlockOp, CallOp, FuncOp, LoopOp
from ...dialects.traits import AccessesBoxes
from ...lazy_dataclass import dataclass

NEVER = "was never written"


def guard_reads(function: FuncOp) -> None:
    """
    Puts checks into a loop function where its reads, or its outputs, are not proven to be written.

    Marks the function as `stepwell.written`. One with the mark is left as it is. Tells by a remark what is checked.
    """
    if WRITTEN in function.attributes:
        return
    found = unproven(function)
    function.attributes[WRITTEN] = UnitAttr()
    if not found.reads and not found.outputs:
        return
    _Shadows(function, found).insert()
    count("reads checked", len(found.reads))
    count("outputs checked", len(found.outputs))
    if remarks_wanted():
        what = f"{_counted(len(found.reads), 'read')} and {_counted(len(found.outputs), 'output')}"
        emit_remark(function, f"@{function.sym_name.data}: {what} checked for elements that nothing has written")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


class _Shadows:
    """Puts the shadows of buffers and the checks into one function."""

    def __init__(self, function: FuncOp, found: Unproven):
        self.function, self.found = function, found
        self.roots = dict.fromkeys([*(read.root for read in found.reads), *found.outputs])
        self.reads = {(read.op, read.buffer) for read in found.reads}
        self.shadows: dict[SSAValue, SSAValue] = {}
        """The shadow of each buffer and view."""

    def insert(self) -> None:
        ops = walk(self.function)
        for root in self.roots:
            self._add_shadow(root)
        for op in ops:
            if isinstance(op, VIEWS):
                self._add_view(op)
        changed = dict.fromkeys(block for op in ops if self._guard(op) for block in _blocks_around(op))
        end = self.function.body.block.last_op
        assert end is not None
        for output in self.found.outputs:
            message = f"tensor_loop.func: an element of {_name(output)} {NEVER}"
            code = _Code(InsertPoint.before(end), self.function)
            code.check(self.shadows[output], code.whole(self.shadows[output]), message)
        for block in changed:
            block.refresh_regions()

    # Shadows

    def _add_shadow(self, root: SSAValue) -> None:
        """Makes the shadow of a buffer, filled with zeros."""
        kind = root.type
        assert isinstance(kind, MemRefType)
        if isinstance(root, BlockArgument):
            first = self.function.body.block.first_op
            assert first is not None
            code = _Code(InsertPoint.before(first), self.function)
            sizes = [code.dim(root, at) for at, size in enumerate(kind.get_shape()) if size == DYNAMIC_INDEX]
            code.point = InsertPoint.before(first)
        else:
            assert isinstance(root.owner, ALLOCATIONS)
            code, sizes = _Code(InsertPoint.after(root.owner), root.owner), list(root.owner.dynamic_sizes)
        if not isinstance(kind.layout, NoneAttr) and any(isinstance(use.operation, VIEWS) for use in root.uses):
            fail(
                code.source,
                f"{_name(root)} is not proven to be written before it is read, nor can views of it be checked",
            )
        shadow_type = _shadow_type(kind, keep_layout=False)
        if isinstance(root.owner, memref.AllocOp):
            shadow = code.add(memref.AllocOp(sizes, [], shadow_type))
            for use in list(root.uses):
                if isinstance(use.operation, memref.DeallocOp):
                    _Code(InsertPoint.before(use.operation), use.operation).place(memref.DeallocOp.get(shadow))
        elif isinstance(root.owner, memref.AllocaOp):
            shadow = code.add(memref.AllocaOp.get(shadow_type.element_type, None, kind.get_shape(), sizes))
        else:
            shadow = code.add(AllocOp(shadow_type, sizes))
        shadow.name_hint = f"{root.name_hint}_written" if root.name_hint else "written"
        self.shadows[root] = shadow
        code.set(shadow, code.whole(shadow), 0)

    def _add_view(self, op: Operation) -> None:
        """Makes the view of a shadow that an op makes of a buffer."""
        shadow = self.shadows.get(op.operands[0])
        if shadow is None:
            return
        if isinstance(op, memref.AssumeAlignmentOp):
            self.shadows[op.results[0]] = shadow
            return
        view = clone_op(op, {op.operands[0]: shadow})
        kind = op.results[0].type
        assert isinstance(kind, MemRefType)
        changed = type(op).create(
            operands=view.operands,
            result_types=[_shadow_type(kind, keep_layout=True)],
            properties=dict(view.properties),
            attributes=dict(view.attributes),
        )
        _Code(InsertPoint.after(op), op).place(changed)
        self.shadows[op.results[0]] = changed.results[0]

    # Accesses

    def _guard(self, op: Operation) -> bool:
        """Puts the code for one op around it. Returns whether there is any."""
        if isinstance(op, (*SILENT, *ALLOCATIONS, BlockOp, LoopOp, FuncOp)):
            return False
        if not any(root_of(each) in self.roots for each in op.operands if isinstance(each.type, MemRefType)):
            return False
        if isinstance(op, CallOp):
            return self._guard_call(op)
        code = _Code(InsertPoint.after(op), op)
        if isinstance(op, AccessesBoxes):
            self._guard_tile(op, code)
            return True
        touched = touches(op)
        if not touched:
            self._guard_unknown(op, code)
            return True
        for touch in sorted(touched, key=lambda touch: touch.is_store):
            if (shadow := self.shadows.get(touch.buffer)) is None:
                continue
            part = code.whole(shadow) if isinstance(op, memref.CopyOp) else code.part(touch.spans)
            if (op, touch.buffer) in self.reads and (not touch.is_store or isinstance(op, memref.AtomicRMWOp)):
                code.check(shadow, part, f"{op.name}: element {NEVER}")
            if touch.is_store:
                code.set(shadow, part, -1)
        return True

    def _guard_tile(self, op: AccessesBoxes, code: _Code) -> None:
        assert isinstance(op, Operation)
        for each in op.elements():
            shadow = self.shadows.get(each.buffer)
            if shadow is not None and each.is_store:
                code.set(shadow, Part(each.indices, each.moves), -1)
            elif shadow is not None and (op, each.buffer) in self.reads:
                code.check(shadow, Part(each.indices, each.moves), f"{op.name}: element {NEVER}")

    def _guard_unknown(self, op: Operation, code: _Code) -> None:
        """What an op of which nothing is known is given counts as written."""
        if op.has_trait(IsTerminator) or any(isinstance(each.type, MemRefType) for each in op.results):
            fail(op, "what is read through its buffers is not proven to be written, and cannot be checked")
        for buffer in dict.fromkeys(op.operands):
            if (shadow := self.shadows.get(buffer)) is not None:
                code.set(shadow, code.whole(shadow), -1)

    def _guard_call(self, op: CallOp) -> bool:
        before, after = _Code(InsertPoint.before(op), op), _Code(InsertPoint.after(op), op)
        for buffer, kind in called_buffers(op):
            shadow = self.shadows.get(buffer)
            if shadow is None:
                continue
            if kind != "read":
                after.set(shadow, after.whole(shadow), -1 if kind == "write" else 0)
            elif (op, buffer) in self.reads:
                before.check(shadow, before.whole(shadow), f"{op.name}: an element of {_name(buffer)} {NEVER}")
        return True


def _blocks_around(op: Operation) -> Iterator[BlockOp]:
    current = op.parent_op()
    while current is not None:
        if isinstance(current, BlockOp):
            yield current
        current = current.parent_op()


def _name(buffer: SSAValue) -> str:
    return f"%{buffer.name_hint}" if buffer.name_hint else "a buffer"


def _shadow_type(kind: MemRefType, keep_layout: bool) -> MemRefType:
    element = IntegerType(8 * element_bytes(kind))
    return MemRefType(element, kind.get_shape(), kind.layout if keep_layout else NoneAttr(), kind.memory_space)


@dataclass(frozen=True)
class Part:
    """The elements `indices + sum of m * step * e(dimension)` for each of the `moves` (dimension, step, count)."""

    indices: Sequence[Number]
    moves: Sequence[tuple[int, int, Number]]


_Body = Callable[["_Code", list[SSAValue]], None]
"""Makes the code for one element."""


class _Code:
    """Makes ops at one place, for an op that is there."""

    def __init__(self, point: InsertPoint, source: Operation):
        self.point, self.source = point, source

    def place(self, op: Operation) -> None:
        op.location = self.source.location
        if isinstance(op, memref.LoadOp | memref.StoreOp):  # The access beside it is checked, for the same indices.
            op.attributes[UNCHECKED] = UnitAttr()
        Rewriter.insert_op(op, self.point)

    def add(self, op: Operation) -> SSAValue:
        self.place(op)
        return op.results[0]

    def number(self, value: Number) -> SSAValue:
        return self.add(arith.ConstantOp(IntegerAttr(value, IndexType()))) if isinstance(value, int) else value

    def dim(self, buffer: SSAValue, dimension: int) -> SSAValue:
        return self.add(memref.DimOp(buffer, self.number(dimension)))

    # Elements

    def whole(self, buffer: SSAValue) -> Part:
        """Returns all elements of a buffer."""
        kind = buffer.type
        assert isinstance(kind, MemRefType)
        sizes = enumerate(kind.get_shape())
        moves = [(at, 1, self.dim(buffer, at) if size == DYNAMIC_INDEX else size) for at, size in sizes]
        return Part([0] * len(moves), moves)

    def part(self, spans: Sequence[Span]) -> Part:
        """Returns what an access touches."""
        self._refuse_masks()
        return Part([span.first for span in spans], [(at, 1, self._length(span)) for at, span in enumerate(spans)])

    def _length(self, span: Span) -> Number:
        if span.open_end:
            rest = self.add(arith.SubiOp(self.dim(span.buffer, span.dimension), self.number(span.first)))
            return self.add(arith.MinSIOp(rest, self.number(lanes_of(self.source, span))))
        if span.lanes is None or isinstance(span.length, int):
            return span.length
        positive = self.add(arith.MaxSIOp(span.length, self.number(0)))
        return self.add(arith.MinSIOp(positive, self.number(span.lanes)))

    def _refuse_masks(self) -> None:
        mask = getattr(self.source, "mask", None)
        if mask is not None and not isinstance(mask.owner, vector.CreateMaskOp):
            fail(self.source, "what it touches is not proven to be written, and its mask cannot be checked")

    def set(self, shadow: SSAValue, part: Part, value: int) -> None:
        """Sets the elements of a part of a shadow."""

        def body(code: _Code, indices: list[SSAValue]) -> None:
            code.place(memref.StoreOp.get(code.constant(shadow, value), shadow, indices))

        self._each(part, body)

    def check(self, shadow: SSAValue, part: Part, message: str) -> None:
        """Asserts that the elements of a part have been written."""

        def body(code: _Code, indices: list[SSAValue]) -> None:
            found = code.add(memref.LoadOp.get(shadow, indices))
            written = code.add(arith.CmpiOp(found, code.constant(shadow, -1), "eq"))
            code.place(cf.AssertOp(written, message))

        self._each(part, body)

    def constant(self, shadow: SSAValue, value: int) -> SSAValue:
        kind = shadow.type
        assert isinstance(kind, MemRefType) and isinstance(kind.element_type, IntegerType)
        return self.add(arith.ConstantOp(IntegerAttr(value, kind.element_type)))

    def _each(self, part: Part, body: _Body) -> None:
        """Makes loops over a part around a body, none for moves that stay."""
        moves = [move for move in part.moves if move[2] != 1]
        if not moves:
            body(self, [self.number(each) for each in part.indices])
            return
        dimension, step, length = moves[0]
        zero, end, one = self.number(0), self.number(length), self.number(1)
        block, stop = Block(arg_types=[IndexType()]), scf.YieldOp()
        stop.location = self.source.location
        block.add_op(stop)
        self.place(scf.ForOp(zero, end, one, [], Region(block)))
        inner, indices = _Code(InsertPoint.before(stop), self.source), list(part.indices)
        moved = block.args[0] if step == 1 else inner.add(arith.MuliOp(block.args[0], inner.number(step)))
        first = indices[dimension]
        indices[dimension] = moved if first == 0 else inner.add(arith.AddiOp(inner.number(first), moved))
        inner._each(Part(indices, moves[1:]), body)
