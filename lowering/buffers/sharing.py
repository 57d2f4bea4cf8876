"""
Chooses tensors that share one buffer: results that take the place of an operand that nobody reads again.

Before: `%b = graph.call_kernel @exp(%a)` is the last use of `%a`, and `@exp` reads each element before it writes it.
After: `%a` and `%b` are one buffer, and the call becomes that of `@exp_in_place() outs(%a)`. It has one argument less,
since no two arguments of a kernel share memory, so LLVM may still rely on that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from ...core.ir.walk import ops_of
from ...core.passes.applications import allowed
from ...core.roles import PREPARE
from ...dialects.graph.calls import CallKernelOp
from ...lazy_dataclass import dataclass
from .copies import InPlaceKernels, Places
from .donated import donated_arguments, returned_by
from .times import Clock


@dataclass
class InPlaceCall:
    """The call in the place of another: the kernel to call, and the operands that it finds in its outputs."""

    callee: str
    dropped: set[int]


class LastReads:
    """Tells which tensors of a block have a buffer of their own that nobody reads after a call."""

    def __init__(self, clock: Clock, prepares: set[str], donated: Collection[SSAValue], returned: Collection[SSAValue]):
        self._clock = clock
        self._prepares = prepares
        self._donated = donated
        self._returned = returned

    def owns_buffer(self, value: SSAValue) -> bool:
        """
        Returns whether the buffer of `value` is made for it, or given away to it: not another argument, a weight or a
        constant.
        """
        owner = value.owner
        if isinstance(owner, Block):
            return value in self._donated
        if isinstance(owner, func.CallOp):
            return owner.callee.root_reference.data not in self._prepares
        return isinstance(owner, CallKernelOp | scf.IfOp | scf.ForOp)

    def end_at(self, value: SSAValue, op: Operation) -> bool:
        """Returns whether `op` is the last to read the buffer of `value`, its own and made in the same block."""
        block = op.parent_block()
        made_in = value.owner if isinstance(value.owner, Block) else value.owner.parent_block()
        if not self.owns_buffer(value) or made_in is not block:
            return False
        assert block is not None
        return self._clock.last_use(value, block) <= self._clock.start[op]

    def may_be_place_of(self, value: SSAValue, result: SSAValue) -> bool:
        """Returns whether the buffer of `value` may become that of `result`. What is donated is for results alone."""
        return value.type == result.type and (value not in self._donated or result in self._returned)

    def places_at(self, op: CallKernelOp) -> list[Places]:
        """Returns which operands end at a call of which each result may take the place."""
        operands = tuple(op.operands)
        ending = [
            each for each in dict.fromkeys(operands) if self._has_type_of_result(each, op) and self.end_at(each, op)
        ]
        return [
            (tuple(i for i, operand in enumerate(operands) if operand is value), number)
            for number, result in enumerate(op.results)
            for value in ending
            if self.may_be_place_of(value, result)
        ]

    @staticmethod
    def _has_type_of_result(value: SSAValue, op: CallKernelOp) -> bool:
        return any(value.type == result.type for result in op.results)


def places_of_calls(module: ModuleOp, functions: Iterable[func.FuncOp]) -> dict[str, list[list[Places]]]:
    """
    Returns where the calls of `functions`, on tensors, would let a result take the place of an operand: for each call
    of a kernel, by its name, in the order of preference. Whether the kernel can do so is another question.
    """
    prepares = {op.sym_name.data for op in module.ops if isinstance(op, func.FuncOp) and PREPARE in op.attributes}
    found: dict[str, list[list[Places]]] = {}
    for function in functions:
        if len(function.body.blocks) == 1:
            block = function.body.block
            reads = LastReads(Clock(block), prepares, donated_arguments(function), returned_by(block))
            for op in ops_of(block, CallKernelOp):
                found.setdefault(op.callee_name, []).append(reads.places_at(op))
    return found


class Sharing:
    """Groups of the tensors of a function. Each group is one buffer, named by its first tensor."""

    def __init__(
        self,
        function: func.FuncOp,
        clock: Clock,
        kernels: InPlaceKernels | None,
        prepares: set[str],
    ):
        """Starts with no choices. Without `kernels` every tensor has a buffer of its own."""
        block = function.body.block
        self.donated = {} if kernels is None else donated_arguments(function)
        self.calls: dict[Operation, InPlaceCall] = {}
        self._first: dict[SSAValue, SSAValue] = {}
        self._members: dict[SSAValue, list[SSAValue]] = {}
        self._reads = LastReads(clock, prepares, self.donated, returned_by(block))
        self.owns_buffer = self._reads.owns_buffer
        if kernels is not None:
            for op in ops_of(block, CallKernelOp):
                self._share(op, kernels)

    def first(self, value: SSAValue) -> SSAValue:
        """Returns the tensor that stands for the buffer of `value`."""
        return self._first.get(value, value)

    def members(self, value: SSAValue) -> list[SSAValue]:
        """Returns all tensors in the buffer of `value`, in program order."""
        return self._members.get(self.first(value), [value])

    def _share(self, op: CallKernelOp, kernels: InPlaceKernels) -> None:
        """Finds, result by result, an operand whose buffer it may have."""
        name, operands = op.callee_name, tuple(op.operands)
        left = list(range(len(operands)))
        for number, result in enumerate(op.results):
            for value in dict.fromkeys([operands[position] for position in left]):
                if not self._reads.may_be_place_of(value, result) or not self._reads.end_at(value, op):
                    continue
                inputs = tuple(i for i, position in enumerate(left) if operands[position] is value)
                if not kernels.may_overwrite(name, (inputs, number)) or not allowed("buffer", "in place", op):
                    continue
                name = kernels.merged(name, (inputs, number))
                left = [position for i, position in enumerate(left) if i not in inputs]
                self._join(value, result)
                break
        if name != op.callee_name:
            self.calls[op] = InPlaceCall(name, set(range(len(operands))) - set(left))

    def _join(self, value: SSAValue, result: SSAValue) -> None:
        first = self.first(value)
        self._first[result] = first
        self._members.setdefault(first, [first]).append(result)
