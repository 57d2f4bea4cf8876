"""The pass `flatten-dynamic-buffers`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith, func, memref, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StridedLayoutAttr,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...core.ir.walk import walk
from ...core.messages.diagnostics import fail
from ...core.passes.base import StepwellPass
from ...core.roles import AXIS, NAME, ROLE
from ...lazy_dataclass import dataclass
from .casts import cast_layout, reinterpreted
from .places import Number, Places


@dataclass(frozen=True)
class FlattenDynamicBuffersPass(StepwellPass):
    """
    Gives functions the sizes and strides of their buffers as arguments where types have `?`.

    A buffer with a `?` becomes a vector of its elements in memory, `memref<?xf32, strided<[1]>>`, followed by one
    `index` per unknown size and stride, in elements. Loads and stores compute the place, and `memref.dim` becomes the
    argument. In an entry these arguments have the roles `size` and `stride`, and `stepwell.axis` gives their dimension.
    A size of a row-major buffer counts for its strides. Functions without `?` stay as they are. A `memref.cast` between
    known and unknown sizes checks what only its result knows.

    Before:
        func.func @main(%A: memref<?x?xf32, strided<[?, 1]>>, %B: memref<?xf32>) {
          %n = memref.dim %A, %c0 : …
          %a = memref.load %A[%i, %k] : …
    After:
        func.func @main(%A: memref<?xf32, strided<[1]>>, %A_size0: index, %A_size1: index, %A_stride0: index, …) {
          %0 = arith.muli %i, %A_stride0 : index
          %1 = arith.addi %0, %k : index
          %a = memref.load %A[%1] : memref<?xf32, strided<[1]>>

    Raises an error for an op that takes such a buffer and is no load, store, size, allocation, cast or call.
    """

    name = "flatten-dynamic-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [each for each in op.ops if isinstance(each, func.FuncOp)]
        for function in functions:
            if any(map(is_dynamic, _types(function))):
                _Flattening(function).run()
                self.count("functions")


def is_dynamic(type_: Attribute) -> bool:
    """Returns whether a buffer has a size, stride or offset that its type does not say."""
    if not isinstance(type_, MemRefType):
        return False
    strides = type_.layout
    unknown = isinstance(strides, StridedLayoutAttr) and any(
        not isinstance(each, IntAttr) for each in (*strides.strides.data, strides.offset)
    )
    return (unknown or DYNAMIC_INDEX in type_.get_shape()) and type_ != flat_type(type_)


def flat_type(type_: MemRefType) -> MemRefType:
    """Returns the type of the vector of the elements of a buffer."""
    return MemRefType(type_.element_type, [DYNAMIC_INDEX], StridedLayoutAttr([1]))


def _types(function: func.FuncOp) -> list[Attribute]:
    """Returns the types of all values in a function and of its parameters, each object once."""
    found: dict[int, Attribute] = {id(type_): type_ for type_ in function.function_type.inputs}
    for op in walk(function):
        for result in op.results:
            found[id(result.type)] = result.type
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    found[id(argument.type)] = argument.type
    return list(found.values())


@dataclass
class Flat:
    """The sizes and strides of a buffer that is a vector now."""

    numbers: list[SSAValue]
    """The arguments that come with the vector where it is one: unknown sizes, then unknown strides."""
    sizes: list[Number]
    strides: list[Number]


def _static_strides(op: memref.CastOp, type_: MemRefType) -> list[Number]:
    """Returns the strides of a buffer whose type says them all. Raises an error for one that begins elsewhere."""
    strides = [stride for stride in type_.get_strides() or () if stride is not None]
    if type_.get_offset() != 0 or len(strides) < type_.get_num_dims():
        fail(op, f"the source of the cast is a buffer of type {type_}, expected one without an offset")
    return [*strides]


def _unknown_strides(type_: MemRefType) -> list[int]:
    """Returns the dimensions whose stride is an argument: strides of a row-major buffer follow from its sizes."""
    if not isinstance(type_.layout, StridedLayoutAttr):
        return []
    return [axis for axis, each in enumerate(type_.layout.strides.data) if not isinstance(each, IntAttr)]


class _Flattening:
    """Rewrites one function."""

    def __init__(self, function: func.FuncOp):
        self._function = function
        self._flat: dict[SSAValue, Flat] = {}

    def run(self) -> None:
        self._arguments()
        for op in list(walk(self._function)):
            if op is not self._function and op.parent is not None:
                self._op(op)

    # Arguments

    def _arguments(self) -> None:
        function = self._function
        given = function.arg_attrs
        attributes = (
            [DictionaryAttr({})] * len(function.function_type.inputs.data) if given is None else list(given.data)
        )
        types: list[Attribute] = []
        found: list[DictionaryAttr] = []
        entry = None if function.is_declaration else function.body.blocks[0]
        arguments = [None] * len(attributes) if entry is None else list(entry.args)
        for type_, attribute, argument in zip(function.function_type.inputs, attributes, arguments, strict=True):
            if not isinstance(type_, MemRefType) or not is_dynamic(type_):
                types.append(type_)
                found.append(attribute)
                continue
            added = _added(type_, attribute)
            types += [flat_type(type_), *(IndexType() for _ in added)]
            found += [_named(attribute, argument), *(each for _, _, each in added)]
            if argument is not None:
                self._expand(argument, type_, [(kind, axis) for kind, axis, _ in added])
        function.function_type = FunctionType.from_lists(types, list(function.function_type.outputs.data))
        if given is not None:
            function.arg_attrs = ArrayAttr(found)

    def _expand(self, argument: SSAValue, type_: MemRefType, added: list[tuple[str, int]]) -> None:
        """Puts a vector and numbers in the place of an argument."""
        block = self._function.body.blocks[0]
        place = next(number for number, each in enumerate(block.args) if each is argument) + 1
        values: dict[tuple[str, int], SSAValue] = {}
        for kind, axis in added:
            value = block.insert_arg(IndexType(), place)
            value.name_hint = f"{argument.name_hint}_{kind}{axis}" if argument.name_hint else None
            values[kind, axis] = value
            place += 1
        sizes: list[Number] = [values.get(("size", axis), dim) for axis, dim in enumerate(type_.get_shape())]
        argument._type = flat_type(type_)  # pyright: ignore[reportPrivateUsage]
        strides = self._strides(type_, sizes, values)
        self._flat[argument] = Flat(list(values.values()), sizes, strides)

    def _strides(self, type_: MemRefType, sizes: list[Number], given: dict[tuple[str, int], SSAValue]) -> list[Number]:
        if isinstance(type_.layout, StridedLayoutAttr):
            stored = type_.layout.strides.data
            return [
                each.data if isinstance(each, IntAttr) else given["stride", axis] for axis, each in enumerate(stored)
            ]
        if not isinstance(type_.layout, NoneAttr):
            fail(self._function, f"type {type_} has a layout that is not strided<…>")
        first = self._function.body.blocks[0].first_op
        assert first is not None
        places = Places(first)
        strides: list[Number] = [1]
        for size in reversed(sizes[1:]):
            strides.insert(0, places.product(strides[0], size))
        return strides[: len(sizes)]

    # Ops

    def _op(self, op: Operation) -> None:
        match op:
            case memref.AllocOp() if is_dynamic(op.memref.type):
                self._alloc(op)
            case memref.DimOp() if op.source in self._flat:
                self._dim(op)
            case memref.LoadOp() | memref.StoreOp() | vector.LoadOp() | vector.StoreOp():
                self._access(op)
            case func.CallOp():
                self._call(op)
            case memref.CastOp() if op.source in self._flat or is_dynamic(op.dest.type):
                self._cast(op)
            case memref.DeallocOp():
                pass
            case _:
                dynamic = [v for v in op.operands if v in self._flat] or [v for v in op.results if is_dynamic(v.type)]
                if dynamic:
                    message = f"'{op.name}' takes or makes a buffer with sizes that are not known"
                    fail(op, message, hint="give the sizes: only loads, stores, sizes, casts and calls do without")

    def _alloc(self, op: memref.AllocOp) -> None:
        type_ = op.memref.type
        assert isinstance(type_, MemRefType)
        op_sizes = tuple(op.dynamic_sizes)
        dynamic = iter(op_sizes)
        sizes: list[Number] = [next(dynamic) if dim == DYNAMIC_INDEX else dim for dim in type_.get_shape()]
        places = Places(op)
        strides: list[Number] = [1]
        for size in reversed(sizes):
            strides.insert(0, places.product(strides[0], size))
        count = places.value(strides[0])
        new = memref.AllocOp([count], [], flat_type(type_), op.alignment)
        new.memref.name_hint = op.memref.name_hint
        Rewriter.replace_op(op, new)
        self._flat[new.memref] = Flat(list(op_sizes), sizes, strides[1:])

    def _dim(self, op: memref.DimOp) -> None:
        index = op.index.owner
        value = index.value if isinstance(index, arith.ConstantOp) else None
        if not isinstance(value, IntegerAttr):
            fail(op, "the dimension is not a constant")
        size = self._flat[op.source].sizes[value.value.data]
        Rewriter.replace_op(op, [], [Places(op).value(size)])

    def _access(self, op: memref.LoadOp | memref.StoreOp | vector.LoadOp | vector.StoreOp) -> None:
        buffer = op.base if isinstance(op, vector.LoadOp | vector.StoreOp) else op.memref
        flat = self._flat.get(buffer)
        if flat is None:
            return
        places = Places(op)
        place: Number = 0
        for index, stride in zip(op.indices, flat.strides, strict=True):
            place = places.total(place, places.product(index, stride))
        start = next(number for number, each in enumerate(op.operands) if each is buffer) + 1
        kept = list(op.operands)
        op.operands = [*kept[:start], places.value(place), *kept[start + len(op.indices) :]]

    def _cast(self, op: memref.CastOp) -> None:
        """
        Makes a cast between sizes that are known and sizes that are not one of a buffer and a vector.

        What only the result knows is checked where the program runs.
        """
        source, target = op.source.type, op.dest.type
        if not isinstance(source, MemRefType) or not isinstance(target, MemRefType):
            fail(op, f"the cast from {source} to {target} has no form on buffers of known rank")
        known = self._flat.get(op.source) or Flat([], list(source.get_shape()), _static_strides(op, source))
        sizes, strides = cast_layout(op, target, known.sizes, known.strides)
        if not is_dynamic(target):
            Rewriter.replace_op(op, reinterpreted(op.source, target))
            return
        places = Places(op)
        new = reinterpreted(op.source, flat_type(target), places.value(places.count(sizes)))
        new.result.name_hint = op.dest.name_hint
        numbers = [size for size, dim in zip(sizes, target.get_shape(), strict=True) if dim == DYNAMIC_INDEX]
        numbers += [strides[axis] for axis in _unknown_strides(target)]
        values = [places.value(number) for number in numbers]
        Rewriter.replace_op(op, new)
        self._flat[new.result] = Flat(values, sizes, strides)

    def _call(self, op: func.CallOp) -> None:
        """Passes the numbers of each buffer on. The callee has the same types and so takes the same numbers."""
        operands: list[SSAValue] = []
        for value in op.operands:
            operands.append(value)
            flat = self._flat.get(value)
            operands += [] if flat is None else flat.numbers
        op.operands = operands


def _added(type_: MemRefType, attributes: DictionaryAttr) -> list[tuple[str, int, DictionaryAttr]]:
    """
    Returns the numbers that a buffer comes with, each as its kind, its dimension and the attributes of the argument.
    """
    numbers = [("size", axis) for axis, dim in enumerate(type_.get_shape()) if dim == DYNAMIC_INDEX]
    numbers += [("stride", axis) for axis in _unknown_strides(type_)]
    if ROLE not in attributes.data:
        return [(kind, axis, DictionaryAttr({})) for kind, axis in numbers]
    return [
        (kind, axis, DictionaryAttr({ROLE: StringAttr(kind), AXIS: IntegerAttr(axis, 64)})) for kind, axis in numbers
    ]


def _named(attributes: DictionaryAttr, argument: SSAValue | None) -> DictionaryAttr:
    """Returns the attributes of an argument of an entry, with the name that it has in the text."""
    hint = None if argument is None else argument.name_hint
    if ROLE not in attributes.data or NAME in attributes.data or hint is None:
        return attributes
    return DictionaryAttr({**attributes.data, NAME: StringAttr(hint)})
