"""Convolutions of any number of spatial dimensions, on two-dimensional convolutions of the graph dialect."""

from __future__ import annotations

from ..emitting.forms import reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import Size, extents_of, product
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
    return with_bias(b, convolve(b, x, w, window, group), bias)


def _needs_sizes(x: Value, w: Value, strides: Ints) -> bool:
    """
    Returns whether padding that keeps the extents depends on some that are not known. With strides of 1 it does not.
    """
    unknown = x.rank == w.rank and None not in w.shape and None in x.shape[2:]
    return unknown and strides is not None and len(strides) == x.rank - 2 and max(strides) > 1


def with_bias(b: GraphBuilder, x: Value, bias: Value | None) -> Value:
    """Adds a number to each channel."""
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
