"""Bufferisation of one function: which buffer holds each tensor, and the ops that fill it."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith, cf, func, memref, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    TensorType,
    i8,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from ...core.ir.element_types import byte_size
from ...core.ir.role_checks import output_names
from ...core.ir.symbols import value_name
from ...core.messages.diagnostics import fail
from ...core.messages.locations import copy_location
from ...core.roles import BYTES, KEY, LIVE_BYTES, NAME, PLACE_OF, PREPARE, PRIMITIVE, ROLE, SIGNATURE, TYPE, prepare_key
from ...dialects import tensor_loop
from ...dialects.graph.calls import CallKernelOp
from ...dialects.graph.constants import ConstantOp, WeightOp
from ...lazy_dataclass import dataclass
from ..shared.te_types import buffer_of
from .arena import ArenaPlan, Lifetime
from .blocks import separate_buffers
from .checks import MOST_BYTES, check_function, check_size
from .constants import ConstantPool, index_number
from .copies import InPlaceKernels
from .donated import insert_copies, warn_of_unused
from .kernels import KernelSignature
from .limited import planned
from .sharing import InPlaceCall, Sharing
from .times import Clock

if TYPE_CHECKING:
    from xdsl.dialects import tensor

_ZERO = index_number(0)


@dataclass
class FunctionSignature:
    """The arguments that a bufferised function wants from its callers besides inputs and outputs."""

    weights: dict[str, TensorType]
    arena_bytes: int


@dataclass
class Signatures:
    """Every kernel, and every function bufferised so far, by name."""

    kernels: dict[str, KernelSignature]
    prepares: set[str]
    functions: dict[str, FunctionSignature] = field(default_factory=dict)


class FunctionBufferizer:
    """Rewrites one function in place. Its callees have been rewritten before."""

    def __init__(
        self,
        function: func.FuncOp,
        signatures: Signatures,
        constants: ConstantPool,
        reuse: bool,
        in_place: InPlaceKernels | None = None,
        separate: bool = False,
    ):
        self.function = function
        self.signatures = signatures
        self.reuse = reuse
        self.separate = separate
        self.in_place = in_place
        self.constants = constants
        self.buffers: dict[SSAValue, SSAValue] = {}
        self.weights: dict[str, tuple[TensorType, SSAValue]] = {}
        self.requests: list[tuple[arith.ConstantOp, Lifetime]] = []
        self.erased: list[Operation] = []
        self.homes: dict[SSAValue, SSAValue] = {}
        self.names: dict[SSAValue, str] = {}
        self.places: dict[SSAValue, int] = {}
        self.time = 0

    def run(self) -> ArenaPlan:
        """Bufferises the function and returns the plan of its arena (sizes in bytes)."""
        check_function(self.function)
        self.block = self.function.body.block
        self.clock = Clock(self.block)
        self.sharing = Sharing(self.function, self.clock, self.in_place, self.signatures.prepares)
        self.types = self.function.function_type
        self.arguments = self.block.args
        self._replace_inputs()
        self.arena = self.block.insert_arg(MemRefType(i8, [0]), len(self.block.args))
        ops = list(self.block.ops)
        self._claim_outputs()
        for op in ops:
            self._lower(op)
        for op in reversed(self.erased):
            if op.parent is not None:
                op.detach()
            op.erase()
        return self._finish()

    # Arguments and results

    def _replace_inputs(self) -> None:
        for argument in list(self.block.args):
            if isinstance(argument.type, TensorType):
                new = self.block.insert_arg(buffer_of(argument.type), argument.index)
                new.name_hint, new.location = argument.name_hint, argument.location
                self.buffers[argument] = new
        self.tensor_arguments = [a for a in self.block.args if isinstance(a.type, TensorType)]

    def _claim_outputs(self) -> None:
        """Makes one output buffer per tensor result. A kernel writes its result there directly where it can."""
        terminator = self.block.last_op
        assert terminator is not None
        self.outputs: list[tuple[SSAValue, BlockArgument]] = []
        names = output_names(self.function, len(terminator.operands))
        for i, value in enumerate(terminator.operands):
            if not isinstance(value.type, TensorType):
                continue
            output = self.block.insert_arg(buffer_of(value.type), self.arena.index)
            output.name_hint = f"result{i}"
            self.names[output] = names[i]
            self.outputs.append((value, output))
            if self.sharing.owns_buffer(value):
                self.homes.setdefault(self.sharing.first(value), output)
        self._lay_donated()

    def _lay_donated(self) -> None:
        """Lets donated arguments begin in the results that take their places."""
        donated = self.sharing.donated
        taken = {argument: self.homes[argument] for argument in donated if argument in self.homes}
        insert_copies(self.block, [(self.buffers[argument], output) for argument, output in taken.items()])
        warn_of_unused(self.function, self.arguments, taken)
        self.places = {output: donated[argument] for argument, output in taken.items()}
        self.buffers |= taken

    def _finish(self) -> ArenaPlan:
        requests = separate_buffers(self.requests) if self.separate else self.requests
        plan = planned([lifetime for _, lifetime in requests], self.reuse, [offset for offset, _ in requests])
        check_size(self.function, plan.size, f"the arena of @{self.function.sym_name.data}")
        for (constant, _), offset in zip(requests, plan.offsets, strict=True):
            constant.properties["value"] = index_number(offset)
        for argument in self.tensor_arguments:
            self.block.erase_arg(argument)
        if plan.size:
            Rewriter.replace_value_with_new_type(self.arena, MemRefType(i8, [plan.size]))
            self.block.args[-1].name_hint = "arena"
        else:
            self.block.erase_arg(self.arena)
        self._set_types(plan)
        name = self.function.sym_name.data
        self.signatures.functions[name] = FunctionSignature({k: t for k, (t, _) in self.weights.items()}, plan.size)
        return plan

    def _set_types(self, plan: ArenaPlan) -> None:
        results = [t for t in self.types.outputs if not isinstance(t, TensorType)]
        old_attributes = self.function.arg_attrs.data if self.function.arg_attrs is not None else ()
        self.function.properties["function_type"] = FunctionType.from_lists([a.type for a in self.block.args], results)
        weights = list(self.weights.items())
        attributes: list[dict[str, Attribute]] = []
        for index, argument in enumerate(self.block.args):
            kept = dict(old_attributes[index].data) if index < len(self.types.inputs) and old_attributes else {}
            attributes.append(kept | self._role(index, argument, plan, kept, weights))
        for stale in ("arg_attrs", "res_attrs"):
            self.function.properties.pop(stale, None)
        self.function.attributes.pop(PRIMITIVE, None)  # fuse-loops has left this group alone.
        is_entry = self.function.sym_visibility is None or self.function.sym_visibility.data != "private"
        if is_entry or PREPARE in self.function.attributes:
            self.function.attributes.setdefault(SIGNATURE, self.types)
            self.function.properties["arg_attrs"] = ArrayAttr([DictionaryAttr(a) for a in attributes])

    def _role(
        self,
        index: int,
        argument: BlockArgument,
        plan: ArenaPlan,
        kept: dict[str, Attribute],
        weights: list[tuple[str, tuple[TensorType, SSAValue]]],
    ) -> dict[str, Attribute]:
        count = len(self.types.inputs)
        if index < count:
            return {
                ROLE: StringAttr("input"),
                NAME: kept.get(NAME, StringAttr(argument.name_hint or f"arg{index}")),
            }
        if index < count + len(weights):
            key, (type_, _) = weights[index - count]
            return {ROLE: StringAttr("weight"), KEY: StringAttr(key), TYPE: type_}
        if index < count + len(weights) + len(self.outputs):
            place = {PLACE_OF: IntegerAttr(self.places[argument], i64)} if argument in self.places else {}
            return {ROLE: StringAttr("output"), NAME: StringAttr(self.names[argument]), **place}
        return {
            ROLE: StringAttr("arena"),
            BYTES: IntegerAttr(plan.size, i64),
            LIVE_BYTES: IntegerAttr(plan.peak, i64),
        }

    # Ops

    def _lower(self, op: Operation) -> None:
        self.time = self.clock.start[op]
        match op:
            case CallKernelOp():
                self._kernel(op)
            case ConstantOp():
                self.buffers[op.results[0]] = self._insert(op, self.constants.load(op))
                self.erased.append(op)
            case WeightOp():
                self.buffers[op.results[0]] = self._weight(op.weight_key, op.results[0].type)
                self.erased.append(op)
            case func.CallOp():
                self._call(op)
            case scf.IfOp():
                self._if(op)
            case scf.ForOp():
                self._for(op)
            case scf.YieldOp():
                pass
            case func.ReturnOp():
                self._return(op)
            case _ if op.name == "tensor.extract":  # Few programs need the class, and its dialect takes long to load.
                self._extract(cast("tensor.ExtractOp", op))
            case _:
                self._other(op)

    def _kernel(self, op: CallKernelOp) -> None:
        kernel = self.signatures.kernels[op.callee_name]
        outputs = [self._buffer_for(result) for result in op.results]
        temporaries = [self._allocate(op, type_, self.time) for type_ in kernel.temporaries]
        shared = self.sharing.calls.get(op, InPlaceCall(op.callee_name, set()))
        inputs = [self.buffers[v] for i, v in enumerate(op.operands) if i not in shared.dropped]
        self._replace(op, tensor_loop.CallOp(shared.callee, [*inputs, *temporaries], outputs))

    def _call(self, op: func.CallOp) -> None:
        name = op.callee.root_reference.data
        callee = self.signatures.functions.get(name)
        if callee is None:
            return
        if name in self.signatures.prepares:
            for index, result in enumerate(op.results):
                self.buffers[result] = self._weight(prepare_key(name, index), result.type)
            self.erased.append(op)
            return
        operands = [self.buffers.get(operand, operand) for operand in op.operands]
        operands += [self._weight(key, type_) for key, type_ in callee.weights.items()]
        operands += [self._buffer_for(r) for r in op.results if isinstance(r.type, TensorType)]
        if callee.arena_bytes:
            operands.append(self._allocate(op, MemRefType(i8, [callee.arena_bytes]), self.time))
        scalars = [r for r in op.results if not isinstance(r.type, TensorType)]
        call = func.CallOp(op.callee, operands, [r.type for r in scalars])
        self._insert(op, call)
        for old, new in zip(scalars, call.results, strict=True):
            old.replace_all_uses_with(new)
        self.erased.append(op)

    def _return(self, op: func.ReturnOp) -> None:
        for value, output in self.outputs:
            if self.buffers[value] is not output:
                self._insert(op, memref.CopyOp(self.buffers[value], output))
        self._replace(op, func.ReturnOp(*(v for v in op.operands if not isinstance(v.type, TensorType))))

    def _extract(self, op: tensor.ExtractOp) -> None:
        """Makes a load. An index that may lie outside fails the program."""
        type_ = op.tensor.type
        assert isinstance(type_, TensorType)
        for index, size in zip(op.indices, type_.get_shape(), strict=True):
            if not is_constant_below(index, size):
                limit = self._insert(op, arith.ConstantOp(IntegerAttr.from_index_int_value(size)))
                inside = self._insert(op, arith.CmpiOp(index, limit, "ult"))
                self._insert(op, cf.AssertOp(inside, "tensor.extract: index out of range"))
        load = memref.LoadOp.get(self.buffers[op.tensor], list(op.indices))
        value = self._insert(op, load)
        if op.result.type == IntegerType(1):
            zero = self._insert(op, arith.ConstantOp(IntegerAttr(0, i8)))
            value = self._insert(op, arith.CmpiOp(value, zero, "ne"))
        op.result.replace_all_uses_with(value)
        self.erased.append(op)

    def _other(self, op: Operation) -> None:
        values = (*op.operands, *op.results)
        if any(isinstance(value.type, TensorType) for value in values) or op.regions:
            hint = "run lower-graph-to-loops before bufferize"
            fail(op, f"'{op.name}' works on tensors and has no form on buffers", hint=hint)

    # Control flow

    def _if(self, op: scf.IfOp) -> None:
        results = [self._buffer_for(r) if isinstance(r.type, TensorType) else None for r in op.results]
        for region in op.regions:
            for inner in [inner for block in region.blocks for inner in block.ops]:
                self._lower(inner)
            if region.blocks:
                self._copy_yielded(region.block, results)
        if_true, if_false = self._moved_regions(op)
        self._drop_tensor_results(op, scf.IfOp(op.cond, _scalars(op), if_true, if_false))

    def _for(self, op: scf.ForOp) -> None:
        results = [self._buffer_for(r) if isinstance(r.type, TensorType) else None for r in op.results]
        for value, buffer, argument in zip(op.iter_args, results, op.body.block.args[1:], strict=True):
            if buffer is not None:
                self._insert(op, memref.CopyOp(self.buffers[value], buffer))
                self.buffers[argument] = buffer
        for inner in list(op.body.block.ops):
            self._lower(inner)
        self._copy_yielded(op.body.block, results)
        for argument in [a for a in op.body.block.args[1:] if isinstance(a.type, TensorType)]:
            argument.replace_all_uses_with(self.buffers[argument])
            op.body.block.erase_arg(argument)
        initial = [value for value in op.iter_args if not isinstance(value.type, TensorType)]
        (body,) = self._moved_regions(op)
        self._drop_tensor_results(op, scf.ForOp(op.lb, op.ub, op.step, initial, body))

    def _copy_yielded(self, block: Block, results: list[SSAValue | None]) -> None:
        """
        Copies the values that a region yields into the buffers of the op's results, through temporaries where they
        cross.
        """
        terminator = block.last_op
        assert terminator is not None
        moves = [
            (self.buffers[value], buffer)
            for value, buffer in zip(terminator.operands, results, strict=True)
            if buffer is not None and self.buffers[value] is not buffer
        ]
        targets = {target for _, target in moves}
        for i, (source, target) in enumerate(moves):
            if source in targets:
                assert isinstance(source.type, MemRefType)
                copy = self._allocate(terminator, source.type, self.time)
                self._insert(terminator, memref.CopyOp(source, copy))
                moves[i] = (copy, target)
        for source, target in moves:
            self._insert(terminator, memref.CopyOp(source, target))
        scalars = [v for v in terminator.operands if not isinstance(v.type, TensorType)]
        self._replace(terminator, scf.YieldOp(*scalars))

    def _moved_regions(self, op: Operation) -> list[Region]:
        for inner in [e for e in self.erased if e.parent_op() is op]:
            inner.detach()
        return [op.detach_region(region) for region in list(op.regions)]

    def _drop_tensor_results(self, op: Operation, new: Operation) -> None:
        self._insert(op, new)
        kept = [r for r in op.results if not isinstance(r.type, TensorType)]
        for old, result in zip(kept, new.results, strict=True):
            old.replace_all_uses_with(result)
        self.erased.append(op)

    # Buffers

    def _buffer_for(self, value: SSAValue) -> SSAValue:
        """Returns the buffer that `value` is computed into: an output argument, or new bytes of the arena."""
        if value not in self.buffers:
            assert isinstance(value.type, TensorType) and isinstance(value.owner, Operation)
            first = self.sharing.first(value)
            if first not in self.homes:
                until = self._end_of_life(value)
                self.homes[first] = self._allocate(value.owner, buffer_of(value.type), until)
                self.homes[first].name_hint = value.name_hint
            self.buffers[value] = self.homes[first]
        return self.buffers[value]

    def _end_of_life(self, value: SSAValue) -> int:
        """Returns the time of the last use of any tensor that has the buffer of `value`, which is the first of them."""
        block = value.owner.parent_block()
        assert block is not None and isinstance(value.owner, Operation)
        uses = [self.clock.last_use(member, block) for member in self.sharing.members(value)]
        return max(*uses, self.clock.end[value.owner])

    def _allocate(self, before: Operation, type_: MemRefType, until: int) -> SSAValue:
        """Makes a view into the arena for a buffer that is used from now until time `until`."""
        size = byte_size(type_)
        offset = arith.ConstantOp.create(result_types=[_ZERO.type], properties={"value": _ZERO})
        if size > MOST_BYTES:  # To print this type would take as long as all the rest.
            check_size(before, size, f"a buffer of type {type_}")
        # A buffer without elements gets a place, too: buffers alive together are then different values for every pass.
        self.requests.append((offset, Lifetime(max(size, 1), self.time, until)))
        self._insert(before, offset)
        return self._insert(before, memref.ViewOp.create(operands=[self.arena, offset.result], result_types=[type_]))

    def _weight(self, key: str, type_: Attribute) -> SSAValue:
        assert isinstance(type_, TensorType)
        if key not in self.weights:
            # Every tensor argument still stands beside the buffer that replaces it.
            first = len(self.types.inputs) + len(self.tensor_arguments)
            argument = self.block.insert_arg(buffer_of(type_), first + len(self.weights))
            argument.name_hint = value_name(key) if key.isidentifier() else "weight"
            self.weights[key] = (type_, argument)
        return self.weights[key][1]

    def _insert(self, before: Operation, op: Operation) -> SSAValue:
        copy_location(before, op)
        block = before.parent
        assert block is not None
        block.insert_op_before(op, before)
        return op.results[0] if op.results else self.arena

    def _replace(self, old: Operation, new: Operation) -> None:
        self._insert(old, new)
        self.erased.append(old)


def is_constant_below(index: SSAValue, size: int) -> bool:
    """Returns whether an index is a literal from 0 to `size` - 1."""
    if not isinstance(index.owner, arith.ConstantOp) or not isinstance(index.owner.value, IntegerAttr):
        return False
    return 0 <= index.owner.value.value.data < size


def _scalars(op: Operation) -> list[Attribute]:
    return [r.type for r in op.results if not isinstance(r.type, TensorType)]
