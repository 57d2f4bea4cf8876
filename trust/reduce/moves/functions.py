"""Functions whose arguments and results change: their types and the attributes that go with these."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, SymbolRefAttr
from xdsl.dialects.llvm import LLVMFunctionType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.traits import IsTerminator

from ....core.ir.walk import walk
from ....core.roles import SIGNATURE


def function_around(op: Operation) -> Operation | None:
    """Returns the op with a `function_type` that an op stands in."""
    around = op.parent_op()
    while around is not None and "function_type" not in around.properties:
        around = around.parent_op()
    return around


def functions(module: Operation) -> list[Operation]:
    """Returns the ops with a function type that have one block and more than nothing in it."""
    return [
        op
        for op in walk(module)
        if "function_type" in op.properties
        and len(op.regions) == 1
        and len(op.regions[0].blocks) > 0
        and op.regions[0].blocks[0].last_op is not None
    ]


def used_symbols(module: Operation) -> set[str]:
    """Returns the names that ops of the module refer to."""
    return {name for op in walk(module) for name in symbols_of(op)}


def symbols_of(op: Operation) -> set[str]:
    """Returns the names that an op refers to."""
    found: set[str] = set()
    pending: list[object] = [value for name, value in _all(op) if name != "sym_name"]
    while pending:
        each = pending.pop()
        if isinstance(each, SymbolRefAttr):
            found.add(each.root_reference.data)
        elif isinstance(each, ArrayAttr):
            pending += each.data
        elif isinstance(each, DictionaryAttr):
            pending += each.data.values()
    return found


def _all(op: Operation) -> list[tuple[str, Attribute]]:
    return [*op.properties.items(), *op.attributes.items()]


def return_of(function: Operation) -> Operation | None:
    """Returns the op at the end of a function of one block that returns values, or `None`."""
    if len(function.regions[0].blocks) != 1:
        return None
    last = function.regions[0].blocks[0].last_op
    return last if last is not None and last.has_trait(IsTerminator) else None


def outs_of(function: Operation) -> int:
    """Returns the number of arguments at the end that stand for results."""
    type_ = function.properties["function_type"]
    if function.name == "tensor_loop.func" and isinstance(type_, FunctionType):
        return len(type_.outputs.data)
    return 0


def add_argument(function: Operation, type_: Attribute) -> BlockArgument:
    """Adds an argument of a type to a function, after the other inputs, and returns it."""
    block = function.regions[0].blocks[0]
    place = len(block.args) - outs_of(function)
    made = block.insert_arg(type_, place)
    _change(function, block, [*range(place), None, *range(place, len(block.args) - 1)], None)
    return made


def drop_argument(function: Operation, number: int) -> None:
    """Removes an argument that nothing uses."""
    block = function.regions[0].blocks[0]
    outs = outs_of(function)
    is_output = number >= len(block.args) - outs
    kept = [each for each in range(len(block.args)) if each != number]
    block.erase_arg(block.args[number])
    _change(function, block, kept, None, outs - is_output)


def set_results(function: Operation, values: Sequence[SSAValue]) -> None:
    """Makes a function return some values."""
    last = return_of(function)
    if last is None:
        raise ValueError("the function has several blocks")
    old = list(last.operands)
    last.operands = values
    block = function.regions[0].blocks[0]
    kept = [old.index(each) if each in old else None for each in values]
    _change(function, block, list(range(len(block.args))), kept)


def _change(
    function: Operation,
    block: Block,
    arguments: Sequence[int | None],
    results: Sequence[int | None] | None,
    outs: int | None = None,
) -> None:
    """Writes the types anew. Arguments and results are told by their places before, `None` for new ones."""
    outs = outs_of(function) if outs is None else outs
    inputs = [each.type for each in block.args]
    last = return_of(function)
    type_ = function.properties["function_type"]
    if isinstance(type_, LLVMFunctionType):
        output = last.operands[0].type if last is not None and last.operands else type_.output
        function.properties["function_type"] = LLVMFunctionType(inputs, output, bool(type_.is_variadic))
    elif isinstance(type_, FunctionType):
        split = len(inputs) - outs
        if results is None:
            outputs = list(type_.outputs.data) if function.name != "tensor_loop.func" else inputs[split:]
        else:
            outputs = [] if last is None else [each.type for each in last.operands]
        function.properties["function_type"] = FunctionType.from_lists(inputs[:split], outputs)
    for name, kept in (("arg_attrs", arguments), ("res_attrs", results)):
        old = function.properties.get(name)
        if kept is not None and isinstance(old, ArrayAttr):
            function.properties[name] = ArrayAttr(
                DictionaryAttr({}) if each is None else old.data[each] for each in kept
            )
    function.attributes.pop(SIGNATURE, None)
