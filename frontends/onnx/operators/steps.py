"""Steps that repeat: loops whose carried values are tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, TensorType
from xdsl.ir import Block, Region

from ..emitter import Emitter
from ..errors import ConversionError
from ..values import RuntimeValue, Value

Body = Callable[[Value, list[Value]], list[Value]]
"""Is given the number of the turn (i64, rank 0) and the carried values; gives their next values."""


def repeat(b: Emitter, count: int, carried: Sequence[Value], body: Body, first: int = 0) -> list[Value]:
    """
    `count` turns of `body`, numbered from `first`, as an `scf.for`; the carried values after the last one.

    The number is carried as a tensor, too: it is what ops on tensors can use. Raises `ConversionError` when a value changes its type.
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
    low, high, step = (
        b.insert(arith.ConstantOp(IntegerAttr.from_index_int_value(bound))).ssa for bound in (0, count, 1)
    )
    initial = b.ssa(b.full((), first, "i64"))
    _, *results = b.insert(scf.ForOp(low, high, step, [initial, *starts], Region(block)))
    return results


def _check_types(before: Sequence[Value], after: Sequence[Value]) -> None:
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if old.shaped != new.shaped:
            raise ConversionError(
                f"carried value {number} is {old.shaped} before a turn and {new.shaped} after it, expected one type"
            )
