"""Casts between buffers of known and unknown sizes, where sizes and strides are numbers beside a vector."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, cf, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntAttr, MemRefType, StridedLayoutAttr
from xdsl.ir import Attribute, SSAValue

from ...core.messages.diagnostics import fail
from .places import Number, Places

SIZE_DIFFERS = "memref.cast: a size is not that of the type"
STRIDE_DIFFERS = "memref.cast: a stride is not that of the type"


def cast_layout(
    op: memref.CastOp, target: MemRefType, sizes: Sequence[Number], strides: Sequence[Number]
) -> tuple[list[Number], list[Number]]:
    """
    Returns the sizes and strides of the result of a cast, of which those of its source are given.

    Puts a `cf.assert` before the cast for each number that the type of the result says and the source does not. A
    stride counts only where a dimension has more than one element. Raises an error where numbers differ.
    """
    found: list[Number] = []
    for axis, (size, said) in enumerate(zip(sizes, target.get_shape(), strict=True)):
        if said != DYNAMIC_INDEX:
            _check(op, f"size {axis}", size, said, None, SIZE_DIFFERS)
        found.append(size if said == DYNAMIC_INDEX else said)
    places = Places(op)
    wanted: list[Number] = []
    for axis, stride in enumerate(strides):
        said = _stride_of(places, target, found, axis)
        if said is not None:
            _check(op, f"stride {axis}", stride, said, found[axis], STRIDE_DIFFERS)
        wanted.append(stride if said is None else said)
    return found, wanted


def _stride_of(places: Places, target: MemRefType, sizes: Sequence[Number], axis: int) -> Number | None:
    """Returns the stride that a type says, None for one that it leaves open."""
    if isinstance(target.layout, StridedLayoutAttr):
        stride = target.layout.strides.data[axis]
        return stride.data if isinstance(stride, IntAttr) else None
    return places.count(sizes[axis + 1 :])


def _check(op: memref.CastOp, what: str, found: Number, said: Number, size: Number | None, message: str) -> None:
    """Checks that two numbers are equal, or that a dimension of this `size` has one element at most."""
    if found is said or (isinstance(size, int) and size < 2):
        return
    if isinstance(found, int) and isinstance(said, int):
        if found != said:
            fail(op, f"{what} is {found} before the cast and {said} after it")
        return
    places = Places(op)
    equal = places.insert(arith.CmpiOp(places.value(found), places.value(said), "eq"))
    if isinstance(size, SSAValue):
        single = places.insert(arith.CmpiOp(size, places.value(2), "ult"))
        equal = places.insert(arith.OrIOp(equal, single))
    assert_ = cf.AssertOp(equal, message)
    assert_.location = op.location
    assert op.parent is not None
    op.parent.insert_op_before(assert_, op)


def reinterpreted(source: SSAValue, target: Attribute, count: SSAValue | None = None) -> memref.ReinterpretCastOp:
    """Returns the same memory as a buffer of another type. `count` is the size of a vector whose type has a `?`."""
    assert isinstance(target, MemRefType)
    strides = [stride for stride in target.get_strides() or () if stride is not None]
    sizes = [count] if count is not None else list(target.get_shape())
    return memref.ReinterpretCastOp.from_dynamic(source, [0], sizes, strides, target)
