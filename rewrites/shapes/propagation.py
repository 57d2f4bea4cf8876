"""Carries known sizes forward through functions, calls, branches and loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, IntegerAttr, ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...core.messages.diagnostics import OperationError
from ...core.messages.locations import copy_location
from ...core.roles import SIGNATURE
from ...dialects.graph.base import TensorOp, infer_result_types
from ...dialects.graph.calls import CallKernelOp
from ...dialects.graph.dynamic import DynamicOp
from ...dialects.graph.shapes import ShapeError
from ...patterns.language.constants import is_constant_op
from ...patterns.language.functions import NameSupply, functions_of
from ...patterns.running.driver import ordered_blocks
from ..constants.fold_constant import take_branch
from ..constants.known_values import KnownValues
from ..simplify.remove_unused_functions import is_private, mentioned_symbols
from .kernels import Kernels


def sizes_text(shape: Sequence[int]) -> str:
    """Returns `4x?` for (4, -1), and `scalar` for no sizes."""
    return "x".join("?" if size == DYNAMIC_INDEX else str(size) for size in shape) or "scalar"


class Propagation:
    """
    One run over a module. Recurses over nested regions and chains of calls, not over ops.

    A private function with one call is changed in place, any other gets a private copy per tuple of argument types. Ops
    that take sizes as tensors are replaced by their static forms, and branches whose condition follows from sizes by
    the one that is taken.
    """

    def __init__(self, module: ModuleOp):
        self._module = module
        self._functions = {function.sym_name.data: function for function in functions_of(module)}
        self._names = NameSupply(module)
        self._calls: dict[str, int] = {}
        for op in module.walk():
            if isinstance(op, func.CallOp):
                name = op.callee.string_value()
                self._calls[name] = self._calls.get(name, 0) + 1
        self._specialized: dict[tuple[str, tuple[Attribute, ...]], func.FuncOp] = {}
        self._copied: dict[str, func.FuncOp] = {}
        self._known = KnownValues()
        self._kernels = Kernels(module, self._names)

    def specialize(self, function: func.FuncOp, types: Sequence[Attribute]) -> None:
        """Gives `function` these argument types and infers everything in it."""
        self._specialized[function.sym_name.data, tuple(types)] = function
        blocks = ordered_blocks(function.body)
        for argument, type_ in zip(blocks[0].args, types, strict=True):
            set_type(argument, type_)
        function.function_type = FunctionType.from_lists(list(types), list(function.function_type.outputs.data))
        for block in blocks:
            self._block(list(block.ops))
        self._update_signature(function)

    def _update_signature(self, function: func.FuncOp) -> None:
        inputs = list(function.function_type.inputs.data)
        outputs = list(function.function_type.outputs.data)
        for block in function.body.blocks:
            if isinstance(last := block.last_op, func.ReturnOp):
                outputs = [
                    merged(last, f"result {number}", declared, value.type)
                    for number, (declared, value) in enumerate(zip(outputs, last.operands, strict=True))
                ]
        function.function_type = FunctionType.from_lists(inputs, outputs)
        if SIGNATURE in function.attributes:
            function.attributes[SIGNATURE] = function.function_type

    def finish(self) -> int:
        """
        Removes functions that were replaced by copies. Returns how many functions were specialised.

        Raises `OperationError` for a `?` that is left in one of them.
        """
        self._known.erase_unused()
        for function in self._specialized.values():
            for op in function.walk():
                for value in op.results:
                    if is_dynamic(value.type):
                        message = f"the result has type {value.type} after all sizes are given"
                        raise OperationError(
                            op, message, hint="its size depends on more than the shapes of the arguments"
                        )
        mentioned = mentioned_symbols(self._module)
        for name, function in (*self._copied.items(), *self._kernels.copied.items()):
            if name not in mentioned and is_private(function):
                function.detach()
                function.erase()
        return len(self._specialized)

    # Ops

    def _block(self, ops: Sequence[Operation]) -> None:
        for op in ops:
            match op:
                case DynamicOp():
                    self._dynamic_op(op)
                case TensorOp():
                    self._graph_op(op)
                case func.CallOp():
                    self._call(op)
                case CallKernelOp():
                    self._kernel(op)
                case scf.IfOp():
                    self._if(op)
                case scf.ForOp():
                    self._for(op)
                case _:
                    for region in op.regions:
                        for block in ordered_blocks(region):
                            self._block(list(block.ops))

    def _graph_op(self, op: Operation) -> None:
        try:
            types = infer_result_types(op)
        except VerifyException as error:
            raise OperationError(op, f"with the given sizes {error}") from error
        _refine(op, types)

    def _dynamic_op(self, op: DynamicOp) -> None:
        """Puts the static form in place of an op that takes sizes."""
        operands = dict(zip((name for name, _ in op.get_irdl_definition().operands), op.operands, strict=True))
        sizes: list[Any] = []
        for name in op.SIZES:
            array = self._known.array(operands[name])
            if array is None:
                self._fail_on_data(op, name, operands[name])
            sizes.append(array.reshape(-1).tolist())
        try:
            ops = op.static_form(*sizes)
        except (ShapeError, VerifyException) as error:
            raise OperationError(op, f"with the given sizes {error}") from error
        for each in ops:
            copy_location(op, each)
        result = ops[-1].results[0] if ops else op.source
        found = merged(op, "the result", op.results[0].type, result.type)
        assert op.parent is not None and found == result.type
        op.parent.insert_ops_before(ops, op)
        if ops:
            result.name_hint = op.results[0].name_hint
        op.results[0].replace_all_uses_with(result)
        op.detach()
        op.erase()

    def _fail_on_data(self, op: DynamicOp, name: str, value: SSAValue) -> NoReturn:
        culprit = self._known.culprit(value)
        assert culprit is not None
        origin = culprit.owner
        what = f"argument %{culprit.name_hint or 'of a block'}" if isinstance(origin, Block) else f"'{origin.name}'"
        message = f"the sizes in '{name}' depend on the data of {what}, expected them to follow from shapes"
        hint = "an argument that holds sizes can be given its value when the model is imported: --bind NAME=…"
        raise OperationError(op, message, hint=hint if isinstance(origin, Block) else None)

    def _call(self, op: func.CallOp) -> None:
        callee = self._functions.get(op.callee.string_value())
        types = tuple(value.type for value in op.operands)
        if callee is None or not callee.body.blocks:
            return
        if types == tuple(callee.function_type.inputs.data):
            _refine(op, callee.function_type.outputs.data)
            return
        name = callee.sym_name.data
        done = self._specialized.get((name, types))
        if done is None:
            done = callee
            if self._calls.get(name, 0) > 1 or not is_private(callee):
                done = self._copy(callee)
            self._specialized[name, types] = done
            self.specialize(done, types)
        op.callee = type(op.callee)(done.sym_name.data)
        _refine(op, list(done.function_type.outputs.data))

    def _kernel(self, op: CallKernelOp) -> None:
        """Infers the results of a call of a loop function, and makes it one of a copy where the function has a `?`."""
        known = not any(is_dynamic(value.type) for value in op.operands)
        if known and self._kernels.function(op.callee_name) is not None:
            _refine(op, self._kernels.result_types(op))
            self._kernels.specialize(op)

    def _copy(self, callee: func.FuncOp) -> func.FuncOp:
        name = callee.sym_name.data
        copy = callee.clone()
        copy.sym_name = StringAttr(self._names.fresh(f"{name}_"))
        copy.sym_visibility = StringAttr("private")
        self._module.body.block.add_op(copy)
        self._functions[copy.sym_name.data] = copy
        self._copied[name] = callee
        return copy

    def _if(self, op: scf.IfOp) -> None:
        condition = self._known.array(op.cond)
        if condition is not None:
            self._block(take_branch(op, bool(condition)))
            return
        found: list[list[Attribute]] = []
        for region in op.regions:
            for block in region.blocks:
                self._block(list(block.ops))
                assert block.last_op is not None
                found.append([value.type for value in block.last_op.operands])
        if not op.results or len(found) != 2:
            return
        for number, (first, second) in enumerate(zip(*found, strict=True)):
            if first != second:
                raise OperationError(op, f"result {number} has type {first} in one branch and {second} in the other")
        _refine(op, found[0])

    def _for(self, op: scf.ForOp) -> None:
        """Makes bounds that follow from sizes constants, and removes a loop without iterations."""
        low, high = self._bound(op, 0), self._bound(op, 1)
        if low is not None and high is not None and low >= high:
            for result, value in zip(op.results, op.iter_args, strict=True):
                result.replace_all_uses_with(value)
            op.detach()
            op.erase()
            return
        block = op.body.block
        types = [value.type for value in op.iter_args]
        for argument, type_ in zip(block.args[1:], types, strict=True):
            set_type(argument, type_)
        self._block(list(block.ops))
        assert block.last_op is not None
        for number, (value, type_) in enumerate(zip(block.last_op.operands, types, strict=True)):
            if value.type != type_:
                raise OperationError(
                    op, f"value {number} of the loop has type {type_} before and {value.type} after a turn"
                )
        _refine(op, types)

    def _bound(self, op: scf.ForOp, number: int) -> int | None:
        """Returns the number that operand `number` holds and makes it a constant, or `None` when it depends on data."""
        value = op.operands[number]
        array = self._known.array(value)
        if array is None:
            return None
        found = int(array)
        if isinstance(value.owner, Operation) and not is_constant_op(value.owner):
            constant = arith.ConstantOp(IntegerAttr.from_index_int_value(found))
            copy_location(op, constant)
            assert op.parent is not None
            op.parent.insert_op_before(constant, op)
            op.operands[number] = constant.result
        return found


def set_type(value: SSAValue, type_: Attribute) -> None:
    """Changes the type of a value in place, so that its uses stay."""
    value._type = type_  # pyright: ignore[reportPrivateUsage]


def is_dynamic(type_: Attribute) -> bool:
    """Returns whether a tensor type has a `?`."""
    return isinstance(type_, TensorType) and DYNAMIC_INDEX in type_.get_shape()


def _refine(op: Operation, types: Sequence[Attribute]) -> None:
    for number, (result, type_) in enumerate(zip(op.results, types, strict=True)):
        what = "the result" if len(op.results) == 1 else f"result {number}"
        set_type(result, merged(op, what, result.type, type_))


def merged(op: Operation, what: str, declared: Attribute, found: Attribute) -> Attribute:
    """Returns the type with the sizes that either type knows. Raises `OperationError` at `op` when they disagree."""
    if declared == found or not isinstance(declared, TensorType) or not isinstance(found, TensorType):
        return found
    sizes, others = declared.get_shape(), found.get_shape()
    agree = len(sizes) == len(others) and all(
        DYNAMIC_INDEX in pair or pair[0] == pair[1] for pair in zip(sizes, others, strict=True)
    )
    if not agree:
        message = f"{what} has the shape {sizes_text(others)} with the given sizes, declared is {sizes_text(sizes)}"
        raise OperationError(op, message)
    if DYNAMIC_INDEX not in others:
        return found
    shape = [size if other == DYNAMIC_INDEX else other for size, other in zip(sizes, others, strict=True)]
    return TensorType(found.element_type, shape, found.encoding)
