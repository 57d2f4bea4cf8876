"""
The body of one `llvm.func` while it is made: a cursor on a list of blocks, the map from old values to new ones, and
short names for the ops that conversions emit most.

Ops are made by `append_op` with shared attributes. Nothing is ever rewritten twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects import llvm, memref
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...core.attributes import shared_string
from ...core.ir.appending import append_op
from ...core.ir.symbols import symbol as symbol_of
from ...dialects import llvm_ext
from .attributes import (
    CCC,
    DYNAMIC_INDEX,
    ICMP,
    NO_BUNDLES,
    NO_FASTMATH,
    NO_PROPERTIES,
    NO_TAIL,
    NO_WRAP,
    ORDERING,
    OVERFLOW,
    UNIT,
    Properties,
    number,
    numbers32,
    segments,
)
from .pieces import is_tile, piece_types, pieces_of
from .state import ModuleState
from .types import PTR, UnsupportedTypeError


class LLVMBody:
    """The body of one function, with a cursor."""

    def __init__(self, state: ModuleState):
        self.state = state
        self.types = state.types
        self.blocks: list[Block] = []
        self.block = Block()
        self.source: Operation | None = None
        """The op being converted. New ops take its location, and errors name it."""
        self.values: dict[SSAValue, SSAValue] = {}
        self.pieces: dict[SSAValue, list[SSAValue]] = {}
        """The registers that stand for a tile (`pieces.py`)."""
        self.uses_tile_registers = False
        """True when the function multiplies on the tile registers of AMX (`tiles/registers.py`)."""
        self.tile_slot: SSAValue | None = None
        """The stack memory through which these registers become values."""
        self.widened_slots: dict[int, tuple[SSAValue, SSAValue]] = {}
        """The stack memory, by size, through which f16 become elements of f32 (`tiles/left_elements.py`)."""
        self.hidden_constants: dict[tuple[Attribute, Attribute], SSAValue] = {}
        """Constants that LLVM does not know, by value and type (`tiles/hidden.py`)."""
        self.alignment: dict[SSAValue, int] = {}
        """The bytes to which a pointer is known to be aligned, beyond the size of its element."""
        self.fail_block: Block | None = None
        self.heap: dict[memref.AllocOp, SSAValue] | None = None
        """The stack slots of buffers that the function must free on its failing return (`heap.py`)."""
        self.prologue: list[Operation] = []
        """The ops that belong at the start of the entry block, which are stack slots."""
        self.block_map: dict[Block, Block] = {}
        self.yield_targets: list[Block] = []
        self._cache: dict[Any, SSAValue] = {}
        self._spread: dict[tuple[int, int], tuple[SSAValue, SSAValue, Attribute]] = {}
        self._splats: dict[tuple[int, str], tuple[Attribute, VectorType]] = {}
        self._elements: dict[tuple[int, int, int], tuple[SSAValue, SSAValue, Attribute]] = {}

    # Blocks

    def start(self, block: Block) -> None:
        """Puts `block` after all blocks so far and moves the cursor into it."""
        self.blocks.append(block)
        self.block = block
        self._cache.clear()
        self._spread.clear()
        self._elements.clear()

    def spread(self, scalar: SSAValue, type_: Attribute, make: Callable[[], SSAValue]) -> SSAValue:
        """Returns what `make` makes: `scalar` in all lanes of `type_`, once per block."""
        known = (id(scalar), id(type_))  # The hash of a type takes longer than an op.
        if (found := self._spread.get(known)) is None:
            found = self._spread[known] = (self.cached(("broadcast", scalar, type_), make), scalar, type_)
        return found[0]

    def element_of_tile(self, corner: SSAValue, offset: int, memory_type: Attribute) -> SSAValue:
        """Returns the pointer `offset` elements after the corner of a tile, made once per block."""
        known = (id(corner), offset, id(memory_type))
        if (found := self._elements.get(known)) is None:
            found = self._elements[known] = (self.gep(corner, offset, memory_type), corner, memory_type)
        return found[0]

    def cached(self, key: Any, make: Callable[[], SSAValue]) -> SSAValue:
        """Returns the value made for `key` earlier in this block, else a new one."""
        if (found := self._cache.get(key)) is None:
            found = self._cache[key] = make()
        return found

    # Values

    def value(self, source: SSAValue) -> SSAValue:
        """Returns the new value that stands for `source`."""
        return self.values[source]

    def values_of(self, sources: Sequence[SSAValue]) -> list[SSAValue]:
        """Returns the new values that stand for `sources`, the registers of each tile among them."""
        values = self.values
        found: list[SSAValue] = []
        for source in sources:
            value = values.get(source)
            if value is None:
                found += self.pieces[source]
            else:
                found.append(value)
        return found

    def bind(self, source: SSAValue, new: SSAValue) -> None:
        """Lets `new` stand for `source` and take over its name hint."""
        self.values[source] = new
        if new._name is None and source._name is not None:
            new._name = source._name

    def bind_all(self, sources: Sequence[SSAValue], new: Sequence[SSAValue]) -> None:
        """Lets the values of `new` stand for `sources`, the registers of each tile among them as in `values_of`."""
        rest = iter(new)
        for source in sources:
            if is_tile(source.type):
                assert isinstance(source.type, VectorType)
                self.pieces[source] = [next(rest) for _ in pieces_of(source.type)]
            else:
                self.bind(source, next(rest))

    def error(self, reason: str) -> None:
        """Notes that the current op cannot be lowered. Its results become poison, so that work can go on."""
        assert self.source is not None
        self.state.error(self.source, reason)
        for result in self.source.results:
            if is_tile(result.type):
                self.pieces[result] = [self.emit(llvm_ext.PoisonOp, (), type_) for type_ in self._pieces(result.type)]
            elif result not in self.values:
                try:
                    new_type = self.types.convert(result.type)
                except UnsupportedTypeError:
                    new_type = i64
                self.values[result] = self.emit(llvm_ext.PoisonOp, (), new_type)

    def _pieces(self, type_: Attribute) -> list[Attribute]:
        """Returns the types of the pieces of a tile, none for a tile that cannot be: ops on it have errors too."""
        try:
            return piece_types(self.types, type_)
        except UnsupportedTypeError:
            return []

    # Ops

    def emit(
        self,
        op_type: type[Operation],
        operands: Sequence[SSAValue],
        result_type: Attribute,
        properties: Properties = NO_PROPERTIES,
    ) -> SSAValue:
        """Appends an op with one result."""
        location = None if self.source is None else self.source.location
        (result,) = append_op(self.block, op_type, operands, (result_type,), properties, location).results
        return result

    def emit_void(
        self,
        op_type: type[Operation],
        operands: Sequence[SSAValue],
        properties: Properties = NO_PROPERTIES,
        successors: Sequence[Block] = (),
    ) -> Operation:
        """Appends an op without results."""
        location = None if self.source is None else self.source.location
        return append_op(self.block, op_type, operands, (), properties, location, successors)

    def _emit_maybe(
        self, op_type: type[Operation], operands: Sequence[SSAValue], result: Attribute | None, properties: Properties
    ) -> SSAValue | None:
        """Appends an op with one result, or without a result when its type is `None`."""
        if result is None:
            self.emit_void(op_type, operands, properties)
            return None
        return self.emit(op_type, operands, result, properties)

    def constant(self, value: int, value_type: Attribute = i64) -> SSAValue:
        """Returns an integer constant, a splat when `value_type` is a vector. One op per block makes it."""
        if value_type is i64 or (value_type.__class__ is IntegerType and value_type == i64):  # A key without a type.
            return self.cached(value, lambda: self._constant(value, i64))
        return self.cached(("int", value, value_type), lambda: self._constant(value, value_type))

    def _constant(self, value: int, value_type: Attribute) -> SSAValue:
        attribute: Attribute
        if value_type == i64:
            attribute = number(value)
        elif isinstance(value_type, VectorType):
            attribute = self.splat(value, value_type)
        else:
            attribute = IntegerAttr(value, value_type, truncate_bits=True)  # type: ignore[arg-type]
        return self.emit(llvm.ConstantOp, (), value_type, {"value": attribute})

    def splat(self, value: float, vector_type: VectorType) -> Attribute:
        """Returns the attribute of a vector of one number, shared."""
        known = (id(vector_type), repr(value))  # 0.0 and -0.0 are equal.
        if (found := self._splats.get(known)) is None:
            made = DenseIntOrFPElementsAttr.from_list(vector_type, [value])  # pyright: ignore
            found = self._splats[known] = (made, vector_type)
        return found[0]

    def shared_constant(self, splat: Attribute, vector_type: VectorType) -> SSAValue:
        """Returns the constant of an attribute that `splat` returned. One op per block makes it."""
        return self.cached(("splat", id(splat)), lambda: self.emit(llvm.ConstantOp, (), vector_type, {"value": splat}))

    def float_constant(self, value: float, value_type: Attribute) -> SSAValue:
        """Makes a float constant, a splat when `value_type` is a vector."""
        if isinstance(value_type, VectorType):
            return self.shared_constant(self.splat(value, value_type), value_type)
        attribute = FloatAttr(value, value_type)  # type: ignore[arg-type]
        return self.emit(llvm.ConstantOp, (), value_type, {"value": attribute})

    def zero(self, value_type: Attribute) -> SSAValue:
        """Returns the zero of a number or vector type."""
        element = value_type.element_type if isinstance(value_type, VectorType) else value_type
        if isinstance(element, AnyFloat):
            return self.float_constant(0.0, value_type)
        return self.constant(0, value_type)

    def binary(
        self, op_type: type[Operation], lhs: SSAValue, rhs: SSAValue, properties: Properties = NO_PROPERTIES
    ) -> SSAValue:
        """Appends an op on two operands of one type that gives that type."""
        return self.emit(op_type, (lhs, rhs), lhs._type, properties)

    def add(self, lhs: SSAValue, rhs: SSAValue, flags: int = 0) -> SSAValue:
        return self.emit(llvm.AddOp, (lhs, rhs), lhs.type, OVERFLOW[flags])

    def sub(self, lhs: SSAValue, rhs: SSAValue, flags: int = 0) -> SSAValue:
        return self.emit(llvm.SubOp, (lhs, rhs), lhs.type, OVERFLOW[flags])

    def mul(self, lhs: SSAValue, rhs: SSAValue, flags: int = 0) -> SSAValue:
        return self.emit(llvm.MulOp, (lhs, rhs), lhs.type, OVERFLOW[flags])

    def shl(self, lhs: SSAValue, rhs: SSAValue, flags: int = 0) -> SSAValue:
        return self.emit(llvm.ShlOp, (lhs, rhs), lhs.type, OVERFLOW[flags])

    def icmp(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.emit(llvm.ICmpOp, (lhs, rhs), self.types.like(i1, lhs.type), ICMP[predicate])

    def fcmp(
        self, predicate: IntegerAttr, lhs: SSAValue, rhs: SSAValue, flags: llvm.FastMathAttr = NO_FASTMATH
    ) -> SSAValue:
        """Appends `llvm.fcmp`, or `llvm_ext.fcmp` for vectors and fast-math flags, which the former cannot say."""
        plain = not flags.data and not isinstance(lhs.type, VectorType)
        op_type = llvm.FCmpOp if plain else llvm_ext.FCmpOp
        properties = {"predicate": predicate, "fastmathFlags": flags}
        return self.emit(op_type, (lhs, rhs), self.types.like(i1, lhs.type), properties)

    def fcmp_named(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.fcmp(number(llvm.FCmpPredicateFlag(predicate).to_int()), lhs, rhs)

    def select(self, condition: SSAValue, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        if isinstance(condition.type, VectorType):
            return self.emit(llvm_ext.SelectOp, (condition, lhs, rhs), lhs.type)
        properties = {"fastmathFlags": NO_FASTMATH}
        return self.emit(llvm.SelectOp, (condition, lhs, rhs), lhs.type, properties)

    def bitcast(self, value: SSAValue, target: Attribute) -> SSAValue:
        """Returns the bits of a value in another type. One of a bitcast is one of what that was made of."""
        if isinstance(value.owner, llvm.BitcastOp):
            value = value.owner.operands[0]
        return value if value.type == target else self.emit(llvm.BitcastOp, (value,), target)

    def resize_integer(self, value: SSAValue, target: Attribute, *, signed: bool) -> SSAValue:
        """Truncates or extends `value` to the integer type `target`."""
        source_width, target_width = _width(value.type), _width(target)
        if source_width == target_width:
            return value
        if source_width > target_width:
            return self.emit(llvm.TruncOp, (value,), target, {"overflowFlags": llvm.OverflowAttr(None)})
        return self.emit(llvm.SExtOp if signed else llvm.ZExtOp, (value,), target)

    def intrinsic(
        self,
        name: str,
        operands: Sequence[SSAValue],
        result_type: Attribute | None,
        flags: llvm.FastMathAttr = NO_FASTMATH,
    ) -> SSAValue | None:
        """Appends `llvm.call_intrinsic` of the base name. The LLVM text adds the suffix of an overload."""
        properties = {
            "intrin": shared_string(name),
            "fastmathFlags": flags,
            "op_bundle_sizes": NO_BUNDLES,
            "operandSegmentSizes": segments(len(operands), 0),
        }
        return self._emit_maybe(llvm.CallIntrinsicOp, operands, result_type, properties)

    def intrinsic_value(
        self,
        name: str,
        operands: Sequence[SSAValue],
        result_type: Attribute,
        flags: llvm.FastMathAttr = NO_FASTMATH,
    ) -> SSAValue:
        """Appends an intrinsic and returns its result."""
        result = self.intrinsic(name, operands, result_type, flags)
        assert result is not None
        return result

    def call(self, symbol: str, operands: Sequence[SSAValue], result: Attribute | None) -> SSAValue | None:
        """Appends a direct call."""
        properties = {
            "callee": symbol_of(symbol),
            "fastmathFlags": NO_FASTMATH,
            "CConv": CCC,
            "op_bundle_sizes": NO_BUNDLES,
            "TailCallKind": NO_TAIL,
            "operandSegmentSizes": segments(len(operands), 0),
        }
        return self._emit_maybe(llvm.CallOp, operands, result, properties)

    def gep(self, pointer: SSAValue, index: SSAValue | int, element: Attribute, *, inbounds: bool = True) -> SSAValue:
        """Returns `pointer` moved by `index` elements."""
        constant = isinstance(index, int) and -(2**31) < index < 2**31
        if not constant and isinstance(index, int):
            index = self.constant(index)
        properties: dict[str, Attribute] = {
            "rawConstantIndices": numbers32((index,)) if constant else DYNAMIC_INDEX,  # type: ignore[list-item]
            "elem_type": element,
            "noWrapFlags": NO_WRAP,
        }
        if inbounds:
            properties["inbounds"] = UNIT
        operands = (pointer,) if constant else (pointer, index)
        return self.emit(llvm.GEPOp, operands, PTR, properties)  # type: ignore[arg-type]

    def load(self, pointer: SSAValue, result_type: Attribute, alignment: int) -> SSAValue:
        """Appends a load. `alignment` is in bytes."""
        return self.emit(llvm.LoadOp, (pointer,), result_type, {"alignment": number(alignment), **ORDERING})

    def store(self, value: SSAValue, pointer: SSAValue, alignment: int) -> Operation:
        """Appends a store. `alignment` is in bytes."""
        return self.emit_void(llvm.StoreOp, (value, pointer), {"alignment": number(alignment), **ORDERING})

    def stack_slot(self, element: Attribute, count: int, alignment: int) -> SSAValue:
        """Makes a stack slot of `count` elements at the start of the function. `alignment` is in bytes."""
        size = llvm.ConstantOp.create(result_types=(i64,), properties={"value": number(count)})
        slot = llvm.AllocaOp.create(
            operands=(size.results[0],),
            result_types=(PTR,),
            properties={"alignment": number(alignment), "elem_type": element},
            location=None if self.source is None else self.source.location,
        )
        self.prologue += (size, slot)
        return slot.results[0]

    def extract_field(self, container: SSAValue, index: int, field_type: Attribute) -> SSAValue:
        """Returns field `index` of a struct."""
        position = DenseArrayBase.from_list(i64, [index])
        return self.emit(llvm.ExtractValueOp, (container,), field_type, {"position": position})

    def insert_field(self, container: SSAValue, index: int, value: SSAValue) -> SSAValue:
        """Returns the struct with field `index` replaced."""
        position = DenseArrayBase.from_list(i64, [index])
        return self.emit(llvm.InsertValueOp, (container, value), container.type, {"position": position})

    def branch(self, target: Block, arguments: Sequence[SSAValue] = ()) -> Operation:
        return self.emit_void(llvm.BrOp, arguments, successors=(target,))

    def branch_if(
        self,
        condition: SSAValue,
        then_block: Block,
        then_arguments: Sequence[SSAValue],
        else_block: Block,
        else_arguments: Sequence[SSAValue],
    ) -> Operation:
        properties = {"operandSegmentSizes": segments(1, len(then_arguments), len(else_arguments))}
        return self.emit_void(
            llvm.CondBrOp, (condition, *then_arguments, *else_arguments), properties, (then_block, else_block)
        )

    def fail(self) -> Block:
        """Returns the block that takes a status and returns it from the function."""
        if self.fail_block is None:
            self.fail_block = Block(arg_types=[i32])
        return self.fail_block


def _width(value_type: Attribute) -> int:
    """Returns the bits of an integer type or of the elements of a vector of integers."""
    element = value_type.element_type if isinstance(value_type, VectorType) else value_type
    assert isinstance(element, IntegerType)
    return element.width.data


Conversion = Callable[[LLVMBody, Any], None]
ConversionTable = dict[type[Operation], Conversion]
