"""
Converts `tile.mma … using "amx"`: products on the tile registers of AMX.

A register holds 16 rows of 64 bytes. Sums take registers 0 to 3 (two by two of 16x16), rows of A 4 and 5, columns of B
6 and 7. So a step of 16 groups is four loads and four products. All registers always have their full shape, so one
configuration serves a whole program. A function with such products loads it at its start and again after each call. It
gives the registers up before it returns, so that the system need not save them. Source: Intel 64 and IA-32
Architectures Software Developer's Manual, volume 1, chapter 18.

Sums become values through memory, as there is no other way. Where they are only stored they go straight to their place.
A product right after another one that adds to its sums finds them in their registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import BFloat16Type, DenseIntOrFPElementsAttr, VectorType, i8, i32, i64
from xdsl.ir import Block, Operation, SSAValue

from ....core.ir.walk import ops_in
from ....dialects import tile
from ....dialects.tile.mma import AMX_MOST, AMX_ROWS, group_of
from ....lazy_dataclass import dataclass
from ..attributes import NSW, NUW
from ..llvm_body import LLVMBody
from ..pieces import Piece, pieces_of
from ..types import element_bytes
from .cursor import PlaceCursor

ROW_BYTES = 64
"""The bytes of a row of a tile register."""

SUM_BYTES = 4

REGISTERS = 8
_LEFT, _RIGHT = 4, 6
"""The first registers of A and of B. The registers before them hold sums."""

CONFIGURATION = bytes([1, *[0] * 15, *[ROW_BYTES, 0] * REGISTERS, *[0] * 16, *[AMX_ROWS] * REGISTERS, *[0] * 8])
"""
The operand of `ldtilecfg`: palette 1, from byte 16 the bytes of a row of each register (2 each), from 48 its rows.
"""

_MULTIPLY = {
    (True, True): "llvm.x86.tdpbssd",
    (True, False): "llvm.x86.tdpbsud",
    (False, True): "llvm.x86.tdpbusd",
    (False, False): "llvm.x86.tdpbuud",
}
"""The intrinsic by two answers: whether the bytes of A have a sign, and whether those of B have one."""


def convert_mma_on_tile_registers(builder: LLVMBody, op: tile.MmaOp) -> None:
    """Emits zeros or the initial sums, a loop over steps of 16 groups, and the sums as values."""
    left, right = PlaceCursor(builder, op.a_place), PlaceCursor(builder, op.b_place)
    if left.steps[1] != 1 or right.steps[1] != group_of(op.a_place.type.element_type) or right.layout.strides[-1] != 1:
        builder.error("groups are not next to each other in memory")
        return
    builder.uses_tile_registers = True
    assert isinstance(op.acc.type, VectorType)
    grid = _Grid.of(op.acc.type)
    if _goes_on(op.acc) is op:
        pass  # The sums are in their registers.
    elif _is_zero(op.acc):
        for number in grid.sums():
            builder.intrinsic("llvm.x86.tilezero", [_register(builder, number)], None)
    else:
        _put(builder, op.acc, grid)
    by = left.steps[0] * element_bytes(left.layout.memory_type)
    rows = _Operand("llvm.x86.tileloadd64", left.corner, _LEFT, grid.rows, by, AMX_ROWS * by, ROW_BYTES)
    by = right.steps[0] * element_bytes(right.layout.memory_type)
    columns = _Operand("llvm.x86.tileloaddt164", right.corner, _RIGHT, grid.columns, by, ROW_BYTES, AMX_ROWS * by)
    multiply = _MULTIPLY[op.unsigned is None, op.right_unsigned is None]
    if isinstance(op.a_place.type.element_type, BFloat16Type):
        multiply = "llvm.x86.tdpbf16ps"

    def step(number: SSAValue | None) -> None:
        rows.load(builder, number)
        columns.load(builder, number)
        for row in range(grid.rows):
            for column in range(grid.columns):
                registers = (grid.sum(row, column), _LEFT + row, _RIGHT + column)
                builder.intrinsic(multiply, [_register(builder, each) for each in registers], None)

    _repeat(builder, op.depth.value.data // AMX_ROWS, step)
    if _only_stored(op) is None and _goes_on(op.result) is None:
        _take(builder, op.result, grid)
    else:
        builder.pieces[op.result] = []


@dataclass(frozen=True)
class _Grid:
    """The tile registers of the sums, in rows and columns."""

    rows: int
    columns: int

    @classmethod
    def of(cls, type_: VectorType) -> _Grid:
        return cls(*(-(-size // AMX_ROWS) for size in type_.get_shape()))

    def sum(self, row: int, column: int) -> int:
        return self.columns * row + column

    def sums(self) -> range:
        return range(self.rows * self.columns)


@dataclass(frozen=True)
class _Operand:
    """
    The registers of one side of a product, and the memory that they are loaded from. All numbers but the counts are in
    bytes.
    """

    instruction: str
    """
    The instruction that loads. `t1` means that the data need not stay in the first-level cache, where it would push out
    the other side.
    """
    corner: SSAValue
    first: int
    count: int
    stride: int
    """The bytes between the rows of a register."""
    between: int
    """The bytes between registers."""
    step: int
    """The bytes between steps of the sum."""

    def load(self, builder: LLVMBody, number: SSAValue | None) -> None:
        """Loads the registers of step `number`."""
        corner = self.corner
        if number is not None:
            offset = builder.mul(number, builder.constant(self.step), NSW | NUW)
            corner = builder.gep(corner, offset, i8)
        for index in range(self.count):
            place = builder.gep(corner, index * self.between, i8) if index else corner
            _move(builder, self.instruction, self.first + index, place, self.stride)


def convert_store_of_tile_registers(builder: LLVMBody, op: tile.StoreOp) -> bool:
    """Stores sums that still are in tile registers. Returns whether they are."""
    product = op.tile.owner
    if not isinstance(product, tile.MmaOp) or not product.uses_amx or _only_stored(product) is not op:
        return False
    cursor = PlaceCursor(builder, op.place)
    assert isinstance(op.tile.type, VectorType)
    grid = _Grid.of(op.tile.type)
    stride = cursor.steps[0] * element_bytes(cursor.layout.memory_type)
    for row in range(grid.rows):
        for column in range(grid.columns):
            place = cursor.at(AMX_ROWS * row, AMX_ROWS * column)
            _move(builder, "llvm.x86.tilestored64", grid.sum(row, column), place, stride)
    return True


def _only_stored(op: tile.MmaOp) -> tile.StoreOp | None:
    """Returns the one use of the sums, where that is a store of whole registers right after the product."""
    following = _only_use(op)
    assert isinstance(op.result.type, VectorType)
    if not isinstance(following, tile.StoreOp):
        return None
    place = following.place
    dense = place.along[1] == len(place.indices) - 1 and place.by[1] == 1
    return None if any(size % AMX_ROWS for size in op.result.type.get_shape()) or not dense else following


def _goes_on(sums: SSAValue) -> tile.MmaOp | None:
    """Returns the next product where it adds to `sums` and nothing else uses them."""
    product = sums.owner
    if not isinstance(product, tile.MmaOp) or not product.uses_amx:
        return None
    following = _only_use(product)
    if not isinstance(following, tile.MmaOp) or not following.uses_amx:
        return None
    return following if following.acc is sums else None


def _only_use(op: tile.MmaOp) -> Operation | None:
    """Returns the op that alone uses the sums, once, where only arithmetic on indices is in between."""
    following: Operation | None = op.next_op
    while isinstance(following, arith.ConstantOp | arith.AddiOp | arith.MuliOp):
        following = following.next_op
    uses = list(op.result.uses)
    return following if len(uses) == 1 and uses[0].operation is following else None


def _register(builder: LLVMBody, number: int) -> SSAValue:
    return builder.constant(number, i8)


def _is_zero(value: SSAValue) -> bool:
    if not isinstance(value.owner, arith.ConstantOp):
        return False
    splat = value.owner.value
    return (
        isinstance(splat, DenseIntOrFPElementsAttr) and splat.is_splat() and str(splat.get_values()[0]) in ("0", "0.0")
    )


def _move(builder: LLVMBody, name: str, register: int, place: SSAValue, stride: int) -> None:
    """Loads or stores a register whose rows are `stride` bytes apart."""
    builder.intrinsic(name, (_register(builder, register), place, builder.constant(stride)), None)


def _repeat(builder: LLVMBody, count: int, step: Callable[[SSAValue | None], None]) -> None:
    """Calls `step` for each number below `count`, in a loop where there are several."""
    if count == 1:
        step(None)
        return
    zero, end, one = (builder.constant(number) for number in (0, count, 1))
    loop, after = Block(arg_types=[i64]), Block()
    builder.branch(loop, (zero,))
    builder.start(loop)
    (number,) = loop.args
    number.name_hint = "step"
    step(number)
    following = builder.add(number, one, NSW | NUW)
    builder.branch_if(builder.icmp("slt", following, end), loop, (following,), after, ())
    builder.start(after)


# Sums as values


def _places(builder: LLVMBody, grid: _Grid) -> Iterator[tuple[int, SSAValue]]:
    """Yields each register of the sums and where it lies in memory."""
    for number in grid.sums():
        row, column = divmod(number, grid.columns)
        yield number, _in_slot(builder, (row * AMX_ROWS * grid.columns + column) * ROW_BYTES)


def _in_slot(builder: LLVMBody, offset: int) -> SSAValue:
    """
    Returns the stack memory for all sums from a byte on, with rows of registers next to each other.

    All products of a function share it.
    """
    if builder.tile_slot is None:
        builder.tile_slot = builder.stack_slot(i32, AMX_MOST * AMX_MOST, ROW_BYTES)
    slot = builder.tile_slot
    return builder.cached(("slot", offset), lambda: builder.gep(slot, offset, i8)) if offset else slot


def _lane(builder: LLVMBody, grid: _Grid, piece: Piece) -> SSAValue:
    """Returns where a piece of a row of the sums lies."""
    return _in_slot(builder, piece.row * grid.columns * ROW_BYTES + piece.column * SUM_BYTES)


def _take(builder: LLVMBody, result: SSAValue, grid: _Grid) -> None:
    """Makes vectors stand for the sums."""
    for number, place in _places(builder, grid):
        _move(builder, "llvm.x86.tilestored64", number, place, grid.columns * ROW_BYTES)
    assert isinstance(result.type, VectorType)
    element = result.type.element_type
    builder.pieces[result] = [
        builder.load(_lane(builder, grid, piece), builder.types.vector(element, piece.lanes), ROW_BYTES)
        for piece in pieces_of(result.type)
    ]


def _put(builder: LLVMBody, value: SSAValue, grid: _Grid) -> None:
    """Moves vectors into the registers of the sums."""
    assert isinstance(value.type, VectorType)
    for piece, vector in zip(pieces_of(value.type), builder.pieces[value], strict=True):
        builder.store(vector, _lane(builder, grid, piece), ROW_BYTES)
    for number, place in _places(builder, grid):
        _move(builder, "llvm.x86.tileloadd64", number, place, grid.columns * ROW_BYTES)


# The configuration


def configure_tile_registers(builder: LLVMBody) -> None:
    """
    Gives tile registers their shapes at the start of the function and after each call, and gives them up before it
    returns. Does nothing in a function that does not use them.
    """
    if not builder.uses_tile_registers:
        return
    shapes = builder.stack_slot(i8, ROW_BYTES, ROW_BYTES)
    type_ = VectorType(i8, [ROW_BYTES])
    numbers = DenseIntOrFPElementsAttr.from_list(type_, list(CONFIGURATION))
    constant = llvm.ConstantOp.create(result_types=(type_,), properties={"value": numbers})
    store = _made(builder, lambda: builder.store(constant.results[0], shapes, ROW_BYTES))
    builder.prologue += (constant, store, _called(builder, "llvm.x86.ldtilecfg", shapes))
    for block in builder.blocks:
        for op in ops_in(block):
            if type(op) is llvm.CallOp:
                block.insert_op_after(_called(builder, "llvm.x86.ldtilecfg", shapes), op)
            elif type(op) is llvm.ReturnOp:
                block.insert_op_before(_called(builder, "llvm.x86.tilerelease"), op)


def _called(builder: LLVMBody, name: str, *operands: SSAValue) -> Operation:
    return _made(builder, lambda: builder.intrinsic(name, operands, None))


def _made(builder: LLVMBody, emit: Callable[[], object]) -> Operation:
    """Returns the op that `emit` appends, in no block."""
    block, builder.block = builder.block, Block()
    emit()
    op = builder.block.last_op
    assert op is not None
    op.detach()
    builder.block = block
    return op
