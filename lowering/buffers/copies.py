"""
Copies of kernels that find an operand in the buffer of their result.

Before: `@exp(%a) outs(%b)`. After: `@exp_in_place() outs(%b)`, which reads its operand from `%b`.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Operation

from ...analysis.in_place import may_overwrite
from ...core.ir.cloning import clone_op
from ...core.ir.symbols import fresh_name
from ...core.ir.walk import walk
from ...core.roles import DIMS, IN_PLACE, IN_PLACE_COPY
from ...dialects import tensor_loop
from ...lazy_dataclass import dataclass

SUFFIX: Final = "_in_place"

Places = tuple[tuple[int, ...], int]
"""The positions of inputs that are one buffer, and the number of the output that lies there as well."""


@dataclass
class InPlaceKernels:
    """Copies of kernels whose output is one of their inputs, made once each."""

    module: ModuleOp
    kernels: dict[str, tensor_loop.FuncOp | func.FuncOp] = field(default_factory=dict)
    """The kernels, and the declarations of those that have been lowered already."""
    _legal: dict[tuple[str, Places], bool] = field(default_factory=dict)
    _made: dict[tuple[str, Places], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._names = names_of(self.module)
        for op in self.module.ops:
            if isinstance(op, tensor_loop.FuncOp):
                self.kernels[op.sym_name.data] = op
            elif isinstance(op, func.FuncOp) and not op.body.blocks:
                self.kernels[op.sym_name.data] = op
                if (found := _declared_copy(op)) is not None:
                    places, copy = found
                    self._legal[op.sym_name.data, places] = True
                    self._made[op.sym_name.data, places] = copy

    def may_overwrite(self, name: str, places: Places) -> bool:
        """Returns whether the output may lie where the inputs lie."""
        key = (name, places)
        if key not in self._legal:
            kernel = self.kernels.get(name)
            self._legal[key] = isinstance(kernel, tensor_loop.FuncOp) and may_overwrite(kernel, *places)
        return self._legal[key]

    def merged(self, name: str, places: Places) -> str:
        """Returns the name of a copy of a kernel that reads the inputs from the output."""
        key = (name, places)
        if key not in self._made:
            kernel = self.kernels[name]
            assert isinstance(kernel, tensor_loop.FuncOp)
            new = clone_op(kernel)
            new.location = kernel.location
            become_copy(new, places, self._names)
            self.module.body.block.insert_op_after(new, kernel)
            self._made[key] = new.sym_name.data
            self.kernels[new.sym_name.data] = new
        return self._made[key]

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


def names_of(module: ModuleOp) -> set[str]:
    """Returns the symbols of a module."""
    symbols = (op.get_attr_or_prop("sym_name") for op in module.ops)
    return {symbol.data for symbol in symbols if isinstance(symbol, StringAttr)}


def become_copy(kernel: tensor_loop.FuncOp, places: Places, taken: set[str]) -> None:
    """Makes `kernel` the copy of itself that reads these inputs from the output, under a name that is not `taken`."""
    inputs, output = places
    kernel.properties["sym_name"] = StringAttr(fresh_name(kernel.sym_name.data + SUFFIX, taken))
    kernel.properties["sym_visibility"] = StringAttr("private")
    target = kernel.outputs[output]
    types = list(kernel.input_types)
    arguments = len(kernel.body.block.args)
    attributes = [DictionaryAttr({})] * arguments if kernel.arg_attrs is None else _without_dims(kernel.arg_attrs)
    attributes[target.index] = DictionaryAttr(attributes[target.index].data | {IN_PLACE: UnitAttr()})
    blocks: dict[Operation, None] = {}
    for position in sorted(inputs, reverse=True):
        argument = kernel.inputs[position]
        for use in argument.uses:
            blocks |= dict.fromkeys(_blocks_around(use.operation))
        argument.replace_all_uses_with(target)
        kernel.body.block.erase_arg(argument)
        del types[position], attributes[position]
        kernel.properties["function_type"] = FunctionType.from_lists(types, kernel.output_types)
    kernel.properties["arg_attrs"] = ArrayAttr(attributes)
    for block in blocks:
        assert isinstance(block, tensor_loop.BlockOp)
        block.refresh_regions()


def declare_copy(declaration: func.FuncOp, places: Places, copy: str) -> None:
    """Says on the declaration of a kernel which copy of it there is."""
    inputs, output = places
    numbers = ArrayAttr([IntegerAttr(number, i64) for number in (output, *inputs)])
    declaration.attributes[IN_PLACE_COPY] = DictionaryAttr({copy: numbers})


def _declared_copy(declaration: func.FuncOp) -> tuple[Places, str] | None:
    found = declaration.attributes.get(IN_PLACE_COPY)
    if not isinstance(found, DictionaryAttr):
        return None
    ((copy, numbers),) = found.data.items()
    assert isinstance(numbers, ArrayAttr)
    output, *inputs = (each.value.data for each in numbers if isinstance(each, IntegerAttr))
    return (tuple(inputs), output), copy


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
