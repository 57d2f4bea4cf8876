"""
Chooses tensors that share one buffer: results that take the place of an operand that nobody reads again.

Before: `%b = graph.call_kernel @exp(%a)` is the last use of `%a`, and `@exp` reads each element before it writes it.
After: `%a` and `%b` are one buffer, and the call becomes that of `@exp_in_place() outs(%a)`. It has one argument less,
since no two arguments of a kernel share memory, so LLVM may still rely on that.
"""

from __future__ import annotations

from dataclasses import field

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import Block, Operation, SSAValue

from ...analysis.in_place import may_overwrite
from ...core.ir.cloning import clone_op
from ...core.ir.symbols import fresh_name
from ...core.ir.walk import ops_of, walk
from ...core.passes.applications import allowed
from ...core.roles import DIMS, IN_PLACE
from ...dialects import tensor_loop
from ...dialects.graph.calls import CallKernelOp
from ...lazy_dataclass import dataclass
from .times import Clock

SUFFIX = "_in_place"


@dataclass
class InPlaceKernels:
    """Copies of kernels whose output is one of their inputs, made once each."""

    module: ModuleOp
    kernels: dict[str, tensor_loop.FuncOp] = field(default_factory=dict)
    _legal: dict[tuple[str, tuple[int, ...], int], bool] = field(default_factory=dict)
    _made: dict[tuple[str, tuple[int, ...], int], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.kernels = {op.sym_name.data: op for op in self.module.ops if isinstance(op, tensor_loop.FuncOp)}
        symbols = (op.get_attr_or_prop("sym_name") for op in self.module.ops)
        self._names = {symbol.data for symbol in symbols if isinstance(symbol, StringAttr)}

    def may_overwrite(self, name: str, inputs: tuple[int, ...], output: int) -> bool:
        """Returns whether the output may lie where the inputs at these positions lie."""
        key = (name, inputs, output)
        if key not in self._legal:
            kernel = self.kernels.get(name)
            self._legal[key] = kernel is not None and may_overwrite(kernel, inputs, output)
        return self._legal[key]

    def merged(self, name: str, inputs: tuple[int, ...], output: int) -> str:
        """Returns the name of a copy of a kernel that reads these inputs from the output."""
        key = (name, inputs, output)
        if key not in self._made:
            self._made[key] = self._make(self.kernels[name], inputs, output)
        return self._made[key]

    def _make(self, kernel: tensor_loop.FuncOp, inputs: tuple[int, ...], output: int) -> str:
        name = fresh_name(kernel.sym_name.data + SUFFIX, self._names)
        new = clone_op(kernel)
        new.location = kernel.location
        new.properties["sym_name"] = StringAttr(name)
        new.properties["sym_visibility"] = StringAttr("private")
        target = new.outputs[output]
        types = list(new.input_types)
        arguments = len(new.body.block.args)
        attributes = [DictionaryAttr({})] * arguments if new.arg_attrs is None else _without_dims(new.arg_attrs)
        attributes[target.index] = DictionaryAttr(attributes[target.index].data | {IN_PLACE: UnitAttr()})
        blocks: dict[Operation, None] = {}
        for position in sorted(inputs, reverse=True):
            argument = new.inputs[position]
            for use in argument.uses:
                blocks |= dict.fromkeys(_blocks_around(use.operation))
            argument.replace_all_uses_with(target)
            new.body.block.erase_arg(argument)
            del types[position], attributes[position]
            new.properties["function_type"] = FunctionType.from_lists(types, new.output_types)
        new.properties["arg_attrs"] = ArrayAttr(attributes)
        for block in blocks:
            assert isinstance(block, tensor_loop.BlockOp)
            block.refresh_regions()
        self.module.body.block.insert_op_after(new, kernel)
        self.kernels[name] = new
        return name

    def remove_unused(self) -> None:
        """Erases the kernels whose calls all became calls of a copy, and the copies that were steps to another."""
        if not self._made:
            return
        called = {
            attribute.string_value()
            for op in walk(self.module)
            for attribute in (*op.properties.values(), *op.attributes.values())
            if type(attribute) is SymbolRefAttr
        }
        for name in dict.fromkeys((*(key[0] for key in self._made), *self._made.values())):
            kernel = self.kernels[name]
            private = kernel.sym_visibility is not None and kernel.sym_visibility.data == "private"
            if private and name not in called:
                kernel.detach()
                kernel.erase()


def _without_dims(attributes: ArrayAttr[DictionaryAttr]) -> list[DictionaryAttr]:
    """Returns the attributes of arguments without names of sizes, since the argument that gives a size may go."""
    return [DictionaryAttr({key: value for key, value in each.data.items() if key != DIMS}) for each in attributes]


def _blocks_around(op: Operation) -> list[Operation]:
    found: list[Operation] = []
    current: Operation | None = op
    while current is not None:
        if isinstance(current, tensor_loop.BlockOp):
            found.append(current)
        current = current.parent_op()
    return found


@dataclass
class InPlaceCall:
    """The call in the place of another: the kernel to call, and the operands that it finds in its outputs."""

    callee: str
    dropped: set[int]


class Sharing:
    """Groups of the tensors of a function. Each group is one buffer, named by its first tensor."""

    def __init__(self, block: Block, clock: Clock, kernels: InPlaceKernels | None, prepares: set[str]):
        """Starts with no choices. Without `kernels` every tensor has a buffer of its own."""
        self.calls: dict[Operation, InPlaceCall] = {}
        self._first: dict[SSAValue, SSAValue] = {}
        self._members: dict[SSAValue, list[SSAValue]] = {}
        self._clock = clock
        self._kernels = kernels
        self._prepares = prepares
        if kernels is not None:
            for op in ops_of(block, CallKernelOp):
                self._share(op, kernels)

    def first(self, value: SSAValue) -> SSAValue:
        """Returns the tensor that stands for the buffer of `value`."""
        return self._first.get(value, value)

    def members(self, value: SSAValue) -> list[SSAValue]:
        """Returns all tensors in the buffer of `value`, in program order."""
        return self._members.get(self.first(value), [value])

    def owns_buffer(self, value: SSAValue) -> bool:
        """Returns whether the buffer of `value` is made for it: not an argument, a weight or a constant."""
        owner = value.owner
        if isinstance(owner, func.CallOp):
            return owner.callee.root_reference.data not in self._prepares
        return isinstance(owner, CallKernelOp | scf.IfOp | scf.ForOp)

    def _share(self, op: CallKernelOp, kernels: InPlaceKernels) -> None:
        """Finds, result by result, an operand whose buffer it may have."""
        name, operands = op.callee_name, tuple(op.operands)
        left = list(range(len(operands)))
        for number, result in enumerate(op.results):
            for value in dict.fromkeys([operands[position] for position in left]):
                if value.type != result.type or not self._dies_at(value, op):
                    continue
                places = tuple(i for i, position in enumerate(left) if operands[position] is value)
                if not kernels.may_overwrite(name, places, number) or not allowed("buffer", "in place", op):
                    continue
                name = kernels.merged(name, places, number)
                left = [position for i, position in enumerate(left) if i not in places]
                self._join(value, result)
                break
        if name != op.callee_name:
            self.calls[op] = InPlaceCall(name, set(range(len(operands))) - set(left))

    def _dies_at(self, value: SSAValue, op: Operation) -> bool:
        """Returns whether `op` is the last to read the buffer of `value`, its own and made in the same block."""
        if not self.owns_buffer(value) or value.owner.parent_block() is not op.parent_block():
            return False
        block = op.parent_block()
        assert block is not None
        return self._clock.last_use(value, block) <= self._clock.start[op]

    def _join(self, value: SSAValue, result: SSAValue) -> None:
        first = self.first(value)
        self._first[result] = first
        self._members.setdefault(first, [first]).append(result)
