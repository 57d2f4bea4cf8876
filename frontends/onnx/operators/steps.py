"""Steps that repeat: loops whose carried values are tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, TensorType
from xdsl.ir import Block, Region, SSAValue

from ..emitting.graph_builder import GraphBuilder
from ..emitting.values import RuntimeValue
from ..errors import ConversionError
from ..value import Value

Body = Callable[[Value, list[Value]], list[Value]]
"""Takes the number of the turn (i64, rank 0) and the carried values, and returns their next values."""


def repeat(b: GraphBuilder, count: int | Value, carried: Sequence[Value], body: Body, first: int = 0) -> list[Value]:
    """
    Adds `count` turns of `body`, numbered from `first`, as an `scf.for`. Returns the carried values after the last one.

    The number is carried as a tensor, too: it is what ops on tensors can use. Raises `ConversionError` when a value
    changes its type.
    """
    number = TensorType(IntegerType(64), [])
    starts = [b.ssa(value) for value in carried]
    block = Block(arg_types=[IndexType(), number, *(start.type for start in starts)])
    with b.inside(block):
        turn = RuntimeValue(block.args[1])
        values: list[Value] = [RuntimeValue(argument) for argument in block.args[2:]]
        following = body(turn, values)
        _check_types(values, following)
        later = b.add(turn, 1)
        b.insert(scf.YieldOp(*(b.ssa(value) for value in (later, *following))))
    low, step = (b.insert(arith.ConstantOp(IntegerAttr.from_index_int_value(bound))).ssa for bound in (0, 1))
    if isinstance(count, int):
        high = b.insert(arith.ConstantOp(IntegerAttr.from_index_int_value(count))).ssa
    else:
        high = b.insert(arith.IndexCastOp(element_of(b, count), IndexType())).ssa
    initial = b.ssa(b.full((), first, "i64"))
    _, *results = b.insert(scf.ForOp(low, high, step, [initial, *starts], Region(block)))
    return results


def branch(
    b: GraphBuilder, condition: Value, taken: Callable[[], list[Value]], otherwise: Callable[[], list[Value]]
) -> list[Value]:
    """
    What one of two functions gives, as an `scf.if` on a condition that is computed at run time.

    Raises `ConversionError` when the two give values of other types.
    """
    scalar = element_of(b, condition)
    blocks: list[Block] = []
    found: list[list[Value]] = []
    for function in (taken, otherwise):
        block = Block()
        with b.inside(block):
            values = function()
            b.insert(scf.YieldOp(*(b.ssa(value) for value in values)))
        blocks.append(block)
        found.append(values)
    for number, (one, other) in enumerate(zip(*found, strict=True)):
        if one.shaped != other.shaped:
            raise ConversionError(
                f"output {number} is {one.shaped} in one branch and {other.shaped} in the other, expected one type"
            )
    types = [b.ssa(value).type for value in found[0]]
    result = b.insert(scf.IfOp(scalar, types, Region(blocks[0]), Region(blocks[1])))
    return [result] if len(types) == 1 else list(result)


def element_of(b: GraphBuilder, value: Value) -> SSAValue:
    """The element of a tensor that has one."""
    whole = b.ssa(value if value.rank == 0 else b.reshape(value, shape=()))
    assert isinstance(whole.type, TensorType)
    return b.insert(tensor.ExtractOp(whole, [], whole.type.element_type)).ssa


def _check_types(before: Sequence[Value], after: Sequence[Value]) -> None:
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if old.shaped != new.shaped:
            raise ConversionError(
                f"carried value {number} is {old.shaped} before a turn and {new.shaped} after it, expected one type"
            )
