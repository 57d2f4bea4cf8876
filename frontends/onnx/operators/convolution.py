"""
Convolutions of any number of spatial dimensions, and transposed ones, on two-dimensional convolutions of the graph
dialect.
"""

from __future__ import annotations

from math import prod

from ....lazy_dataclass import dataclass
from ..emitting.forms import reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import Size, combined, extents_of, product
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .movement import pad_constant
from .windows import Window, padded_alike, window_of

Ints = tuple[int, ...] | None


@converter("Conv")
def conv(
    b: GraphBuilder,
    x: Value,
    w: Value,
    bias: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Ints = None,
    group: int = 1,
    kernel_shape: Ints = None,
    pads: Ints = None,
    strides: Ints = None,
) -> Value:
    """Cross-correlates images with filters."""
    if auto_pad in ("SAME_UPPER", "SAME_LOWER") and _needs_sizes(x, w, strides):
        x = padded_alike(b, x, [dim or 0 for dim in w.shape[2:]], strides, dilations, auto_pad == "SAME_LOWER")
        auto_pad = "VALID"
    window = window_of(x, w.shape[2:], auto_pad, dilations, kernel_shape, pads, strides)
    return _with_bias(b, convolve(b, x, w, window, group), bias)


def _needs_sizes(x: Value, w: Value, strides: Ints) -> bool:
    """
    Returns whether padding that keeps the extents depends on some that are not known. With strides of 1 it does not.
    """
    unknown = x.rank == w.rank and None not in w.shape and None in x.shape[2:]
    return unknown and strides is not None and len(strides) == x.rank - 2 and max(strides) > 1


def _with_bias(b: GraphBuilder, x: Value, bias: Value | None) -> Value:
    return x if bias is None else b.add(x, b.reshape(bias, shape=(-1, *(1,) * (x.rank - 2))))


def convolve(b: GraphBuilder, x: Value, w: Value, window: Window, groups: int, out_dtype: str | None = None) -> Value:
    """
    The cross-correlation of images of 1, 2, 3 or more dimensions.

    Of 1 dimension it is one of images of height 1; of more than 2 one of the planes, whose channels are those of all
    the planes that the window reaches.
    """
    if x.rank < 3 or w.rank != x.rank:
        raise ConversionError(f"the input is {x.shaped} and the filter {w.shaped}, expected one rank from 3")
    if x.rank == 3:
        image, kernel = b.expand_dims(x, axis=(2,)), b.expand_dims(w, axis=(2,))
        flat = convolve(b, image, kernel, window.flat(), groups, out_dtype)
        return b.squeeze(flat, axis=(2,))
    if x.rank > 4:
        return _by_planes(b, x, w, window, groups, out_dtype)
    before, after = [0, 0, *window.before], [0, 0, *window.after]
    if min(before + after) < 0:
        cut = [min(each, 0) for each in before], [min(each, 0) for each in after]
        x = pad_constant(b, x, *cut, 0)
    return b.conv2d(
        x,
        w,
        strides=window.strides,
        padding=tuple(max(each, 0) for each in before[2:] + after[2:]),
        dilation=window.dilations,
        groups=groups,
        out_dtype=out_dtype,
    )


def _by_planes(b: GraphBuilder, x: Value, w: Value, window: Window, groups: int, out_dtype: str | None = None) -> Value:
    """A convolution in one dimension less: every depth of the result is an image of its own."""
    rest = tuple(range(3, x.rank))
    ends = [0] * x.rank, [0] * x.rank
    ends[0][2], ends[1][2] = window.before[0], window.after[0]
    x = pad_constant(b, x, *ends, 0)
    batch, channels, depth, *extents = extents_of(x)
    if isinstance(depth, Size):
        raise ConversionError(f"the input is {x.shaped}, expected extent 2 to be known")
    kernel, stride, dilation = window.kernel[0], window.strides[0], window.dilations[0]
    count = (depth - window.reach(0)) // stride + 1
    if count < 1:
        raise ConversionError(f"a window of {window.reach(0)} does not fit into the {depth} planes")
    taps: list[Value] = []
    for tap in range(kernel):
        first = tap * dilation
        end = first + (count - 1) * stride + 1
        part = b.strided_slice(x, axes=(2,), begin=(first,), end=(end,), strides=(stride,))
        taps.append(b.expand_dims(part, axis=(2,)))
    planes = b.concat(*taps, axis=2) if kernel > 1 else taps[0]
    planes = b.permute_dims(planes, axes=(0, 3, 1, 2, *(axis + 1 for axis in rest)))
    planes = reshaped(b, planes, [product([batch, count]), product([channels, kernel]), *extents])
    outputs, inputs, _, *sizes = b.static_shape(w, "the filter")
    flat = b.reshape(w, shape=(outputs, inputs * kernel, *sizes))
    found = convolve(b, planes, flat, window.part(1, x.rank - 2), groups, out_dtype)
    result = reshaped(b, found, [batch, count, outputs, *extents_of(found)[2:]])
    return b.permute_dims(result, axes=(0, 2, 1, *rest))


# Transposed


@converter("ConvTranspose")
def conv_transpose(
    b: GraphBuilder,
    x: Value,
    w: Value,
    bias: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Ints = None,
    group: int = 1,
    kernel_shape: Ints = None,
    output_padding: Ints = None,
    output_shape: Ints = None,
    pads: Ints = None,
    strides: Ints = None,
) -> Value:
    """
    `y[o, p] = sum over c, i, t with p + before = i * stride + t * dilation of x[c, i] * w[c, o, t]`.

    The places p of one remainder by the stride are a convolution of the input; those of all remainders are one
    convolution, whose channels are then dealt out to places.
    """
    rank = x.rank - 2
    plain = None if auto_pad.startswith("SAME") or output_shape is not None else pads
    shown = "NOTSET" if auto_pad.startswith("SAME") else auto_pad
    window = window_of(x, w.shape[2:], shown, dilations, kernel_shape, plain, strides)
    more = output_padding or (0,) * rank
    if len(more) != rank or (output_shape is not None and len(output_shape) != rank):
        raise ConversionError(f"output_padding or output_shape do not have {rank} entries")
    directions: list[Direction] = []
    for number, size in enumerate(x.shape[2:]):
        wanted = None if output_shape is None else output_shape[number]
        if output_shape is None and auto_pad.startswith("SAME"):
            wanted = None if size is None else size * window.strides[number]
            if size is None:
                raise ConversionError(f"the input is {x.shaped}, expected its spatial extents to be known")
        directions.append(_direction(window, number, size, more[number], wanted, auto_pad))
    return _with_bias(b, _transposed(b, x, w, directions, group), bias)


@dataclass(frozen=True)
class Direction:
    """One spatial dimension of a transposed convolution."""

    kernel: int
    stride: int
    dilation: int
    before: int
    """Elements that are cut off at the start of the full result."""
    extra: int
    """The result has `stride * (size - 1) + extra` elements."""

    @property
    def dense(self) -> int:
        """
        Taps per place and remainder: those of the kernel, with zeros in the gaps of the dilation where the stride is
        not 1.
        """
        reach = self.dilation * (self.kernel - 1) + 1
        return self.kernel if self.stride == 1 else -(-reach // self.stride)


def _direction(
    window: Window, number: int, size: int | None, more: int, wanted: int | None, auto_pad: str
) -> Direction:
    stride, reach, before = window.strides[number], window.reach(number), window.before[number]
    extra = more + reach - before - window.after[number]
    if wanted is not None:
        if size is None:
            raise ConversionError("output_shape is given, expected the spatial extents of the input to be known")
        total = max(stride * (size - 1) + more + reach - wanted, 0)
        before = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
        extra = wanted - stride * (size - 1)
    return Direction(window.kernel[number], stride, window.dilations[number], before, extra)


def _transposed(b: GraphBuilder, x: Value, w: Value, directions: list[Direction], groups: int) -> Value:
    """One convolution, with `prod(stride)` channels for each of the result, dealt out to places."""
    before: list[int] = []
    after: list[int] = []
    for each in directions:
        skipped = each.before // each.stride
        last = -(-(each.before + each.extra) // each.stride) - 1
        reach = (each.dense - 1) * (each.dilation if each.stride == 1 else 1)
        before.append(reach - skipped)
        after.append(last)
    window = Window(
        tuple(each.dense for each in directions),
        (1,) * len(directions),
        tuple(each.dilation if each.stride == 1 else 1 for each in directions),
        tuple(before),
        tuple(after),
    )
    kernel = _kernel(b, w, directions, groups)
    found = convolve(b, x, kernel, window, groups)
    return _dealt(b, found, directions, groups)


def _kernel(b: GraphBuilder, w: Value, directions: list[Direction], groups: int) -> Value:
    """
    The filter of the convolution, from `(C, O / groups, kernel…)` to `(O * prod(stride), C / groups, taps…)`:
    backwards, and tap t of the kernel is tap `t // stride` of remainder `t % stride`.

    The channels are `(remainders…, O)`, so that those of a place lie together where channels are last. Groups have
    theirs together instead: `(O, remainders…)`.
    """
    inputs, outputs = b.static_shape(w, "the filter")[:2]
    if groups < 1 or inputs % groups:
        raise ConversionError(f"{inputs} input channels do not divide into {groups} groups")
    shape = [groups, inputs // groups, outputs]
    for number, each in enumerate(directions):
        w = _dense(b, w, 2 + number, each)
        shape += [each.dense, each.stride]
    w = b.reshape(w, shape=tuple(shape))
    rank = len(directions)
    taps = tuple(3 + 2 * number for number in range(rank))
    backwards = tuple(-each.dense - 1 for each in directions)
    w = b.strided_slice(w, axes=taps, begin=(-1,) * rank, end=backwards, strides=(-1,) * rank)
    remainders = tuple(tap + 1 for tap in taps)
    w = b.permute_dims(w, axes=(0, *((*remainders, 2) if groups == 1 else (2, *remainders)), 1, *taps))
    channels = groups * outputs * prod(each.stride for each in directions)
    return b.reshape(w, shape=(channels, inputs // groups, *(each.dense for each in directions)))


def _dense(b: GraphBuilder, w: Value, axis: int, each: Direction) -> Value:
    """The filter with `taps * stride` taps in a dimension."""
    if each.stride == 1:
        return w
    shape = list(b.static_shape(w, "the filter"))
    if each.dilation > 1:
        wide = b.expand_dims(w, axis=(axis + 1,))
        wide = b.pad(wide, pad_width=(*(0,) * (2 * axis + 3), each.dilation - 1, *(0,) * (2 * (w.rank - axis - 1))))
        shape[axis] *= each.dilation
        w = b.reshape(wide, shape=tuple(shape))
        shape[axis] = each.dilation * (each.kernel - 1) + 1
        w = b.strided_slice(w, axes=(axis,), begin=(0,), end=(shape[axis],))
    missing = each.dense * each.stride - shape[axis]
    widths = [0] * (2 * w.rank)
    widths[2 * axis + 1] = missing
    return b.pad(w, pad_width=tuple(widths)) if missing else w


def _dealt(b: GraphBuilder, x: Value, directions: list[Direction], groups: int) -> Value:
    """
    Channels and remainders, in the order of `_kernel`, and places q become places `q * stride + remainder`, without
    what is cut off at both ends.
    """
    strides = tuple(each.stride for each in directions)
    rank = len(directions)
    if prod(strides) > 1:
        batch, channels, *extents = extents_of(x)
        channels = combined("divide", channels, prod(strides))
        places = [product(pair) for pair in zip(extents, strides, strict=True)]
        if groups == 1:
            x = b.permute_dims(x, axes=(0, *range(2, 2 + rank), 1))
            x = reshaped(b, x, [batch, *extents, *strides, channels])
            order = [axis for number in range(rank) for axis in (1 + number, 1 + rank + number)]
            x = b.permute_dims(x, axes=(0, *order, 1 + 2 * rank))
            x = reshaped(b, x, [batch, *places, channels])
            x = b.permute_dims(x, axes=(0, 1 + rank, *range(1, 1 + rank)))
        else:
            x = reshaped(b, x, [batch, channels, *strides, *extents])
            order = [axis for number in range(rank) for axis in (2 + rank + number, 2 + number)]
            x = b.permute_dims(x, axes=(0, 1, *order))
            x = reshaped(b, x, [batch, channels, *places])
    first = [0, 0, *(-(each.before % each.stride) for each in directions)]
    last = [0, 0, *(-(-(each.before + each.extra) % each.stride) for each in directions)]
    return pad_constant(b, x, first, last, 0)
