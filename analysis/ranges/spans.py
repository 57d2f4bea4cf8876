"""
What single ops touch: for each dimension of a buffer, the first index, the number of elements and the end.

The numbers are SSA values or integers, so that a pass can compute the checks that a proof does not make needless.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StridedLayoutAttr, VectorType
from xdsl.ir import Operation, SSAValue

from ...core.ir.literals import constant_of
from ...dialects.tensor_loop import AllocOp
from ...dialects.traits import AccessesBoxes
from ...lazy_dataclass import dataclass
from .linear import LIMIT
from .values import element_bytes

Number = int | SSAValue
"""An integer that the program says, or one that it computes."""


@dataclass(frozen=True)
class Span:
    """
    `length` elements from `first` on, which are to lie within `0 <= x < end`.

    `end` is a number, or None for the size of `buffer` along `dimension`. `length` is a number or, for masks, at most
    `lanes` elements of which the first `length` are touched.
    """

    first: Number
    length: Number
    end: int | None
    buffer: SSAValue
    dimension: int
    what: str = "index"
    lanes: int | None = None
    open_end: bool = False
    """What lies beyond the end is not touched: only the first index matters."""


@dataclass(frozen=True)
class Touch:
    """What an op does to one buffer."""

    op: Operation
    buffer: SSAValue
    spans: tuple[Span, ...]
    is_store: bool


@cache
def may_touch(kind: type[Operation]) -> bool:
    """Returns whether ops of a class touch a buffer or view one."""
    return kind in _RULES or issubclass(kind, AccessesBoxes)


def touches(op: Operation) -> Sequence[Touch]:
    """Returns what `op` itself touches or views. It is empty for ops that touch no buffer."""
    rule = _RULES.get(op.__class__)
    if rule is not None:
        return tuple(rule(op))
    if may_touch(op.__class__):
        boxes = op.box_accesses()  # pyright: ignore[reportAttributeAccessIssue]
        return tuple(Touch(op, b.buffer, _spans(b.buffer, b.indices, b.sizes), b.is_store) for b in boxes)
    return ()


def _spans(buffer: SSAValue, indices: Sequence[SSAValue], sizes: Sequence[Number] | None = None) -> tuple[Span, ...]:
    lengths = (1,) * len(indices) if sizes is None else sizes
    return tuple(
        Span(index, length, None, buffer, dimension)
        for dimension, (index, length) in enumerate(zip(indices, lengths, strict=True))
    )


def _load(op: Any) -> Iterator[Touch]:
    yield Touch(op, op.memref, _spans(op.memref, op.indices), False)


def _store(op: Any) -> Iterator[Touch]:
    yield Touch(op, op.memref, _spans(op.memref, op.indices), True)


def _box(buffer: SSAValue, indices: Sequence[SSAValue], kind: VectorType) -> tuple[Span, ...]:
    """Returns the spans of a vector, whose dimensions are the last ones of the buffer."""
    shape = kind.get_shape()
    return _spans(buffer, indices, (*(1,) * (len(indices) - len(shape)), *shape))


def _vector_load(op: Any) -> Iterator[Touch]:
    yield Touch(op, op.base, _box(op.base, op.indices, op.result.type), False)


def _vector_store(op: Any) -> Iterator[Touch]:
    yield Touch(op, op.base, _box(op.base, op.indices, op.vector.type), True)


def _masked(op: Any, kind: VectorType, is_store: bool) -> Touch:
    (lanes,) = kind.get_shape()
    *outer, last = _spans(op.base, op.indices)
    count = op.mask.owner.mask_dim_sizes[0] if isinstance(op.mask.owner, vector.CreateMaskOp) else lanes
    return Touch(op, op.base, (*outer, _part(last, count, lanes)), is_store)


def _part(span: Span, count: Number, lanes: int) -> Span:
    return Span(span.first, count, span.end, span.buffer, span.dimension, lanes=lanes)


def _masked_load(op: Any) -> Iterator[Touch]:
    yield _masked(op, op.result.type, False)


def _masked_store(op: Any) -> Iterator[Touch]:
    yield _masked(op, op.value_to_store.type, True)


def _transfer(op: Any) -> Iterator[Touch]:
    is_store = isinstance(op, vector.TransferWriteOp)
    kind: Any = op.vector.type if isinstance(op, vector.TransferWriteOp) else op.result.type
    if not isinstance(op.source.type, MemRefType):
        return
    spans = list(_box(op.source, op.indices, kind))
    rank = len(kind.get_shape())
    for position, inside in enumerate(op.in_bounds.data):
        if not inside.value.data:
            place = len(spans) - rank + position
            spans[place] = Span(op.indices[place], 1, None, op.source, place, open_end=True)
    yield Touch(op, op.source, tuple(spans), is_store)


def _numbers(static: Any, dynamic: Sequence[SSAValue]) -> list[Number]:
    rest = iter(dynamic)
    return [next(rest) if each == DYNAMIC_INDEX else int(each) for each in static.iter_values()]


def _subview(op: Any) -> Iterator[Touch]:
    offsets, sizes = _numbers(op.static_offsets, op.offsets), _numbers(op.static_sizes, op.sizes)
    strides = _numbers(op.static_strides, op.strides)
    if any(not isinstance(stride, int) for stride in strides):
        raise Unchecked(op, "its strides are not known")
    lengths: list[Number] = []
    for size, stride in zip(sizes, strides, strict=True):
        if isinstance(size, int):
            lengths.append(0 if size == 0 else (size - 1) * abs(int(stride)) + 1)  # pyright: ignore[reportArgumentType]
        elif stride == 1:
            lengths.append(size)
        else:
            raise Unchecked(op, "a size that is not known has a stride other than 1")
    if any(isinstance(stride, int) and stride < 0 for stride in strides):
        raise Unchecked(op, "it has a negative stride")
    spans = [
        Span(offset, length, None, op.source, dimension, "offset")
        for dimension, (offset, length) in enumerate(zip(offsets, lengths, strict=True))
    ]
    yield Touch(op, op.source, tuple(spans), False)


def _reinterpret_cast(op: Any) -> Iterator[Touch]:
    """The last element of the result counts, from the start of the source."""
    offsets, sizes = _numbers(op.static_offsets, op.offsets), _numbers(op.static_sizes, op.sizes)
    strides, elements = _numbers(op.static_strides, op.strides), elements_of(op.source)
    if elements is None:
        raise Unchecked(op, f"the elements of its source {op.source.type} are not counted")
    length = 1
    for size, stride in zip(sizes, strides, strict=True):
        if not isinstance(size, int) or not isinstance(stride, int) or stride < 0:
            raise Unchecked(op, "its sizes and strides are not all known")
        length += (size - 1) * stride
    length = 0 if 0 in sizes else length
    yield Touch(op, op.source, (Span(offsets[0], length, elements, op.source, 0, "offset"),), False)


def _view(op: memref.ViewOp) -> Iterator[Touch]:
    (buffer, shift, *sizes), (result,) = op.operands, op.results
    length = None if sizes else elements_of(result)
    if length is None:
        raise Unchecked(op, "its sizes are not all known")
    yield Touch(op, buffer, (Span(shift, length * element_bytes(result.type), None, buffer, 0, "byte"),), False)


def _alloc(op: Any) -> Iterator[Touch]:
    kind = op.memref.type
    static = element_bytes(kind)
    for extent in kind.get_shape():
        static *= 1 if extent == DYNAMIC_INDEX else max(extent, 1)
    count = len(op.dynamic_sizes)
    most = largest_size(static, count)
    spans = (Span(size, 0, most, op.memref, dimension, "size") for dimension, size in enumerate(op.dynamic_sizes))
    yield Touch(op, op.memref, tuple(spans), False)


def largest_size(static: int, count: int) -> int:
    """Returns how large each of `count` sizes may be for their product with `static` bytes to fit 62 bits."""
    if count == 0:
        return 0
    low, high = 0, LIMIT
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if static * middle**count < LIMIT // 2 else (low, middle)
    return low


def _cast(op: memref.CastOp) -> Iterator[Touch]:
    """A cast to known sizes trusts that there are as many elements."""
    source, result = op.operands[0], op.results[0]
    if isinstance(source.type, MemRefType) and isinstance(result.type, MemRefType):
        pairs = enumerate(zip(source.type.get_shape(), result.type.get_shape(), strict=True))
        known = [(d, size) for d, (open_, size) in pairs if open_ == DYNAMIC_INDEX and size != DYNAMIC_INDEX]
        yield Touch(op, source, tuple(Span(0, size, None, source, d, "size") for d, size in known), False)


def _copy(op: memref.CopyOp) -> Iterator[Touch]:
    for buffer, is_store in ((op.source, False), (op.destination, True)):
        yield Touch(op, buffer, (), is_store)


def elements_of(buffer: SSAValue) -> int | None:
    """Returns the number of elements of a buffer whose rows follow each other, or None for any other buffer."""
    kind = buffer.type
    if not isinstance(kind, MemRefType) or DYNAMIC_INDEX in kind.get_shape():
        return None
    total, expected = 1, list[int]()
    for extent in reversed(kind.get_shape()):
        expected.insert(0, total)
        total *= extent
    if isinstance(kind.layout, StridedLayoutAttr):
        return total if kind.get_strides() == tuple(expected) and kind.layout.get_offset() == 0 else None
    return total


class Unchecked(Exception):
    """An op whose accesses can neither be proven nor checked, and why."""

    def __init__(self, op: Operation, reason: str):
        super().__init__(reason)
        self.op, self.reason = op, reason


def constant_number(value: Number) -> int | None:
    """Returns the integer that a number is, where the program says it."""
    return value if isinstance(value, int) else constant_of(value)


_RULES: Final[dict[type[Operation], Any]] = {
    memref.LoadOp: _load,
    memref.StoreOp: _store,
    memref.AtomicRMWOp: _store,
    memref.SubviewOp: _subview,
    memref.ReinterpretCastOp: _reinterpret_cast,
    memref.ViewOp: _view,
    memref.AllocOp: _alloc,
    memref.AllocaOp: _alloc,
    AllocOp: _alloc,
    memref.CastOp: _cast,
    memref.CopyOp: _copy,
    vector.LoadOp: _vector_load,
    vector.StoreOp: _vector_store,
    vector.MaskedLoadOp: _masked_load,
    vector.MaskedStoreOp: _masked_store,
    vector.TransferReadOp: _transfer,
    vector.TransferWriteOp: _transfer,
}
