"""The pass `optimize-layouts`: images with their channels last between the first and the last convolution."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from ...core.messages.locations import copy_location
from ...core.passes.base import StepwellPass
from ...dialects.graph.base import GraphOp, plain_properties
from ...dialects.graph.binary import BinaryOp, DivisionOp, EwiseFmaOp
from ...dialects.graph.comparison import WhereOp
from ...dialects.graph.contraction import Conv2dOp
from ...dialects.graph.elementwise import AstypeOp, ClipOp, UnaryOp
from ...dialects.graph.movement import (
    BroadcastToOp,
    ConcatOp,
    ExpandDimsOp,
    PadOp,
    PermuteDimsOp,
    ReshapeOp,
    SplitOp,
    StridedSliceOp,
    TakeOp,
)
from ...dialects.graph.normalisation import BatchNormOp, BiasAddOp, GroupNormOp, InstanceNormOp
from ...dialects.graph.pooling import Pool2dOp
from ...dialects.graph.quantisation import DequantizeOp, QuantizeOp, RequantizeOp
from ...dialects.graph.reduction import ArgReductionOp, AxisNormalisationOp, ReductionOp
from ...dialects.graph.sampling import ResampleOp
from ...dialects.traits import constant_kind, may_fail
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import is_primitive

TO_LAST = (0, 2, 3, 1)
"""The permutation from NCHW to NHWC."""
TO_FIRST = (0, 3, 1, 2)
"""The permutation from NHWC to NCHW."""
TO_HWIO = (2, 3, 1, 0)
"""The permutation from OIHW to HWIO."""

ELEMENTWISE = (UnaryOp, BinaryOp, DivisionOp, ClipOp, AstypeOp, EwiseFmaOp, WhereOp)


@dataclass(frozen=True)
class OptimizeLayoutsPass(StepwellPass):
    """
    Computes convolutions with the channels last, and the ops between them too.

    In a block with a convolution in NCHW, the convolutions take NHWC and HWIO, which register tiles read in order.
    Pooling, normalisation, reductions, concatenation, slices, resizing, places in tables and elementwise ops on such
    images follow where that needs no new transpose of an image. A concatenation follows where it needs none of its
    greater part. So transposes are left at the borders only, and `fold-constant` folds those of constant filters. In a
    block that turns images to NCHW and back, or for a pooling alone, these ops follow too, with or without a
    convolution. Only the order of sums may change. Fused functions are left alone. Running it twice changes nothing.

    Before:
        %0 = graph.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
        %1 = graph.relu %0 : …
    After:
        %2 = graph.permute_dims %x, axes = [0, 2, 3, 1] : …
        %3 = graph.permute_dims %w, axes = [2, 3, 1, 0] : …
        %4 = graph.conv2d %2, %3, data_layout = "NHWC", kernel_layout = "HWIO" : …
        %5 = graph.relu %4 : …
        %1 = graph.permute_dims %5, axes = [0, 3, 1, 2] : …
    """

    name = "optimize-layouts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in _blocks(op):
            if _is_turned(block) or any(isinstance(op, Conv2dOp) and _is_other(op) for op in block.ops):
                images = _Images(block)
                images.run()
                self.count("ops with channels last", images.changed)


def _blocks(module: ModuleOp) -> list[Block]:
    """Yields all blocks but those of fused functions."""
    found: list[Block] = []
    stack: list[Operation] = [module]
    while stack:
        op = stack.pop()
        if is_primitive(op):
            continue
        blocks = [block for region in op.regions for block in region.blocks]
        found += blocks
        stack += [inner for block in blocks for inner in block.ops if inner.regions]
    return found


def _is_other(conv: Conv2dOp) -> bool:
    found = plain_properties(conv)
    return (found["data_layout"], found["kernel_layout"]) != ("NHWC", "HWIO")


def _is_turned(block: Block) -> bool:
    """Returns whether images are turned to NCHW and back, or to NCHW for nothing but a pooling."""
    turned = [op for op in block.ops if _axes_of(op) == TO_FIRST]
    if turned and any(_axes_of(op) == TO_LAST for op in block.ops):
        return True
    return any(all(isinstance(use.operation, Pool2dOp) for use in op.results[0].uses) for op in turned)


def _axes_of(op: Operation) -> tuple[int, ...] | None:
    return plain_properties(op)["axes"] if isinstance(op, PermuteDimsOp) else None


def _is_returned(value: SSAValue) -> bool:
    """Returns whether a value is only returned, or only resampled and then returned."""
    users = [use.operation for use in value.uses]
    return bool(users) and all(
        isinstance(user, ReturnOp) or (isinstance(user, ResampleOp) and _is_returned(user.results[0])) for user in users
    )


def _rank(value: SSAValue) -> int:
    return value.type.get_num_dims() if isinstance(value.type, TensorType) else -1


def _is_along_channels(value: SSAValue) -> bool:
    """Returns whether all extents but that of the channels are 1."""
    assert isinstance(value.type, TensorType)
    shape = value.type.get_shape()
    return len(shape) >= 3 and prod(shape) == shape[-3] > 0


def _elements(value: SSAValue) -> int:
    """Returns the number of elements, where an unknown extent counts as one."""
    assert isinstance(value.type, TensorType)
    return prod(max(size, 1) for size in value.type.get_shape())


def _last(axis: int) -> int:
    """Returns the number in NHWC of an axis of NCHW."""
    return TO_LAST.index(axis % 4)


def _type_last(type_: Attribute) -> TensorType:
    """Returns the type of an image in NHWC."""
    assert isinstance(type_, TensorType)
    shape = type_.get_shape()
    return TensorType(type_.element_type, [shape[axis] for axis in TO_LAST], type_.encoding)


class _Images:
    """Rewrites one block, from its start to its end."""

    def __init__(self, block: Block):
        self.block = block
        self.changed = 0
        self._twins: dict[SSAValue, SSAValue] = {}
        """Maps images in NCHW to the values that hold the same in NHWC."""
        self._added: list[Operation] = []
        """The ops that are erased in the end if nothing uses them."""

    def run(self) -> None:
        for op in list(self.block.ops):
            self._visit(op)
        for op in reversed(self._added):
            if op.parent is not None and all(result.first_use is None for result in op.results):
                op.detach()
                op.erase()

    def _visit(self, op: Operation) -> None:
        if _axes_of(op) == TO_LAST:
            twin = self._twin(op.operands[0])
            if twin is not None:
                op.results[0].replace_all_uses_with(twin)
                self._added.append(op)
        elif isinstance(op, Conv2dOp):
            self._convolution(op)
        elif isinstance(op, GraphOp):
            for kind, follow in _FOLLOWERS:
                if isinstance(op, kind):
                    follow(self, op)
                    return

    # Images and their twins

    def _twin(self, value: SSAValue) -> SSAValue | None:
        """Returns the NHWC form of `value` where there is one."""
        if value in self._twins:
            return self._twins[value]
        owner = value.owner
        if isinstance(owner, Operation) and _axes_of(owner) == TO_FIRST:
            return owner.operands[0]
        return None

    def _channels_last(self, value: SSAValue, place: Operation) -> SSAValue:
        """Returns the NHWC form of `value`, which is made before `place` where there is none."""
        twin = self._twin(value)
        if twin is None:
            twin = self._add(PermuteDimsOp(value, axes=TO_LAST), place)
            self._twins[value] = twin
        return twin

    def _add(self, op: Operation, place: Operation) -> OpResult:
        copy_location(place, op)
        self.block.insert_op_before(op, place)
        self._added.append(op)
        return op.results[0]

    def _replace(self, op: Operation, operands: list[SSAValue], images: int = 1, **changes: Any) -> None:
        """
        Replaces `op` by one on other operands and with other properties.

        Its first `images` results are in NHWC now. They are transposed back for users that need NCHW.
        """
        properties = {**plain_properties(op), **changes}
        types = [
            _type_last(result.type) if number < images else result.type for number, result in enumerate(op.results)
        ]
        new = type(op)(*operands, result_types=types, attributes=op.attributes, **properties)  # pyright: ignore[reportCallIssue, reportArgumentType]
        self._add(new, op)
        for number, (old, result) in enumerate(zip(op.results, new.results, strict=True)):
            result.name_hint = old.name_hint
            if number >= images:
                old.replace_all_uses_with(result)
                continue
            back = self._add(PermuteDimsOp(result, axes=TO_FIRST, result_types=[old.type]), op)
            self._twins[back] = result
            old.replace_all_uses_with(back)
        op.detach()
        op.erase()
        self.changed += 1

    # Ops

    def _convolution(self, op: Conv2dOp) -> None:
        if not _is_other(op):
            return
        found = plain_properties(op)
        data, kernel = op.operands
        first = found["data_layout"] == "NCHW"
        if first:
            data = self._channels_last(data, op)
        if found["kernel_layout"] == "OIHW":
            kernel = self._add(PermuteDimsOp(kernel, axes=TO_HWIO), op)
        layouts = {"data_layout": "NHWC", "kernel_layout": "HWIO"}
        self._replace(op, [data, kernel], 1 if first else 0, **layouts)

    def _pooling(self, op: Operation) -> None:
        twin = self._twin(op.operands[0])
        if twin is not None and plain_properties(op)["layout"] == "NCHW":
            self._replace(op, [twin], layout="NHWC")

    def _along_axis(self, op: Operation) -> None:
        """Follows an op on an image and, perhaps, vectors along one axis of it."""
        image, *others = op.operands
        twin = self._twin(image)
        if twin is not None:
            self._replace(op, [twin, *others], axis=_last(plain_properties(op)["axis"]))

    def _conversion(self, op: Operation) -> None:
        """Follows a conversion with one scale, or with one for each index of an axis."""
        image, *others = op.operands
        if _rank(others[0]) == 1:
            self._along_axis(op)
        elif _rank(others[0]) == 0 and (twin := self._twin(image)) is not None:
            self._replace(op, [twin, *others])

    def _lookup(self, op: Operation) -> None:
        """Follows an image of places in a table, which are looked up one by one."""
        table, places = op.operands
        twin = self._twin(places)
        if twin is not None and _rank(table) == 1 and not may_fail(op):
            self._replace(op, [table, twin])

    def _resampling(self, op: Operation) -> None:
        """Follows where the image that the block returns would not have to be transposed at a larger size."""
        if not (_elements(op.results[0]) > _elements(op.operands[0]) and _is_returned(op.results[0])):
            self._along_axis(op)

    def _index(self, op: Operation) -> None:
        """Follows an op that finds an element along one axis. Without an axis, the number would differ in NHWC."""
        found = plain_properties(op)
        twin = self._twin(op.operands[0])
        if twin is None or found["axis"] is None:
            return
        if found["keepdims"] or found["axis"] % 4 == 1:
            self._replace(op, [twin], 1 if found["keepdims"] else 0, axis=_last(found["axis"]))

    def _reduction(self, op: Operation) -> None:
        found = plain_properties(op)
        twin = self._twin(op.operands[0])
        if twin is None:
            return
        axes = range(4) if found["axis"] is None else [axis % 4 for axis in found["axis"]]
        kept = [axis for axis in range(4) if axis not in axes]
        in_order = [axis for axis in TO_LAST if axis in kept] == kept
        if found["keepdims"] or in_order:
            changed = None if found["axis"] is None else [_last(axis) for axis in axes]
            self._replace(op, [twin], 1 if found["keepdims"] else 0, axis=changed)

    def _concatenation(self, op: Operation) -> None:
        known = [value for value in op.operands if self._twin(value) is not None]
        if known and 2 * sum(map(_elements, known)) > sum(map(_elements, op.operands)):
            twins = [self._channels_last(value, op) for value in op.operands]
            self._replace(op, twins, axis=_last(plain_properties(op)["axis"]))

    def _slice(self, op: Operation) -> None:
        twin = self._twin(op.operands[0])
        if twin is not None:
            self._replace(op, [twin], axes=[_last(axis) for axis in plain_properties(op)["axes"]])

    def _repetition(self, op: Operation) -> None:
        """
        Follows the reshape that ends `expand_dims`, `broadcast_to`, `reshape` where these repeat rows and columns of an
        image.
        """
        stretched = op.operands[0].owner
        spread = stretched.operands[0].owner if isinstance(stretched, BroadcastToOp) else None
        if not isinstance(spread, ExpandDimsOp):
            return
        twin = self._twin(spread.operands[0])
        shape = op.operands[0].type.get_shape()  # pyright: ignore[reportAttributeAccessIssue]
        axes = [axis % 6 for axis in plain_properties(spread)["axis"]]
        batch, channels, high, down, wide, across = shape if len(shape) == 6 else [0] * 6
        result = op.results[0].type.get_shape()  # pyright: ignore[reportAttributeAccessIssue]
        if twin is None or axes != [3, 5] or tuple(result) != (batch, channels, high * down, wide * across):
            return
        if spread.operands[0].type.get_shape() != (batch, channels, high, wide):  # pyright: ignore[reportAttributeAccessIssue]
            return
        self._added += [spread, stretched]
        apart = self._add(ExpandDimsOp(twin, axis=(2, 4)), op)
        repeated = self._add(BroadcastToOp(apart, shape=(batch, high, down, wide, across, channels)), op)
        self._replace(op, [repeated], shape=(batch, high * down, wide * across, channels))

    def _split(self, op: Operation) -> None:
        twin = self._twin(op.operands[0])
        if twin is not None:
            self._replace(op, [twin], len(op.results), axis=_last(plain_properties(op)["axis"]))

    def _padding(self, op: Operation) -> None:
        twin = self._twin(op.operands[0])
        if twin is not None:
            widths = plain_properties(op)["pad_width"]
            moved = [width for axis in TO_LAST for width in widths[2 * axis : 2 * axis + 2]]
            self._replace(op, [twin], pad_width=moved)

    def _elementwise(self, op: Operation) -> None:
        """Follows where every image among the operands has a twin. Constants and vectors are transposed."""
        if all(self._twin(value) is None for value in op.operands) or _rank(op.results[0]) != 4:
            return
        if not all(self._is_cheap(value) for value in op.operands):
            return
        operands: list[SSAValue] = []
        for value in op.operands:
            rank = _rank(value)
            if self._twin(value) is None and rank > 0 and _is_along_channels(value):
                operands.append(self._vector(value, op))
                continue
            if 0 < rank < 4:
                value = self._add(ExpandDimsOp(value, axis=range(4 - rank)), op)
            operands.append(self._channels_last(value, op) if rank > 0 else value)
        self._replace(op, operands)

    def _vector(self, value: SSAValue, place: Operation) -> SSAValue:
        """Returns the elements of a tensor that is one along channels alone as a vector."""
        assert isinstance(value.type, TensorType)
        source = value.owner.operands[0] if isinstance(value.owner, ReshapeOp | ExpandDimsOp) else value
        if _rank(source) == 1:
            return source
        return self._add(ReshapeOp(value, shape=(_elements(value),)), place)

    def _is_cheap(self, value: SSAValue) -> bool:
        """Returns whether the NHWC form is there, or made at load time, or small."""
        if self._twin(value) is not None or _rank(value) == 0:
            return True
        if constant_kind(value.owner) in ("literal", "splat", "weight"):
            return True
        assert isinstance(value.type, TensorType)
        return sum(size != 1 for size in value.type.get_shape()) <= 1


_FOLLOWERS: tuple[tuple[type[Operation], Callable[[_Images, Operation], None]], ...] = (
    (Pool2dOp, _Images._pooling),  # pyright: ignore[reportPrivateUsage]
    (ReductionOp, _Images._reduction),  # pyright: ignore[reportPrivateUsage]
    (ArgReductionOp, _Images._index),  # pyright: ignore[reportPrivateUsage]
    (ConcatOp, _Images._concatenation),  # pyright: ignore[reportPrivateUsage]
    (SplitOp, _Images._split),  # pyright: ignore[reportPrivateUsage]
    (PadOp, _Images._padding),  # pyright: ignore[reportPrivateUsage]
    (StridedSliceOp, _Images._slice),  # pyright: ignore[reportPrivateUsage]
    (ResampleOp, _Images._resampling),  # pyright: ignore[reportPrivateUsage]
    (QuantizeOp, _Images._conversion),  # pyright: ignore[reportPrivateUsage]
    (DequantizeOp, _Images._conversion),  # pyright: ignore[reportPrivateUsage]
    (RequantizeOp, _Images._conversion),  # pyright: ignore[reportPrivateUsage]
    (TakeOp, _Images._lookup),  # pyright: ignore[reportPrivateUsage]
    (ReshapeOp, _Images._repetition),  # pyright: ignore[reportPrivateUsage]
    *(
        (kind, _Images._along_axis)  # pyright: ignore[reportPrivateUsage]
        for kind in (AxisNormalisationOp, BatchNormOp, BiasAddOp, InstanceNormOp, GroupNormOp)
    ),
    *((kind, _Images._elementwise) for kind in ELEMENTWISE),  # pyright: ignore[reportPrivateUsage]
)
"""The ops that follow an image into NHWC, with their methods. The first that fits is taken."""
