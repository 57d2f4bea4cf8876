"""
Builds the body of one `llvm.func`: a cursor on a list of blocks, the map from old values to new ones, and
short names for the ops that conversions emit most.

Ops are made by `Operation.create` with shared attributes (7 µs each); nothing is ever rewritten twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...core.symbols import symbol as symbol_of
from ...dialects import llvm_ext
from .state import ModuleState
from .types import PTR, UnsupportedTypeError

if TYPE_CHECKING:
    from .heap import HeapTracker

Properties = Mapping[str, Attribute]

NO_FASTMATH = llvm.FastMathAttr(None)
NO_PROPERTIES: Properties = {}
_UNIT = UnitAttr()
_DYNAMIC_INDEX = DenseArrayBase.from_list(i32, [llvm.GEP_USE_SSA_VAL])
_NO_WRAP = IntegerAttr(0, 32)
_NO_BUNDLES = DenseArrayBase.from_list(i32, ())
_ORDERING: Properties = {"ordering": IntegerAttr(0, i64)}
_OVERFLOW: tuple[Properties, ...] = tuple({"overflowFlags": IntegerAttr(flags, 32)} for flags in range(4))
NSW, NUW = 1, 2
_ICMP = {flag.value: {"predicate": IntegerAttr(flag.to_int(), i64)} for flag in llvm.ICmpPredicateFlag}

_numbers32: dict[tuple[int, ...], DenseArrayBase] = {}
_fastmath: dict[frozenset[Any], llvm.FastMathAttr] = {frozenset(): NO_FASTMATH}
_numbers: dict[int, IntegerAttr] = {}


def numbers32(values: tuple[int, ...]) -> DenseArrayBase:
    """`array<i32: values>`, shared."""
    if (found := _numbers32.get(values)) is None:
        found = _numbers32[values] = DenseArrayBase.from_list(i32, values)
    return found


def segments(*counts: int) -> DenseArrayBase:
    """The `operandSegmentSizes` of an op with operand groups of these sizes."""
    return numbers32(counts)


@lru_cache(maxsize=1024)
def _name(text: str) -> StringAttr:
    return StringAttr(text)


def fastmath(flags: Attribute | None) -> llvm.FastMathAttr:
    """The llvm attribute with the same flags as an `arith.fastmath` one (`None` = no flags)."""
    if flags is None:
        return NO_FASTMATH
    data: frozenset[Any] = flags.data  # type: ignore[attr-defined]
    if (found := _fastmath.get(data)) is None:
        found = _fastmath[data] = llvm.FastMathAttr(tuple(data))
    return found


def number(value: int) -> IntegerAttr:
    """`value : i64`, shared."""
    if (found := _numbers.get(value)) is None:
        found = _numbers[value] = IntegerAttr(value, i64)
    return found


class Builder:
    """The cursor; one per function."""

    def __init__(self, state: ModuleState):
        self.state = state
        self.types = state.types
        self.blocks: list[Block] = []
        self.block = Block()
        self.source: Operation | None = None
        """The op being converted: new ops take its location, errors name it."""
        self.values: dict[SSAValue, SSAValue] = {}
        self.pieces: dict[SSAValue, list[SSAValue]] = {}
        """The registers that stand for a tile (`tiles.py`)."""
        self.uses_tile_registers = False
        """Whether the function multiplies on the tile registers of AMX (`tile_registers.py`)."""
        self.tile_slot: SSAValue | None = None
        """Stack memory by way of which these become values."""
        self.alignment: dict[SSAValue, int] = {}
        """Bytes to which a pointer is known to be aligned, beyond the size of its element."""
        self.fail_block: Block | None = None
        self.heap: HeapTracker | None = None
        """Set when the function must free buffers on its failing return."""
        self.prologue: list[Operation] = []
        """Ops that belong at the start of the entry block: stack slots."""
        self.block_map: dict[Block, Block] = {}
        self.yield_targets: list[Block] = []
        self._cache: dict[Any, SSAValue] = {}

    # Blocks

    def start(self, block: Block) -> None:
        """Puts `block` after all blocks so far and moves the cursor into it."""
        self.blocks.append(block)
        self.block = block
        self._cache.clear()

    def cached(self, key: Any, make: Callable[[], SSAValue]) -> SSAValue:
        """The value made for `key` earlier in this block, else a new one."""
        if (found := self._cache.get(key)) is None:
            found = self._cache[key] = make()
        return found

    # Values

    def value(self, source: SSAValue) -> SSAValue:
        """The new value that stands for `source`."""
        return self.values[source]

    def values_of(self, sources: Sequence[SSAValue]) -> list[SSAValue]:
        """The new values that stand for `sources`, the registers of each tile among them."""
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
        """Lets `new` stand for `source`; it takes over the name hint."""
        self.values[source] = new
        if new.name_hint is None and source.name_hint is not None:
            new.name_hint = source.name_hint

    def error(self, reason: str) -> None:
        """Notes that the current op cannot be lowered; its results become poison so that work can go on."""
        from .tiles import is_tile, piece_types

        assert self.source is not None
        self.state.error(self.source, reason)
        for result in self.source.results:
            if is_tile(result.type):
                types = piece_types(self, result.type)
                self.pieces[result] = [self.emit(llvm_ext.PoisonOp, (), type_) for type_ in types]
            elif result not in self.values:
                try:
                    new_type = self.types.convert(result.type)
                except UnsupportedTypeError:
                    new_type = i64
                self.values[result] = self.emit(llvm_ext.PoisonOp, (), new_type)

    # Ops

    def emit(
        self,
        op_type: type[Operation],
        operands: Sequence[SSAValue],
        result_type: Attribute,
        properties: Properties = NO_PROPERTIES,
    ) -> SSAValue:
        """Appends an op with one result."""
        op = op_type.create(
            operands=operands,
            result_types=(result_type,),
            properties=properties,
            location=None if self.source is None else self.source.location,
        )
        self.block.add_op(op)
        return op.results[0]

    def emit_void(
        self,
        op_type: type[Operation],
        operands: Sequence[SSAValue],
        properties: Properties = NO_PROPERTIES,
        successors: Sequence[Block] = (),
    ) -> Operation:
        """Appends an op without results."""
        op = op_type.create(
            operands=operands,
            properties=properties,
            successors=successors,
            location=None if self.source is None else self.source.location,
        )
        self.block.add_op(op)
        return op

    def constant(self, value: int, value_type: Attribute = i64) -> SSAValue:
        """An integer constant, or a splat of one when `value_type` is a vector; one op per block."""
        return self.cached(("int", value, value_type), lambda: self._constant(value, value_type))

    def _constant(self, value: int, value_type: Attribute) -> SSAValue:
        attribute: Attribute
        if value_type == i64:
            attribute = number(value)
        elif isinstance(value_type, VectorType):
            attribute = DenseIntOrFPElementsAttr.from_list(value_type, [value])
        else:
            attribute = IntegerAttr(value, value_type, truncate_bits=True)  # type: ignore[arg-type]
        return self.emit(llvm.ConstantOp, (), value_type, {"value": attribute})

    def float_constant(self, value: float, value_type: Attribute) -> SSAValue:
        """A float constant, or a splat of one when `value_type` is a vector."""
        attribute: Attribute
        if isinstance(value_type, VectorType):
            attribute = DenseIntOrFPElementsAttr.from_list(value_type, [value])
        else:
            attribute = FloatAttr(value, value_type)  # type: ignore[arg-type]
        return self.emit(llvm.ConstantOp, (), value_type, {"value": attribute})

    def zero(self, value_type: Attribute) -> SSAValue:
        """The zero of a number or vector type."""
        element = value_type.element_type if isinstance(value_type, VectorType) else value_type
        if isinstance(element, AnyFloat):
            return self.float_constant(0.0, value_type)
        return self.constant(0, value_type)

    def binary(
        self, op_type: type[Operation], lhs: SSAValue, rhs: SSAValue, properties: Properties = NO_PROPERTIES
    ) -> SSAValue:
        """An op on two operands of one type that gives that type."""
        return self.emit(op_type, (lhs, rhs), lhs.type, properties)

    def add(self, lhs: SSAValue, rhs: SSAValue, flags: int = 0) -> SSAValue:
        return self.emit(llvm.AddOp, (lhs, rhs), lhs.type, _OVERFLOW[flags])

    def sub(self, lhs: SSAValue, rhs: SSAValue, flags: int = 0) -> SSAValue:
        return self.emit(llvm.SubOp, (lhs, rhs), lhs.type, _OVERFLOW[flags])

    def mul(self, lhs: SSAValue, rhs: SSAValue, flags: int = 0) -> SSAValue:
        return self.emit(llvm.MulOp, (lhs, rhs), lhs.type, _OVERFLOW[flags])

    def shl(self, lhs: SSAValue, rhs: SSAValue, flags: int = 0) -> SSAValue:
        return self.emit(llvm.ShlOp, (lhs, rhs), lhs.type, _OVERFLOW[flags])

    def icmp(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.emit(llvm.ICmpOp, (lhs, rhs), self.types.like(i1, lhs.type), _ICMP[predicate])

    def fcmp(
        self, predicate: IntegerAttr, lhs: SSAValue, rhs: SSAValue, flags: llvm.FastMathAttr = NO_FASTMATH
    ) -> SSAValue:
        """`llvm.fcmp`, or `llvm_ext.fcmp` where that cannot say it: vectors and fast-math flags."""
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
        return value if value.type == target else self.emit(llvm.BitcastOp, (value,), target)

    def resize_integer(self, value: SSAValue, target: Attribute, *, signed: bool) -> SSAValue:
        """`value` truncated or extended to the integer type `target`."""
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
        """`llvm.call_intrinsic` of the base name; the text emitter adds the suffix of an overload."""
        properties = {
            "intrin": _name(name),
            "fastmathFlags": flags,
            "op_bundle_sizes": _NO_BUNDLES,
            "operandSegmentSizes": segments(len(operands), 0),
        }
        if result_type is None:
            self.emit_void(llvm.CallIntrinsicOp, operands, properties)
            return None
        return self.emit(llvm.CallIntrinsicOp, operands, result_type, properties)

    def intrinsic_value(
        self,
        name: str,
        operands: Sequence[SSAValue],
        result_type: Attribute,
        flags: llvm.FastMathAttr = NO_FASTMATH,
    ) -> SSAValue:
        """`intrinsic` with a result."""
        result = self.intrinsic(name, operands, result_type, flags)
        assert result is not None
        return result

    def call(self, symbol: str, operands: Sequence[SSAValue], result: Attribute | None) -> SSAValue | None:
        """A direct call."""
        properties = {
            "callee": symbol_of(symbol),
            "fastmathFlags": NO_FASTMATH,
            "CConv": _CCC,
            "op_bundle_sizes": _NO_BUNDLES,
            "TailCallKind": _NO_TAIL,
            "operandSegmentSizes": segments(len(operands), 0),
        }
        if result is None:
            self.emit_void(llvm.CallOp, operands, properties)
            return None
        return self.emit(llvm.CallOp, operands, result, properties)

    def gep(self, pointer: SSAValue, index: SSAValue | int, element: Attribute, *, inbounds: bool = True) -> SSAValue:
        """`pointer + index` elements."""
        constant = isinstance(index, int) and -(2**31) < index < 2**31
        if not constant and isinstance(index, int):
            index = self.constant(index)
        properties: dict[str, Attribute] = {
            "rawConstantIndices": numbers32((index,)) if constant else _DYNAMIC_INDEX,  # type: ignore[list-item]
            "elem_type": element,
            "noWrapFlags": _NO_WRAP,
        }
        if inbounds:
            properties["inbounds"] = _UNIT
        operands = (pointer,) if constant else (pointer, index)
        return self.emit(llvm.GEPOp, operands, PTR, properties)  # type: ignore[arg-type]

    def load(self, pointer: SSAValue, result_type: Attribute, alignment: int) -> SSAValue:
        """`alignment` is in bytes."""
        return self.emit(llvm.LoadOp, (pointer,), result_type, {"alignment": number(alignment), **_ORDERING})

    def store(self, value: SSAValue, pointer: SSAValue, alignment: int) -> Operation:
        """`alignment` is in bytes."""
        return self.emit_void(llvm.StoreOp, (value, pointer), {"alignment": number(alignment), **_ORDERING})

    def stack_slot(self, element: Attribute, count: int, alignment: int) -> SSAValue:
        """A stack slot of `count` elements made at the start of the function; `alignment` is in bytes."""
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
        """Field `index` of a struct."""
        position = DenseArrayBase.from_list(i64, [index])
        return self.emit(llvm.ExtractValueOp, (container,), field_type, {"position": position})

    def insert_field(self, container: SSAValue, index: int, value: SSAValue) -> SSAValue:
        """The struct with field `index` replaced."""
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
            llvm.CondBrOp,
            (condition, *then_arguments, *else_arguments),
            properties,
            (then_block, else_block),
        )

    def fail(self) -> Block:
        """The block that takes a status and returns it from the function."""
        if self.fail_block is None:
            self.fail_block = Block(arg_types=[i32])
        return self.fail_block


_CCC = llvm.CallingConventionAttr("ccc")
_NO_TAIL = llvm.TailCallKindAttr(llvm.TailCallKind.NONE)


def _width(value_type: Attribute) -> int:
    """Bits of an integer type or of the elements of a vector of integers."""
    element = value_type.element_type if isinstance(value_type, VectorType) else value_type
    assert isinstance(element, IntegerType)
    return element.width.data


def constant_of(source: SSAValue) -> int | None:
    """The integer that `source` is known to be, when an `arith.constant` defines it."""
    owner = source.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


Conversion = Callable[[Builder, Any], None]
ConversionTable = dict[type[Operation], Conversion]
