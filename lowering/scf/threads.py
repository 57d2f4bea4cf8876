"""The pass `outline-parallel-loops`."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.work import GRAIN, chunk_of, grain_of, nanoseconds_of_iteration, trip_count
from ...core.ir.cloning import clone_op
from ...core.ir.literals import constant_of
from ...core.ir.symbols import fresh_name
from ...core.ir.walk import ops_of, walk
from ...core.messages.origins import inherit
from ...core.passes.applications import allowed
from ...core.passes.base import StepwellPass
from ...core.roles import CHUNK, NOALIAS, PARALLEL, TASK
from ...lazy_dataclass import dataclass
from .collapse import collapsed


@dataclass(frozen=True)
class OutlineParallelLoopsPass(StepwellPass):
    """
    Makes the body of each parallel loop a function over a range of iterations, called in chunks by the pool of threads.

    Before:

        func.func @double(%x: memref<4096x64xf32>, %y: memref<4096x64xf32>) {
          scf.for %i = %c0 to %c4096 step %c1 { ... } {stepwell.parallel}
        }

    After:

        func.func @double(%x: memref<4096x64xf32>, %y: memref<4096x64xf32>) {
          func.call @double_part(%c0, %c4096, %x, %y) {stepwell.chunk = 1024 : i64}
        }
        func.func private @double_part(%lower: index, %upper: index, %x: ..., %y: ...) attributes {stepwell.task} {
          scf.for %i = %lower to %upper step %c1 { ... }
        }

    A chunk is the iterations that take about one part in 16 of the loop, at least 4000 and at most `grain` nanoseconds,
    or `stepwell.grain` of the function, by an estimate of the work. The number of threads does not matter, so results
    cannot depend on it. A loop stays serial when it makes less than two chunks, carries values, has unknown bounds, or
    uses a value from outside that no frame can hold (a vector). Of nested loops the outermost is taken. If it has less
    than 16 iterations, it becomes one loop with a marked loop that is all that it holds. A stack buffer that only the
    loop uses becomes a buffer of each chunk.
    """

    name = "outline-parallel-loops"

    grain: int = GRAIN

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        taken = {name.data for each in op.ops if isinstance(name := each.get_attr_or_prop("sym_name"), StringAttr)}
        for function in [each for each in op.ops if isinstance(each, func.FuncOp)]:
            for loop in list(_parallel_loops(function)):
                if not allowed("loops", self.name, loop):
                    continue
                if (part := _Outlining(function, collapsed(loop), self.grain).run(taken)) is None:
                    self.count("loops left serial")
                    continue
                Rewriter.insert_op(part, InsertPoint.after(function))
                self.count("loops outlined")
        inherit(op)


def _parallel_loops(function: func.FuncOp) -> Iterator[scf.ForOp]:
    """Yields the marked loops that are in no marked one. The marks of the others go when the next one is wanted."""
    marked = [op for op in ops_of(function, scf.ForOp) if PARALLEL in op.attributes]
    outer: list[scf.ForOp] = []
    for op in marked:  # A walk meets the ops inside a loop right after it.
        if not outer or not outer[-1].is_ancestor(op):
            outer.append(op)
    yield from outer


class _Outlining:
    """One loop on its way into a function."""

    def __init__(self, function: func.FuncOp, loop: scf.ForOp, grain: float):
        self.function = function
        self.loop = loop
        self.grain = grain
        """The most nanoseconds of a chunk."""
        self.captured: list[SSAValue] = []
        self.copied: list[Operation] = []
        self.private: list[memref.AllocaOp] = []

    def run(self, taken: set[str]) -> func.FuncOp | None:
        """Makes the loop a call and returns the function that it calls, or None when the loop stays."""
        trips, step = trip_count(self.loop), constant_of(self.loop.step)
        if trips is None or step is None or self.loop.iter_args:
            return None
        each = nanoseconds_of_iteration(self.loop)
        chunk = chunk_of(trips, each, grain_of(self.function, trips * each, self.grain))
        if chunk >= trips or not self._sort_outer_values():
            return None
        name = fresh_name(f"{self.function.sym_name.data}_part", taken)
        lower, upper = self.loop.lb, self.loop.ub
        captured = list(self.captured)
        call = func.CallOp(name, [lower, upper, *captured], [])
        call.attributes[CHUNK] = IntegerAttr(chunk * step, i64)
        call.location = self.loop.location
        Rewriter.insert_op(call, InsertPoint.before(self.loop))
        return self._part(name, captured)

    def _sort_outer_values(self) -> bool:
        """Decides for each value from outside how the function gets it. Returns False when one cannot get there."""
        values: dict[SSAValue, None] = {}
        ops = walk(self.loop.body)
        inside = set(ops)
        numbers = {id(op) for op in ops}  # The hash of an op or a value is a call of Python code.
        for op in ops:
            for operand in op.operands:
                if not _is_inside(operand, self.loop, numbers):
                    values[operand] = None
        if constant_of(self.loop.step) is not None:
            values[self.loop.step] = None
        for value in values:
            owner = value.owner
            if isinstance(owner, arith.ConstantOp | memref.GetGlobalOp):
                self.copied.append(owner)
            elif isinstance(owner, memref.AllocaOp) and all(use.operation in inside for use in value.uses):
                self.private.append(owner)
            elif _fits_frame(value.type):
                self.captured.append(value)
            else:
                return False
        return True

    def _part(self, name: str, captured: list[SSAValue]) -> func.FuncOp:
        types: list[Attribute] = [IndexType(), IndexType(), *(value.type for value in captured)]
        block = Block(arg_types=types)
        for argument, hint in zip(block.args, ["lower", "upper", *(v.name_hint for v in captured)], strict=True):
            argument.name_hint = hint
        new_of: dict[SSAValue, SSAValue] = dict(zip(captured, block.args[2:], strict=True))
        for op in self.copied:
            copy = clone_op(op)
            copy.results[0].name_hint = op.results[0].name_hint
            block.add_op(copy)
            new_of[op.results[0]] = copy.results[0]
        for alloca in self.private:
            alloca.detach()
            block.add_op(alloca)
        loop = self.loop
        step = new_of[loop.step]
        loop.detach()
        loop.operands = (block.args[0], block.args[1], step)
        by_number = {id(value): new for value, new in new_of.items()}
        for op in walk(loop.body):
            for index, operand in enumerate(op.operands):
                if (new := by_number.get(id(operand))) is not None:
                    op.operands[index] = new
        back = func.ReturnOp()
        back.location = loop.location
        block.add_ops([loop, back])
        return self._function(name, block, captured)

    def _function(self, name: str, block: Block, captured: list[SSAValue]) -> func.FuncOp:
        part = func.FuncOp(name, ([a.type for a in block.args], ()), Region(block), "private")
        part.location = self.function.location
        part.attributes[TASK] = UnitAttr()
        if NOALIAS in self.function.attributes and all(map(_is_buffer_of_its_own, captured)):
            part.attributes[NOALIAS] = UnitAttr()
        if self.function.arg_attrs is not None:
            known = self.function.arg_attrs.data
            attributes = [
                _for_llvm(known[value.index])
                if isinstance(value, BlockArgument) and value.block is self.function.body.block
                else DictionaryAttr({})
                for value in captured
            ]
            part.properties["arg_attrs"] = ArrayAttr([DictionaryAttr({}), DictionaryAttr({}), *attributes])
        return part


def _for_llvm(attributes: DictionaryAttr) -> DictionaryAttr:
    """
    Keeps the attributes of an argument that LLVM may rely on, which hold in the part too. The role of the argument does
    not.
    """
    return DictionaryAttr({name: each for name, each in attributes.data.items() if name.startswith("llvm.")})


def _is_inside(value: SSAValue, loop: scf.ForOp, inside: set[int]) -> bool:
    """Returns whether `value` is made in the loop, whose ops have the numbers `inside`."""
    if type(value) is BlockArgument:
        parent = value.block.parent_op()
        return parent is loop or id(parent) in inside
    return id(value.owner) in inside


def _fits_frame(type_: Attribute) -> bool:
    """Returns whether a value is at most 8 bytes: a number or the pointer of a buffer."""
    if isinstance(type_, IntegerType):
        return type_.width.data <= 64
    if isinstance(type_, AnyFloat):
        return type_.bitwidth <= 64
    return isinstance(type_, IndexType | MemRefType)


def _is_buffer_of_its_own(value: SSAValue) -> bool:
    """
    Returns whether nothing else that is captured can be the same memory. It is true for a value that is no buffer.
    """
    if not isinstance(value.type, MemRefType):
        return True
    if isinstance(value, BlockArgument):
        return isinstance(value.block.parent_op(), func.FuncOp)
    return isinstance(value.owner, memref.AllocOp | memref.AllocaOp)
