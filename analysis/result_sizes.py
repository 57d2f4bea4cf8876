"""The sizes of the outputs of a loop function, read off the stores that fill them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ..core.ir.sizes import COMPUTED, entries_of_arguments, is_computed, is_size_name, names_in
from ..core.ir.symbols import fresh_name
from ..dialects import tensor_loop
from ..dialects.tensor_loop.regions import body_accesses, shape_of

MOST_CHARACTERS: Final = 200
"""The longest size that is read off arithmetic."""

_OPERATORS: Final[dict[type[Operation], str]] = {
    arith.AddiOp: "+",
    arith.SubiOp: "-",
    arith.MuliOp: "*",
    arith.FloorDivSIOp: "//",
    arith.DivUIOp: "//",
    arith.RemUIOp: "%",
}
_FUNCTIONS: Final[dict[type[Operation], str]] = {arith.MinSIOp: "min", arith.MaxSIOp: "max"}

Entries = list[tuple[str, ...]]


def sizes_by_stores(function: tensor_loop.FuncOp) -> Entries:
    """
    Returns `stepwell.dims` of every argument of a loop function, with what its stores say about outputs.

    An unknown size of an output follows where a block stores to all indices from 0 to the extent of one of its axes,
    that extent is computed from sizes of inputs, and nothing else writes the output. Sizes that inputs have no name for
    get one. A name that outputs alone have says nothing, so it gives way to what the stores say, unless an expression
    uses it. Other entries stay as they are, empty where there are none.
    """
    given = entries_of_arguments(function)
    arguments = function.body.block.args
    entries = [
        list(given[number]) if given and given[number] else [""] * len(shape_of(argument))
        for number, argument in enumerate(arguments)
    ]
    inputs = len(function.input_types)
    bound = {entry for each in entries[:inputs] for entry in each}
    bound |= {name for each in entries for entry in each if is_computed(entry) for name in names_in(entry)}
    names = _NamesOfSizes(function, entries)
    for output in function.outputs:
        for axis, size in enumerate(shape_of(output)):
            entry = entries[output.index][axis]
            if size == DYNAMIC_INDEX and (not entry or not (is_computed(entry) or entry in bound)):
                text = _stored_size(output, axis, names)
                if text is not None:
                    entries[output.index][axis] = text if is_size_name(text) else f"{COMPUTED} {text}"
    return [tuple(each) for each in entries]


class _NamesOfSizes:
    """The names of the sizes of inputs. One that has no name gets one when it is asked for."""

    def __init__(self, function: tensor_loop.FuncOp, entries: list[list[str]]):
        self._inputs = set(function.inputs)
        self._entries = entries
        self._taken = {entry for each in entries for entry in each}

    def of(self, buffer: SSAValue, axis: int) -> str | None:
        """Returns the text of a size of an input, None for another buffer."""
        if not isinstance(buffer, BlockArgument) or buffer not in self._inputs:
            return None
        if (size := shape_of(buffer)[axis]) != DYNAMIC_INDEX:
            return str(size)
        entry = self._entries[buffer.index][axis]
        if not entry:
            wish = f"{buffer.name_hint}_{axis}"
            entry = fresh_name(wish if buffer.name_hint and is_size_name(wish) else "size", self._taken)
            self._entries[buffer.index][axis] = entry
        if is_computed(entry):
            return f"({entry.removeprefix(COMPUTED).strip()})"
        return entry if is_size_name(entry) else None


def _stored_size(output: BlockArgument, axis: int, names: _NamesOfSizes) -> str | None:
    """Returns the size of a dimension of an output that its stores fill from end to end, None where they do not say."""
    blocks: dict[tensor_loop.BlockOp, None] = {}
    for use in output.uses:
        op = use.operation
        if isinstance(op, memref.StoreOp):
            around = _block_of(op)
            if around is None:
                return None
            blocks[around] = None
        elif not isinstance(op, memref.LoadOp | memref.DimOp | tensor_loop.BlockOp):
            return None
    texts = dict.fromkeys(_filled(block, output, axis, names) for block in blocks)
    found = [text for text in texts if text is not None]
    if not found or len(found) < len(texts):
        return None
    return found[0] if len(found) == 1 else f"max({', '.join(found)})"


def _block_of(store: Operation) -> tensor_loop.BlockOp | None:
    """Returns the block that always runs this store, None where a condition or a loop in its body decides."""
    block = store.parent_op()
    if isinstance(block, tensor_loop.InitOp):
        block = block.parent_op()
    if not isinstance(block, tensor_loop.BlockOp) or block.constraints:
        return None
    around = block.parent_op()
    while isinstance(around, tensor_loop.LoopOp):
        around = around.parent_op()
    return block if isinstance(around, tensor_loop.FuncOp) else None


def _filled(block: tensor_loop.BlockOp, output: SSAValue, axis: int, names: _NamesOfSizes) -> str | None:
    """Returns the extent of the axis that a block indexes a dimension of `output` with, in all its stores."""
    dims: set[int] = set()
    for access in body_accesses(block.body.block).accesses:
        if access.buffer is not output or not access.is_store:
            continue
        index = access.indices[axis]
        others = [other for place, other in enumerate(access.indices) if place != axis]
        if not isinstance(index, AffineDimExpr) or any(_uses(other, index.position) for other in others):
            return None
        dims.add(index.position)
    if len(dims) != 1:
        return None
    extent = block.extents[dims.pop()]
    return str(extent) if isinstance(extent, int) else text_of_size(extent, names, {})


def _uses(index: object, position: int) -> bool:
    used = getattr(index, "used_dims", None)
    return used is None or position in used()


def text_of_size(value: SSAValue, names: _NamesOfSizes, known: dict[SSAValue, str | None]) -> str | None:
    """Returns an index value as an expression over sizes of inputs, None where it is computed from anything else."""
    pending = [value]
    while pending:  # A chain of arithmetic may be longer than Python's stack.
        current = pending[-1]
        op = current.owner
        operands = list(op.operands) if isinstance(op, Operation) and _is_followed(op) else []
        missing = [each for each in operands if each not in known]
        if missing and current not in known:
            pending += missing
            continue
        known.setdefault(current, _text(current, names, known))
        pending.pop()
    return known[value]


def _is_followed(op: Operation) -> bool:
    return type(op) in _OPERATORS or type(op) in _FUNCTIONS


def _text(value: SSAValue, names: _NamesOfSizes, known: Mapping[SSAValue, str | None]) -> str | None:
    op = value.owner
    match op:
        case arith.ConstantOp(value=IntegerAttr() as number):
            return str(number.value.data)
        case memref.DimOp():
            index = op.index.owner
            literal = index.value if isinstance(index, arith.ConstantOp) else None
            if not isinstance(literal, IntegerAttr) or not 0 <= literal.value.data < len(shape_of(op.source)):
                return None
            return names.of(op.source, literal.value.data)
        case Operation() if _is_followed(op):
            left, right = (known[each] for each in op.operands)
            if left is None or right is None or len(left) + len(right) > MOST_CHARACTERS:
                return None
            if (name := _FUNCTIONS.get(type(op))) is not None:
                return f"{name}({left}, {right})"
            return f"{_atom(left)} {_OPERATORS[type(op)]} {_atom(right)}"
        case _:
            return None


def _atom(text: str) -> str:
    """Returns a text in parentheses unless it is a name or a number."""
    return text if is_size_name(text) or text.isdecimal() else f"({text})"
