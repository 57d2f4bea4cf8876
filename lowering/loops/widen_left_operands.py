"""
Tensors of f16 that products read as left operands are kept in f32: pass `widen-left-operands`.

Before: one kernel rounds each element to f16 and stores that, and a product of another kernel extends it again and
again, for each panel of its right operand. After: the first kernel stores f32. The rounding between is one that the
ops imply.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from itertools import count

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import Float16Type, FloatAttr, FunctionType, MemRefType, ModuleOp, TensorType, UnitAttr, f32
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...core.ir.cloning import clone_op
from ...core.ir.walk import ops_of
from ...core.messages.locations import copy_location
from ...core.passes.base import StepwellPass
from ...core.roles import IMPLIED, SIGNATURE
from ...dialects import tensor_loop
from ...dialects.graph.calls import CallKernelOp
from ...lazy_dataclass import dataclass
from ...schedule.kernels.contraction import contraction_of
from ...schedule.winograd.plan import winograd_of

LEAST_COLUMNS = 192
"""
The columns of a product from which its left operand is kept in f32: three panels of 64. An element that one panel reads
would be extended once in any case.
"""


@dataclass(frozen=True)
class WidenLeftOperandsPass(StepwellPass):
    """
    Keeps tensors of f16 between kernels in f32 where products read them as left operands.

    Before:

        %h = graph.call_kernel @relu(%x) : (tensor<64x96xf32>) -> tensor<64x96xf16>
        %y = graph.call_kernel @matmul(%h, %w) : (tensor<64x96xf16>, tensor<96x128xf16>) -> tensor<64x128xf16>

    After:

        %h = graph.call_kernel @relu_wide(%x) : (tensor<64x96xf32>) -> tensor<64x96xf32>
        %y = graph.call_kernel @matmul_wide(%h, %w) : (tensor<64x96xf32>, tensor<96x128xf16>) -> tensor<64x128xf16>

    An element of the left operand is multiplied with each vector of a row of the right one. As an f32 it comes from
    memory into all lanes of a register, and as an f16 it must be extended first, for each panel. The tensors take
    twice the memory. With `excess`, later passes leave out the rounding. Without, all results have the same bits.
    Tensors are kept as they are where anything but kernels reads them, or where a kernel that reads them moves or
    compares them rather than computes with them. A kernel that makes such a tensor may move what it reads: it extends
    each element once.
    """

    name = "widen-left-operands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = _Kernels(op)
        calls = ops_of(op, CallKernelOp)
        wide: set[SSAValue] = set()
        for call in calls:
            wide |= {result for number, result in enumerate(call.outputs) if kernels.gains(call, number)}
        kept = len(wide)
        for call in calls:
            kernels.call_wide(call, wide)
        kernels.remove_unused()
        self.count("tensors kept in f32", kept)


class _Kernels:
    """The loop functions of a module, and copies of them that read and write some buffers in f32."""

    def __init__(self, module: ModuleOp):
        self.module = module
        self.functions = {op.sym_name.data: op for op in module.ops if isinstance(op, tensor_loop.FuncOp)}
        self.made: dict[tuple[str, tuple[int, ...]], str] = {}
        self._reads: dict[tuple[str, int], _Reads] = {}
        self._replaced: set[str] = set()

    def gains(self, call: CallKernelOp, number: int) -> bool:
        """Returns whether result `number` of `call` is better kept in f32."""
        result = call.outputs[number]
        function = self.functions.get(call.callee_name)
        if not _is_small(result.type) or function is None or SIGNATURE in function.attributes:
            return False
        if not _can_write_wide(function.outputs[number]):
            return False
        found = [self._read(use.operation, use.index) for use in result.uses]
        return any(each.gains for each in found) and all(each.is_possible for each in found)

    def _read(self, op: Operation, index: int) -> _Reads:
        function = self.functions.get(op.callee_name) if isinstance(op, CallKernelOp) else None
        if function is None or SIGNATURE in function.attributes:
            return _Reads(False)
        key = (function.sym_name.data, index)
        if key not in self._reads:
            self._reads[key] = _reads_of(function.inputs[index])
        return self._reads[key]

    def call_wide(self, call: CallKernelOp, wide: set[SSAValue]) -> None:
        """Makes `call` read and write those of its operands and results in f32 that are in `wide`."""
        values = (*call.inputs, *call.outputs)
        places = tuple(number for number, value in enumerate(values) if value in wide)
        if not places:
            return
        name = call.callee_name
        self._replaced.add(name)
        results = [_wide_type(each.type) if each in wide else each.type for each in call.outputs]
        new = CallKernelOp(self._copy(name, places), call.inputs, results, attributes=call.attributes)
        for old, made in zip(call.outputs, new.outputs, strict=True):
            made.name_hint = old.name_hint
            if old in wide:
                wide.add(made)
        copy_location(call, new)
        Rewriter.replace_op(call, [new], new.results)

    def _copy(self, name: str, places: tuple[int, ...]) -> str:
        """Returns the name of the copy of a kernel whose arguments number `places` are f32."""
        key = (name, places)
        if key not in self.made:
            names = (f"{name}_wide{number or ''}" for number in count())
            new = next(each for each in names if each not in self.functions)
            function = self.functions[name]
            copy = self.functions[new] = clone_op(function)
            copy.properties["sym_name"] = type(function.sym_name)(new)
            self.module.body.block.insert_op_after(copy, function)
            _Widening(copy, [copy.body.block.args[place] for place in places]).run()
            self.made[key] = new
        return self.made[key]

    def remove_unused(self) -> None:
        """Removes the private kernels of which only copies are called now."""
        called = {call.callee_name for call in ops_of(self.module, CallKernelOp)}
        for name in self._replaced - called:
            if (function := self.functions[name]).sym_visibility is not None:
                function.detach()
                function.erase()


@dataclass(frozen=True)
class _Reads:
    """What the reads of a buffer say about keeping it in f32."""

    is_possible: bool
    gains: bool = False
    copies: tuple[SSAValue, ...] = field(default=())
    """The temporaries that it is copied into, which are to be f32 as well."""


def _reads_of(buffer: SSAValue) -> _Reads:
    """Returns what the reads of `buffer`, and of the temporaries that it is copied into, say."""
    gains = False
    waiting, copies = [buffer], []
    while waiting:
        source = waiting.pop()
        for use in source.uses:
            if isinstance(use.operation, tensor_loop.BlockOp):
                continue
            load = use.operation
            if isinstance(load, memref.StoreOp) and source is not buffer and use.index == 1:
                continue
            if not isinstance(load, memref.LoadOp):
                return _Reads(False)
            for target in _copied_into(load.res):
                if target is None or not _is_padded_copy(target, source):
                    return _Reads(False)
                if target not in copies:
                    copies.append(target)
                    waiting.append(target)
            gains = gains or _is_left_operand(load)
    return _Reads(True, gains, tuple(copies))


def _copied_into(value: SSAValue) -> Iterator[SSAValue | None]:
    """Yields the buffers that `value` is stored in as it is, `None` where it is used in a way that needs f16."""
    for use in value.uses:
        op = use.operation
        if isinstance(op, memref.StoreOp):
            yield op.memref
        elif isinstance(op, scf.YieldOp) and isinstance(choice := op.parent_op(), scf.IfOp):
            yield from _copied_into(choice.results[use.index])
        elif isinstance(op, arith.ExtFOp) and op.result.type == f32:
            continue
        elif not isinstance(op, arith.AddfOp | arith.SubfOp | arith.MulfOp | arith.DivfOp) or _is_in_reduction(op):
            yield None


def _is_padded_copy(target: SSAValue, source: SSAValue) -> bool:
    """Returns whether `target` is a temporary that holds `source` and constants around it, as convolutions read it."""
    if not isinstance(target.owner, tensor_loop.AllocOp):
        return False
    stores = [use.operation for use in target.uses if isinstance(use.operation, memref.StoreOp)]
    if len(stores) != 1 or not isinstance(stores[0], memref.StoreOp):
        return False
    stored = stores[0].value.owner
    return isinstance(stored, scf.IfOp) and target.type.get_shape() != source.type.get_shape()  # pyright: ignore


def _is_left_operand(load: memref.LoadOp) -> bool:
    """
    Returns whether a product with enough columns reads `load` as an element of its left operand. Winograd's filtering
    reads each image once, to transform it.
    """
    grid = load.parent_op()
    while grid is not None and not isinstance(grid.parent_op(), tensor_loop.FuncOp):
        grid = grid.parent_op()
    if not isinstance(grid, tensor_loop.GridOp):
        return False
    c = contraction_of(grid)
    if c is None or c.a.buffer is not load.memref or c.extent(c.n) < LEAST_COLUMNS or c.tile_element != f32:
        return False
    return winograd_of(c) is None


def _can_write_wide(buffer: SSAValue) -> bool:
    """Returns whether a kernel makes each element of `buffer` without a choice, and only stores it."""
    for use in buffer.uses:
        op = use.operation
        if isinstance(op, tensor_loop.BlockOp):
            continue
        if not isinstance(op, memref.StoreOp) or use.index != 1 or _is_in_reduction(op):
            return False
        if isinstance(op.value, BlockArgument) or isinstance(op.value.owner, scf.IfOp):
            return False
    return True


def _is_in_reduction(op: Operation) -> bool:
    block = op.parent_op()
    while not isinstance(block, tensor_loop.BlockOp):
        if block is None:
            return True
        block = block.parent_op()
    return block.has_reduce_axes


class _Widening:
    """Makes buffers of a loop function f32. What is stored in them is rounded to f16 and extended, as the ops imply."""

    def __init__(self, function: tensor_loop.FuncOp, buffers: list[BlockArgument]):
        self.function = function
        self.inputs = {each for each in buffers if each in function.inputs}
        self.buffers: list[SSAValue] = list(buffers)
        self.exact: dict[SSAValue, SSAValue] = {}
        """The f32 that an f16 was made from without loss."""
        for each in self.inputs:
            self.buffers += _reads_of(each).copies

    def run(self) -> None:
        blocks = {use.operation for each in self.buffers for use in each.uses}
        wide = [Rewriter.replace_value_with_new_type(each, _wide_type(each.type)) for each in self.buffers]
        for buffer in wide:
            for use in list(buffer.uses):
                if isinstance(use.operation, memref.LoadOp):
                    self._widen_load(use.operation)
        for buffer in wide:
            for use in list(buffer.uses):
                if isinstance(use.operation, memref.StoreOp) and use.index == 1:
                    use.operation.operands[0] = self._extended(use.operation.value, use.operation)
        arguments = [each.type for each in self.function.body.block.args]
        split = len(self.function.input_types)
        self.function.properties["function_type"] = FunctionType.from_lists(arguments[:split], arguments[split:])
        for each in blocks:
            if isinstance(each, tensor_loop.BlockOp):
                each.refresh_regions()

    def _widen_load(self, load: memref.LoadOp) -> None:
        """Loads f32. What is computed in f16 takes it as if it were just rounded."""
        new = memref.LoadOp.get(load.memref, load.indices)
        new.res.name_hint = load.res.name_hint
        copy_location(load, new)
        narrow = _rounded(new.res, load.res.type, load)
        Rewriter.replace_op(load, [new, narrow], [narrow.result])
        self._forward(narrow.result, new.res)

    def _forward(self, narrow: SSAValue, wide: SSAValue) -> None:
        """Lets what extends `narrow` take `wide`, also behind a choice between it and a constant."""
        self.exact[narrow] = wide
        for use in list(narrow.uses):
            op = use.operation
            if isinstance(op, arith.ExtFOp) and op.result.type == f32:
                Rewriter.replace_op(op, [], [wide])
            elif isinstance(op, scf.YieldOp) and isinstance(choice := op.parent_op(), scf.IfOp):
                self._forward_choice(choice, use.index)
        if narrow.first_use is None and isinstance(narrow.owner, arith.TruncFOp):
            Rewriter.erase_op(narrow.owner)

    def _forward_choice(self, choice: scf.IfOp, number: int) -> None:
        """Makes a result of `choice` f32."""
        old = choice.results[number].type
        for region in choice.regions:
            last = region.block.last_op
            assert last is not None
            last.operands[number] = self._extended(last.operands[number], last)
        result = Rewriter.replace_value_with_new_type(choice.results[number], f32)
        narrow = _rounded(result, old, choice)
        Rewriter.insert_op(narrow, InsertPoint.after(choice))
        result.replace_uses_with_if(narrow.result, lambda use: use.operation is not narrow)
        self._forward(narrow.result, result)

    def _extended(self, value: SSAValue, user: Operation) -> SSAValue:
        """Returns `value` as an f32, before `user`. What was just loaded as one needs nothing."""
        if value in self.exact:
            return self.exact[value]
        if isinstance(value.owner, arith.ConstantOp):
            number = value.owner.value
            assert isinstance(number, FloatAttr)
            op: Operation = arith.ConstantOp(FloatAttr(number.value.data, f32))
        else:
            op = arith.ExtFOp(value, f32)
            op.attributes[IMPLIED] = UnitAttr()
        copy_location(user, op)
        Rewriter.insert_op(op, InsertPoint.before(user))
        return op.results[0]


def _rounded(value: SSAValue, element: Attribute, source: Operation) -> arith.TruncFOp:
    """Makes an op that rounds an f32, which is an f16 already, to f16."""
    op = arith.TruncFOp(value, element)  # pyright: ignore[reportArgumentType]
    op.attributes[IMPLIED] = UnitAttr()
    copy_location(source, op)
    return op


def _is_small(type_: Attribute) -> bool:
    return isinstance(type_, TensorType) and isinstance(type_.element_type, Float16Type)


def _wide_type(type_: Attribute) -> TensorType | MemRefType:
    """Returns the type of a tensor or buffer in f32."""
    assert isinstance(type_, TensorType | MemRefType)
    if isinstance(type_, TensorType):
        return TensorType(f32, type_.get_shape())
    return MemRefType(f32, type_.get_shape(), type_.layout, type_.memory_space)
