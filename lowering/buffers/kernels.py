"""Loop functions as bufferisation sees them: temporaries that callers own, and public ones as entries."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerType,
    MemRefType,
    ModuleOp,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, Region

from ...core.ir.walk import ops_of
from ...core.messages.diagnostics import fail
from ...core.messages.locations import copy_location
from ...core.roles import SIGNATURE, TEMPORARY
from ...dialects import tensor_loop
from ...dialects.graph.calls import CallKernelOp, is_row_major
from ...lazy_dataclass import dataclass
from .flatten_dynamic_buffers import is_dynamic

BYTE = 8
"""The bits of the narrowest integers in memory."""


@dataclass
class KernelSignature:
    """The arguments that a loop function wants from its callers besides inputs and outputs."""

    temporaries: list[MemRefType]


def refuse_open_kernels(module: ModuleOp) -> None:
    """Raises an error for a call on tensors of a loop function whose buffers have sizes that are not known."""
    opened = {
        op.sym_name.data
        for op in module.ops
        if isinstance(op, tensor_loop.FuncOp) and any(map(is_dynamic, op.body.block.arg_types))
    }
    for call in ops_of(module, CallKernelOp) if opened else ():
        if call.callee_name in opened:
            message = f"@{call.callee_name} has buffers of sizes that are not known"
            fail(call, message, hint="specialize-shapes makes a copy of it for the sizes of the call")


def hoist_temporaries(module: ModuleOp) -> dict[str, KernelSignature]:
    """
    Turns the `tensor_loop.alloc`s of every function called by `graph.call_kernel` into arguments after its inputs.

    Each buffer gets an argument of its own: LLVM then knows that they do not overlap. Functions reached by
    `tensor_loop.call`, which has its arguments already, keep theirs. Returns the signatures of all loop functions, and
    of the declarations of those that have left the module.
    """
    called = {op.callee_name for op in ops_of(module, CallKernelOp)}
    called -= {op.callee.string_value() for op in ops_of(module, tensor_loop.CallOp)}
    found: dict[str, KernelSignature] = {}
    for op in module.ops:
        if isinstance(op, tensor_loop.FuncOp):
            found[op.sym_name.data] = hoist(op) if op.sym_name.data in called else KernelSignature([])
        elif isinstance(op, func.FuncOp) and op.sym_name.data in called:
            found[op.sym_name.data] = _declared(op)
    return found


def _declared(function: func.FuncOp) -> KernelSignature:
    """Returns the signature of a loop function that has been lowered already, from its declaration."""
    attributes = () if function.arg_attrs is None else function.arg_attrs.data
    types = zip(function.function_type.inputs.data, attributes, strict=bool(attributes))
    return KernelSignature([type_ for type_, each in types if isinstance(type_, MemRefType) and TEMPORARY in each.data])


def hoist(function: tensor_loop.FuncOp) -> KernelSignature:
    """Turns the `tensor_loop.alloc`s of a function into arguments after its inputs, and returns its signature."""
    block = function.body.block
    allocs = [op for op in block.ops if isinstance(op, tensor_loop.AllocOp) and not op.dynamic_sizes]
    if not allocs:
        return KernelSignature([])
    inputs, outputs = list(function.input_types), list(function.output_types)
    types: list[MemRefType] = []
    for alloc in allocs:
        type_ = alloc.memref.type
        assert isinstance(type_, MemRefType)
        argument = block.insert_arg(type_, len(inputs) + len(types))
        argument.name_hint = alloc.memref.name_hint
        alloc.memref.replace_all_uses_with(argument)
        alloc.detach()
        alloc.erase()
        types.append(type_)
    known = function.arg_attrs.data if function.arg_attrs is not None else ()
    attributes = list(known) or [DictionaryAttr({})] * (len(inputs) + len(outputs))
    marked = [DictionaryAttr({TEMPORARY: UnitAttr()})] * len(types)
    function.properties["arg_attrs"] = ArrayAttr([*attributes[: len(inputs)], *marked, *attributes[len(inputs) :]])
    function.properties["function_type"] = FunctionType.from_lists([*inputs, *types], outputs)
    return KernelSignature(types)


def wrap_public_kernels(module: ModuleOp, functions: Sequence[tensor_loop.FuncOp]) -> list[func.FuncOp]:
    """
    Makes every public loop function an entry: it becomes private `@name_kernel`, and `@name` a function on tensors
    that calls it.
    """
    taken = {name.data for op in module.ops if isinstance(name := op.get_attr_or_prop("sym_name"), StringAttr)}
    wrappers: list[func.FuncOp] = []
    renamed: dict[str, str] = {}
    for function in functions:
        name = function.sym_name.data
        new_name, number = f"{name}_kernel", 1
        while new_name in taken:
            new_name, number = f"{name}_kernel_{number}", number + 1
        taken.add(new_name)
        renamed[name] = new_name
        function.properties["sym_name"] = StringAttr(new_name)
        function.properties["sym_visibility"] = StringAttr("private")
        wrappers.append(_wrapper(name, new_name, function))
    for op in ops_of(module, CallKernelOp, tensor_loop.CallOp):
        callee = op.properties["callee"]
        if isinstance(callee, SymbolRefAttr) and callee.root_reference.data in renamed:
            op.properties["callee"] = SymbolRefAttr(renamed[callee.root_reference.data])
    module.body.block.add_ops(wrappers)
    return wrappers


def _wrapper(name: str, kernel: str, function: tensor_loop.FuncOp) -> func.FuncOp:
    _check_stored(function)
    known = function.attributes.pop(SIGNATURE, None)
    types = function.function_type if not isinstance(known, FunctionType) else known
    inputs = [_tensor_of(function, type_) for type_ in types.inputs]
    outputs = [_tensor_of(function, type_) for type_ in types.outputs]
    block = Block(arg_types=inputs)
    for argument, buffer in zip(block.args, function.inputs, strict=True):
        argument.name_hint = buffer.name_hint
    call = CallKernelOp(kernel, block.args, outputs)
    for result, buffer in zip(call.results, function.outputs, strict=True):
        result.name_hint = buffer.name_hint
    back = func.ReturnOp(*call.results)
    block.add_ops([call, back])
    wrapper = func.FuncOp(name, (inputs, outputs), Region(block))
    for op in (wrapper, call, back):
        copy_location(function, op)
    return wrapper


def _check_stored(function: tensor_loop.FuncOp) -> None:
    """Raises an error for a buffer of an entry that does not lie in memory as an array does."""
    types = function.function_type
    inputs, outputs = ([_tensor_of(function, type_) for type_ in each] for each in (types.inputs, types.outputs))
    for type_ in (*types.inputs, *types.outputs):
        assert isinstance(type_, MemRefType)
        element = type_.element_type
        if isinstance(element, IntegerType) and element.signedness.data is not Signedness.SIGNED:
            element = IntegerType(max(element.width.data, BYTE))
        stored = MemRefType(element, type_.get_shape())
        rows = element == type_.element_type and is_row_major(type_, type_.get_shape())
        if not rows or type_.memory_space != stored.memory_space:
            hint = f"'{SIGNATURE}' says which arrays it takes, here {FunctionType.from_lists(inputs, outputs)}"
            message = f"an entry has a buffer of type {type_}, expected {stored}, as arrays lie in memory"
            fail(function, message, hint=None if element == type_.element_type else hint)


def _tensor_of(function: Operation, type_: Attribute) -> TensorType:
    if isinstance(type_, TensorType):
        return type_
    if not isinstance(type_, MemRefType):
        fail(function, f"an entry takes buffers only, found an argument of type {type_}")
    return TensorType(type_.get_element_type(), type_.get_shape())
