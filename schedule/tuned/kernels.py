"""
Extracts the kernels of a module, each as a module of its own that holds everything that decides its machine code.

    func.func @main(%a0: tensor<16x256xf32>) -> tensor<16x64xf32> {
      %w1 = graph.weight "w1" : tensor<256x64xf32>
      %r0 = graph.call_kernel @kernel(%a0, %w1) : ...
      func.return %r0
    }
    tensor_loop.func private @kernel(...) outs(...) { ... "block0" ... "block1" ... }

Kernels always get the names above, so that equal kernels of different models have the same structural hash, and a
schedule that fits one fits the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp, NoneAttr, StringAttr, SymbolRefAttr, TensorType
from xdsl.ir import Attribute, Block, Region

from ...core.ir.structural_hash import structural_hash
from ...core.ir.walk import ops_of
from ...core.roles import PREPARE, WRITTEN
from ...dialects.graph.calls import CallKernelOp
from ...dialects.graph.constants import WeightOp
from ...dialects.schedule import ProgramOp
from ...dialects.schedule.ops import GetBlockOp
from ...dialects.tensor_loop import BlockOp, CallOp, FuncOp
from ...lazy_dataclass import dataclass
from ..default.constants import Constants

NAME = "kernel"


@dataclass(frozen=True)
class Kernel:
    """A loop function of a module."""

    function: FuncOp
    constant: tuple[bool, ...]
    """Says of each input whether it is known when the program is loaded, at every call."""

    @property
    def name(self) -> str:
        return self.function.sym_name.data

    @property
    def blocks(self) -> list[BlockOp]:
        return ops_of(self.function, BlockOp)

    @cached_property
    def module(self) -> ModuleOp:
        """Returns a module of the kernel alone."""
        function = self.function.clone()
        function.sym_name = StringAttr(NAME)
        function.sym_visibility = StringAttr("private")
        for number, block in enumerate(ops_of(function, BlockOp)):
            block.block_name = StringAttr(f"block{number}")
        return ModuleOp([self._main(), function])

    def _main(self) -> func.FuncOp:
        types = [_tensor(type_) for type_ in self.function.input_types]
        free = [type_ for type_, known in zip(types, self.constant, strict=True) if not known]
        results = [_tensor(type_) for type_ in self.function.output_types]
        body = Block(arg_types=free)
        arguments = iter(body.args)
        operands = []
        for number, (type_, known) in enumerate(zip(types, self.constant, strict=True)):
            if known:
                weight = WeightOp(f"w{number}", type_)
                body.add_op(weight)
                operands.append(weight.result)
            else:
                operands.append(next(arguments))
            operands[-1].name_hint = f"{'w' if known else 'a'}{number}"
        call = CallKernelOp(NAME, operands, results)
        body.add_ops([call, func.ReturnOp(*call.results)])
        return func.FuncOp("main", (free, results), Region(body))

    @cached_property
    def hash(self) -> str:
        """Returns a hash that is the same for the same kernel, whatever its names are."""
        (function,) = ops_of(self.module, FuncOp)
        mark = function.attributes.pop(WRITTEN, None)  # What the kernel computes does not depend on it.
        digest = structural_hash(self.module)
        if mark is not None:
            function.attributes[WRITTEN] = mark
        return digest

    def renamed(self, program: ProgramOp) -> ProgramOp:
        """Returns a schedule of `module` as one of the function itself."""
        names = {f"block{number}": block.block_name.data for number, block in enumerate(self.blocks)}
        copy = program.clone()
        for step in copy.body.block.ops:
            if isinstance(step, GetBlockOp):
                step.function = SymbolRefAttr(self.name)
                step.block_name = StringAttr(names.get(step.block_name.data, step.block_name.data))
        return copy


def kernels_of(module: ModuleOp) -> list[Kernel]:
    """
    Returns the loop functions whose schedules can be searched separately.

    They work on whole buffers of known sizes and call no other functions. Functions that run only once, because only
    functions that prepare weights call them, are left out.
    """
    calls: dict[str, list[CallKernelOp]] = {}
    for call in ops_of(module, CallKernelOp):
        calls.setdefault(call.callee_name, []).append(call)
    constants = Constants(module)
    found: list[Kernel] = []
    for function in (op for op in module.ops if isinstance(op, FuncOp)):
        users = calls.get(function.sym_name.data, [])
        if users and all(_prepares(call) for call in users):
            continue
        if _stands_alone(function):
            found.append(Kernel(function, tuple(_known(function, users, constants))))
    return found


def _known(function: FuncOp, calls: list[CallKernelOp], constants: Constants) -> Iterator[bool]:
    """Yields for each input whether `prepack-weights`, which changes private functions only, sees it as constant."""
    private = bool(calls) and function.sym_visibility is not None
    for number in range(len(function.inputs)):
        yield private and all(constants.is_constant(call.inputs[number]) for call in calls)


def _prepares(call: CallKernelOp) -> bool:
    around = call.parent_op()
    return around is not None and PREPARE in around.attributes


def _stands_alone(function: FuncOp) -> bool:
    types = (*function.input_types, *function.output_types)
    plain = all(isinstance(t, MemRefType) and t.has_static_shape() and isinstance(t.layout, NoneAttr) for t in types)
    return plain and not ops_of(function, CallOp, func.CallOp)


def _tensor(type_: Attribute) -> TensorType:
    assert isinstance(type_, MemRefType)
    return TensorType(type_.element_type, type_.get_shape())
