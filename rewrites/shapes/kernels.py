"""Copies of loop functions with `?` for the sizes that calls on tensors give them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...analysis.result_sizes import sizes_by_stores
from ...core.ir.sizes import NamedSizes, SizeError
from ...core.ir.walk import walk
from ...core.messages.diagnostics import OperationError
from ...core.messages.locations import copy_location
from ...core.roles import DIMS, NAME, ROLE, SIGNATURE
from ...dialects import tensor_loop
from ...dialects.graph.calls import CallKernelOp, is_row_major
from ...dialects.tensor_loop.syntax import Extent, split_extents
from ...patterns.language.functions import NameSupply

Shape = tuple[int, ...]

_FOLDED: Final[dict[type[Operation], Callable[[int, int], int]]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.FloorDivSIOp: lambda a, b: a // b,
    arith.CeilDivSIOp: lambda a, b: -(-a // b),
    arith.MinSIOp: min,
    arith.MaxSIOp: max,
    arith.DivUIOp: lambda a, b: a % 2**64 // b,
    arith.RemUIOp: lambda a, b: a % 2**64 % b,
}
"""Arithmetic on sizes whose result is folded, as every extent should be a number. A divisor below 1 is left alone."""

_DIVISIONS: Final = (arith.FloorDivSIOp, arith.CeilDivSIOp, arith.DivUIOp, arith.RemUIOp)


class Kernels:
    """Loop functions of a module, and their copies for known sizes, one per kernel and tuple of shapes."""

    def __init__(self, module: ModuleOp, names: NameSupply):
        self._module = module
        self._names = names
        self._functions = {op.sym_name.data: op for op in module.ops if isinstance(op, tensor_loop.FuncOp)}
        self._entries: dict[str, list[tuple[str, ...]]] = {}
        self._copies: dict[tuple[str, tuple[Attribute, ...]], tensor_loop.FuncOp] = {}
        self.copied: dict[str, tensor_loop.FuncOp] = {}
        """The kernels that have copies, by name."""

    def function(self, name: str) -> tensor_loop.FuncOp | None:
        """Returns the loop function of this name, None where there is none."""
        return self._functions.get(name)

    # Sizes of results

    def result_types(self, op: CallKernelOp) -> list[Attribute]:
        """
        Returns the types of the results of a call on tensors of known sizes.

        Raises `OperationError` where sizes of operands contradict the kernel, or those of results do not follow.
        """
        kernel = self._functions[op.callee_name]
        sizes, entries = self._sizes(op, kernel)
        found: list[Attribute] = []
        for number, (result, buffer) in enumerate(zip(op.results, kernel.outputs, strict=True)):
            declared = result.type
            assert isinstance(declared, TensorType) and isinstance(buffer.type, MemRefType)
            shape: list[int] = []
            known = zip(declared.get_shape(), buffer.type.get_shape(), entries[buffer.index], strict=True)
            for axis, (said, fixed, entry) in enumerate(known):
                size = fixed if fixed != DYNAMIC_INDEX else self._computed(op, sizes, entry)
                if size is None and said == DYNAMIC_INDEX:
                    what = f"dimension {axis} of result {number}"
                    message = f"the size of {what} does not follow from the operands of @{op.callee_name}"
                    hint = f'name it in @{op.callee_name}: {{stepwell.dims = ["n"]}}, or give its size in the type'
                    raise OperationError(op, message, hint=hint)
                shape.append(said if size is None else size)
            found.append(TensorType(declared.element_type, shape, declared.encoding))
        return found

    def _sizes(self, op: CallKernelOp, kernel: tensor_loop.FuncOp) -> tuple[NamedSizes, list[tuple[str, ...]]]:
        """Returns the sizes by name that the operands give, and `stepwell.dims` of all arguments of the kernel."""
        name = op.callee_name
        entries = self._entries.setdefault(name, sizes_by_stores(kernel))
        sizes = NamedSizes()
        shapes: list[Shape] = []
        for number, (value, buffer) in enumerate(zip(op.operands, kernel.input_types, strict=True)):
            assert isinstance(value.type, TensorType) and isinstance(buffer, MemRefType)
            _check_fits(op, number, value.type.get_shape(), buffer)
            shapes.append(value.type.get_shape())
        try:
            for learn in (sizes.bind, sizes.check):
                for number, (shape, each) in enumerate(zip(shapes, entries, strict=False)):
                    learn(each, shape, lambda axis, number=number: f" (dimension {axis} of operand {number})")
        except SizeError as error:
            raise OperationError(op, f"@{name}: {error}") from None
        return sizes, entries

    def _computed(self, op: CallKernelOp, sizes: NamedSizes, entry: str) -> int | None:
        try:
            return sizes.size(entry) if entry else None
        except SizeError as error:
            raise OperationError(op, f"@{op.callee_name}: {error}") from None

    # Copies

    def specialize(self, op: CallKernelOp) -> None:
        """Makes a call on tensors of known sizes one of a copy of its kernel for them, where the kernel has a `?`."""
        kernel = self._functions[op.callee_name]
        shapes = [value.type.get_shape() for value in (*op.operands, *op.results) if isinstance(value.type, TensorType)]
        buffers = (*kernel.input_types, *kernel.output_types)
        for type_, shape in zip(buffers, shapes, strict=True):
            if isinstance(type_, MemRefType) and not is_row_major(type_, shape):
                found = "x".join(map(str, shape))
                message = f"@{kernel.sym_name.data} takes a buffer of type {type_} for a tensor of shape {found}"
                raise OperationError(op, f"{message}, expected one in row-major order")
        types = [static_type(type_, shape) for type_, shape in zip(buffers, shapes, strict=True)]
        if types != [*kernel.input_types, *kernel.output_types]:
            copy = self._copy(op, kernel, types)
            op.properties["callee"] = SymbolRefAttr(copy.sym_name.data)

    def _copy(self, call: Operation, kernel: tensor_loop.FuncOp, types: Sequence[Attribute]) -> tensor_loop.FuncOp:
        name = kernel.sym_name.data
        key = (name, tuple(types))
        if key not in self._copies:
            copy = kernel.clone()
            copy.location = kernel.location
            copy.properties["sym_name"] = StringAttr(self._names.fresh(f"{name}_"))
            copy.properties["sym_visibility"] = StringAttr("private")
            copy.attributes.pop(SIGNATURE, None)
            inputs = len(copy.input_types)
            copy.properties["function_type"] = FunctionType.from_lists(types[:inputs], types[inputs:])
            _forget_names(copy)
            self._module.body.block.insert_op_after(copy, kernel)
            self._copies[key] = self._functions[copy.sym_name.data] = copy
            self.copied[name] = kernel
            _KnownSizes(call, copy, self._call).run(types)
        return self._copies[key]

    def _call(self, call: Operation, op: tensor_loop.CallOp) -> None:
        """Makes a call inside of a copy one of a copy as well, where its buffers have known sizes now."""
        callee = self._functions.get(op.callee.string_value())
        if callee is None:
            return
        types = [value.type for value in (*op.inputs, *op.outputs)]
        if types != [*callee.input_types, *callee.output_types]:
            op.properties["callee"] = SymbolRefAttr(self._copy(call, callee, types).sym_name.data)


def _check_fits(op: Operation, number: int, shape: Sequence[int], buffer: MemRefType) -> None:
    """Raises `OperationError` where an operand has another size than the buffer of the kernel."""
    wanted = buffer.get_shape()
    if any(want not in (DYNAMIC_INDEX, found) for want, found in zip(wanted, shape, strict=True)):
        found = "x".join(map(str, shape))
        raise OperationError(op, f"with the given sizes operand {number} has the shape {found}, expected {buffer}")


def static_type(type_: Attribute, shape: Sequence[int]) -> Attribute:
    """Returns the type of a buffer of `shape` in row-major order, in place of one with `?` in sizes or strides."""
    if not isinstance(type_, MemRefType) or not has_unknowns(type_):
        return type_
    return MemRefType(type_.element_type, shape, NoneAttr(), type_.memory_space)


def has_unknowns(type_: Attribute) -> bool:
    """Returns whether a buffer has a size, stride or offset that its type does not say."""
    return isinstance(type_, MemRefType) and (DYNAMIC_INDEX in type_.get_shape() or "?" in str(type_.layout))


def _forget_names(function: tensor_loop.FuncOp) -> None:
    """Removes the names of sizes that are numbers now, and what makes arguments those of an entry."""
    if function.arg_attrs is not None:
        removed = (DIMS, ROLE, NAME)
        kept = [{key: value for key, value in each.data.items() if key not in removed} for each in function.arg_attrs]
        function.properties.pop("arg_attrs")
        if any(kept):
            function.properties["arg_attrs"] = ArrayAttr(map(DictionaryAttr, kept))


class _KnownSizes:
    """Carries known sizes of arguments through the body of one loop function."""

    def __init__(
        self,
        call: Operation,
        function: tensor_loop.FuncOp,
        specialize: Callable[[Operation, tensor_loop.CallOp], None],
    ):
        self._call = call
        self._function = function
        self._specialize = specialize

    def run(self, types: Sequence[Attribute]) -> None:
        """Gives the arguments these types, and makes numbers of what follows from them."""
        for argument, type_ in zip(self._function.body.block.args, types, strict=True):
            _set_type(argument, type_)
        for op in walk(self._function):
            self._op(op)
        for op in walk(self._function):
            if isinstance(op, tensor_loop.BlockOp):
                op.refresh_regions()

    def _op(self, op: Operation) -> None:
        match op:
            case memref.DimOp():
                self._dim(op)
            case tensor_loop.AllocOp() if op.dynamic_sizes:
                self._alloc(op)
            case tensor_loop.LoopOp():
                op.properties["static_extents"], values = split_extents([self._extent(each) for each in op.extents])
                op.operands = values
            case tensor_loop.BlockOp():
                _set_extents(op, [self._extent(each) for each in op.extents])
            case tensor_loop.CallOp():
                self._specialize(self._call, op)
            case memref.CastOp() if has_unknowns(op.dest.type) and not has_unknowns(op.source.type):
                op.dest.replace_all_uses_with(op.source)
                _erase(op)
            case _ if type(op) in _FOLDED:
                self._fold(op)
            case _:
                pass

    def _extent(self, extent: Extent) -> Extent:
        number = extent if isinstance(extent, int) else _number(extent)
        if number is not None and number < 0:
            message = f"with the given sizes an extent in @{self._function.sym_name.data} is {number}"
            raise OperationError(self._call, message, hint="the sizes of the operands are too small for the kernel")
        return extent if number is None else number

    def _dim(self, op: memref.DimOp) -> None:
        axis, type_ = _number(op.index), op.source.type
        if axis is not None and isinstance(type_, MemRefType) and 0 <= axis < len(type_.get_shape()):
            if (size := type_.get_shape()[axis]) != DYNAMIC_INDEX:
                _replace_by_number(op, size)

    def _fold(self, op: Operation) -> None:
        left, right = (_number(each) for each in op.operands)
        if left is not None and right is not None and not (type(op) in _DIVISIONS and right < 1):
            _replace_by_number(op, _FOLDED[type(op)](left, right))

    def _alloc(self, op: tensor_loop.AllocOp) -> None:
        type_ = op.memref.type
        assert isinstance(type_, MemRefType)
        given = iter([self._extent(each) for each in op.dynamic_sizes])
        sizes = [next(given) if size == DYNAMIC_INDEX else size for size in type_.get_shape()]
        shape = [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]
        op.operands = [size for size in sizes if isinstance(size, SSAValue)]
        _set_type(op.memref, MemRefType(type_.element_type, shape, type_.layout, type_.memory_space))


def _set_extents(op: tensor_loop.BlockOp, extents: Sequence[Extent]) -> None:
    """Replaces the extents of the axes of a block."""
    op.properties["static_extents"], values = split_extents(extents)
    groups = (values, op.binding_operands, op.read_buffers, op.write_buffers)
    sizes = [len(group) for group in groups]
    op.operands = [value for group in groups for value in group]
    op.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)


def _set_type(value: SSAValue, type_: Attribute) -> None:
    """Changes the type of a value in place, so that its uses stay."""
    value._type = type_  # pyright: ignore[reportPrivateUsage]


def _number(value: SSAValue) -> int | None:
    """Returns the number that an `arith.constant` of type index holds, None for any other value."""
    owner = value.owner
    literal = owner.value if isinstance(owner, arith.ConstantOp) else None
    return literal.value.data if isinstance(literal, IntegerAttr) and str(value.type) == "index" else None


def _replace_by_number(op: Operation, number: int) -> None:
    constant = arith.ConstantOp(IntegerAttr.from_index_int_value(number))
    copy_location(op, constant)
    constant.result.name_hint = op.results[0].name_hint
    assert op.parent is not None
    op.parent.insert_op_before(constant, op)
    op.results[0].replace_all_uses_with(constant.result)
    _erase(op)


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()
