"""
Tells what a program keeps in memory while it runs, from the IR of one entry on buffers.

The text holds everything. Sizes and roles are in the attributes of the arguments, and places in the `memref.view`s of
the arena. Times follow from the order of the ops. Results that take the place of operands are named by
`stepwell.in_place`, an attribute of the arguments of the kernels called.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..core.ir.element_types import byte_size
from ..core.ir.walk import walk
from ..core.roles import BYTES, IN_PLACE, LIVE_BYTES, ROLE, SIGNATURE, TYPE
from .memory_table import ArenaBuffer, InPlaceUpdate, Memory

_NO_STEPS = (arith.ConstantOp, memref.ViewOp, memref.GetGlobalOp)
"""The ops that take no time, because they only name a place."""


def memory_of(module: ModuleOp, entry: str) -> Memory:
    """
    Returns the memory of the public function `entry`, at a level with buffers.

    Raises KeyError when there is no such function. A function without roles has no arena, and one below `memref` has no
    buffers.
    """
    functions = {
        name.data: op
        for op in module.ops
        if isinstance(name := op.get_attr_or_prop("sym_name"), StringAttr) and op.regions
    }
    function = functions[entry]
    attributes = _argument_attributes(function)
    sizes = {"input": 0, "output": 0, "weight": 0}
    types = function.attributes.get(SIGNATURE)
    if isinstance(types, FunctionType):
        sizes["input"], sizes["output"] = (
            sum(map(byte_size, types.inputs)),
            sum(map(byte_size, types.outputs)),
        )
    arena, arena_bytes, live = None, 0, None
    for index, found in enumerate(attributes):
        role = found.get(ROLE)
        if role == StringAttr("weight") and TYPE in found:
            sizes["weight"] += byte_size(found[TYPE])
        elif role == StringAttr("arena"):
            arena = function.regions[0].block.args[index]
            arena_bytes, live = _integer(found.get(BYTES)) or 0, _integer(found.get(LIVE_BYTES))
    live = 0 if arena is None else live
    block = function.regions[0].blocks[0]
    steps = _steps(block)
    buffers = tuple(_buffers(arena, steps)) if arena is not None else ()
    return Memory(
        entry,
        arena_bytes,
        live,
        sizes["input"],
        sizes["output"],
        sizes["weight"],
        tuple(_label(op) for op in steps),
        buffers,
        tuple(_updates(steps, functions)),
    )


def _argument_attributes(function: Operation) -> list[dict[str, Attribute]]:
    found = function.get_attr_or_prop("arg_attrs")
    if not isinstance(found, ArrayAttr):
        return []
    return [dict(item.data) if isinstance(item, DictionaryAttr) else {} for item in found]


def _integer(attribute: Attribute | None) -> int | None:
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None


def _steps(block: Block) -> dict[Operation, int]:
    """Returns the ops of the function that take time, numbered from 0. Those in branches and loops are included."""
    found = [op for op in walk(block) if not isinstance(op, _NO_STEPS) and not op.regions]
    work = [op for op in found if op.name.endswith((".call", ".copy"))]
    return {op: number for number, op in enumerate(work)}


def _label(op: Operation) -> str:
    callee = op.get_attr_or_prop("callee")
    return f"@{callee.string_value()}" if isinstance(callee, SymbolRefAttr) else op.name


def _buffers(arena: SSAValue, steps: dict[Operation, int]) -> Iterator[ArenaBuffer]:
    for use in sorted(arena.uses, key=lambda use: _position(use.operation)):
        view = use.operation
        if not isinstance(view, memref.ViewOp) or not isinstance(view.byte_shift.owner, arith.ConstantOp):
            continue
        times = [steps[each.operation] for each in view.results[0].uses if each.operation in steps]
        name = view.results[0].name_hint or "temporary"
        offset = _integer(view.byte_shift.owner.value) or 0
        type_ = view.results[0].type
        first, last = min(times, default=-1), max(times, default=-1)
        yield ArenaBuffer(name, str(type_), offset, byte_size(type_), first, last)


def _position(op: Operation) -> tuple[int, ...]:
    """Returns where an op stands in its function: its index in its block, after the position of the op around it."""
    path: list[int] = []
    current: Operation | None = op
    while current is not None and (block := current.parent_block()) is not None:
        path.append(block.get_operation_index(current))
        current = current.parent_op()
    return tuple(reversed(path))


def _updates(steps: dict[Operation, int], functions: dict[str, Operation]) -> Iterator[InPlaceUpdate]:
    for op, step in steps.items():
        callee = op.get_attr_or_prop("callee")
        kernel = functions.get(callee.string_value()) if isinstance(callee, SymbolRefAttr) else None
        if kernel is None or len(attributes := _argument_attributes(kernel)) != len(op.operands):
            continue
        for found, buffer in zip(attributes, op.operands, strict=True):
            if IN_PLACE in found:
                yield InPlaceUpdate(step, _label(op), buffer.name_hint or "temporary")
