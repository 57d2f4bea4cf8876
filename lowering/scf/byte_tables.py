"""Loops that look up bytes in a table of 256, as loops over registers of 64 bytes with the table in four of them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, NoneAttr, StringAttr, i8
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.access_regions import root_buffer
from ...core.ir.cloning import clone_op
from ...core.roles import LOOP
from ...dialects import tile
from ...dialects.tile.translate import BYTES, BYTES_OF_A_REGISTER
from ...lazy_dataclass import dataclass
from .vector_body import extent_of, index_step

TABLE_BYTES = 256


@dataclass(frozen=True)
class ByteTable:
    """A loop `out[.., i] = table[x[.., i]]`."""

    loop: scf.ForOp
    extent: int
    x: memref.LoadOp
    look: memref.LoadOp
    """The load from the table."""
    store: memref.StoreOp
    indices: tuple[Operation, ...]
    """The ops that compute where to load and store."""


def byte_table(loop: scf.ForOp) -> ByteTable | None:
    """Returns the parts of a loop that looks up 64 bytes or more in a table, and does nothing else, or None."""
    extent = extent_of(loop)
    if extent is None or extent < BYTES or loop.iter_args:
        return None
    stores = [op for op in loop.body.block.ops if isinstance(op, memref.StoreOp)]
    look = stores[0].value.owner if len(stores) == 1 else None
    if not isinstance(look, memref.LoadOp) or not _is_table(look.memref):
        return None
    x = _byte_of(look.indices[0])
    if x is None:
        return None
    found = ByteTable(loop, extent, x, look, stores[0], _others(loop, x, look))
    return found if _is_plain(found) else None


def _is_table(buffer: SSAValue) -> bool:
    type_ = buffer.type
    return _is_bytes(type_) and type_.get_shape() == (TABLE_BYTES,)  # pyright: ignore[reportAttributeAccessIssue]


def _is_bytes(type_: object) -> bool:
    return isinstance(type_, MemRefType) and type_.element_type == i8 and isinstance(type_.layout, NoneAttr)


def _byte_of(index: SSAValue) -> memref.LoadOp | None:
    """Returns the load of the byte that an index is, which counts from 0 to 255."""
    cast = index.owner
    if isinstance(cast, arith.IndexCastOp):
        wide = cast.input.owner
        byte = wide.input.owner if isinstance(wide, arith.ExtUIOp) else None
        return byte if isinstance(byte, memref.LoadOp) and byte.res.type == i8 else None
    return None


def _others(loop: scf.ForOp, x: memref.LoadOp, look: memref.LoadOp) -> tuple[Operation, ...]:
    """Returns the ops of the body beside the two loads, the store and what makes an index of the byte."""
    cast = look.indices[0].owner
    assert isinstance(cast, arith.IndexCastOp)
    known = {x, look, cast, cast.input.owner}
    rest = (op for op in loop.body.block.ops if not isinstance(op, memref.StoreOp | scf.YieldOp))
    return tuple(op for op in rest if op not in known)


def _is_plain(found: ByteTable) -> bool:
    """Returns whether neighbours are loaded and stored, and the store changes neither the table nor bytes to come."""
    block = found.loop.body.block
    steps: dict[SSAValue, int] = {block.args[0]: 1}
    for op in found.indices:
        is_index = len(op.results) == 1 and isinstance(op.results[0].type, IndexType) and not op.regions
        step = index_step(op, steps, block) if is_index else None
        if step is None or op.dialect_name() != "arith":
            return False
        steps[op.results[0]] = step
    for access in (found.x, found.store):
        moves = [steps.get(index, 0) for index in access.indices]
        if not _is_bytes(access.memref.type) or moves != [0] * (len(moves) - 1) + [1]:
            return False
    root = root_buffer(found.store.memref)
    same = found.x.memref is found.store.memref and list(found.x.indices) == list(found.store.indices)
    if root is root_buffer(found.look.memref) or (root is root_buffer(found.x.memref) and not same):
        return False
    return found.look.memref.owner is not block and not _is_in(found.look.memref, block)


def _is_in(value: SSAValue, block: Block) -> bool:
    return isinstance(value.owner, Operation) and value.owner.parent is block


def translate_bytes(found: ByteTable, permuted: bool) -> None:
    """
    Puts a loop over registers before a loop over the bytes that are left.

    Before:

        scf.for %i = %c0 to %c3072 step %c1 {
          %b = memref.load %x[%i] : memref<3072xi8>
          %j = <%b as an index>
          %y = memref.load %table[%j] : memref<256xi8>
          memref.store %y, %out[%i] : memref<3072xi8>
        }

    After, with the table in %t0 to %t3:

        scf.for %i = %c0 to %c3072 step %c64 {
          %b = vector.load %x[%i] : memref<3072xi8>, vector<64xi8>
          %y = tile.translate %b, %t0, %t1, %t2, %t3 : vector<64xi8>
          vector.store %y, %out[%i] : memref<3072xi8>, vector<64xi8>
        }
    """
    loop, whole = found.loop, found.extent - found.extent % BYTES
    point = InsertPoint.before(loop)

    def add(op: Operation) -> Operation:
        op.location = loop.location
        Rewriter.insert_op(op, point)
        return op

    def index(number: int) -> SSAValue:
        return add(arith.ConstantOp(IntegerAttr(number, IndexType()))).results[0]

    table = [
        add(vector.LoadOp(found.look.memref, [index(first)], BYTES_OF_A_REGISTER)).results[0]
        for first in range(0, TABLE_BYTES, BYTES)
    ]
    body = _body_of_registers(found, table, permuted)
    registers = scf.ForOp(loop.lb, index(whole), index(BYTES), [], Region(body))
    registers.attributes[LOOP] = StringAttr("no-unroll")
    add(registers)
    if whole == found.extent:
        Rewriter.erase_op(loop)
    else:
        loop.operands[0] = index(whole)


def _body_of_registers(found: ByteTable, table: Sequence[SSAValue], permuted: bool) -> Block:
    """Makes the body that translates the 64 bytes from an index on."""
    loop = found.loop
    body = Block(arg_types=[IndexType()])
    body.args[0].name_hint = loop.body.block.args[0].name_hint
    copies: dict[SSAValue, SSAValue] = {loop.body.block.args[0]: body.args[0]}
    body.add_ops([clone_op(op, copies) for op in found.indices])
    place = [copies.get(each, each) for each in found.x.indices]
    x = vector.LoadOp(found.x.memref, place, BYTES_OF_A_REGISTER)
    y = tile.TranslateOp(x.result, table, permuted)
    place = [copies.get(each, each) for each in found.store.indices]
    body.add_ops([x, y, vector.StoreOp(y.result, found.store.memref, place), scf.YieldOp()])
    for op in body.ops:
        op.location = loop.location
    return body
