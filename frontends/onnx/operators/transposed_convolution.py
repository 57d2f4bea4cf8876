"""
Transposed convolutions of any number of spatial dimensions, on convolutions.

`y[o, p] = sum over c, i, t with p + before = i * stride + t * dilation of x[c, i] * w[c, o, t]`

The places p of one remainder by the stride are a convolution of the input, with those taps that meet them. Remainders
that take as many taps of the same elements are one convolution with a channel for each. The channels are then dealt
out to places.
"""

from __future__ import annotations

from itertools import product as combinations
from math import gcd, prod

from ....dialects.graph.base import plain_properties
from ....dialects.graph.quantisation import DequantizeOp
from ....dialects.graph.signature import shaped_of
from ....lazy_dataclass import dataclass
from ..emitting.forms import reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of, product
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .convolution import Ints, convolve, with_bias
from .movement import pad_constant
from .windows import Window, window_of

LANES = 16
"""Channels that are computed together. Fewer take as long, and their places are dealt out with channels first."""


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
    """Adds the filter, times each element of the images, to a larger image."""
    rank = x.rank - 2
    plain = None if auto_pad.startswith("SAME") or output_shape is not None else pads
    shown = "NOTSET" if auto_pad.startswith("SAME") else auto_pad
    window = window_of(x, w.shape[2:], shown, dilations, kernel_shape, plain, strides)
    more = output_padding or (0,) * rank
    if len(more) != rank or (output_shape is not None and len(output_shape) != rank):
        raise ConversionError(f"output_padding or output_shape do not have {rank} entries")
    limits = [max(pair) for pair in zip(window.strides, window.dilations, strict=True)]
    if any(not 0 <= padding < limit for padding, limit in zip(more, limits, strict=True)):
        raise ConversionError(
            f"output_padding is {list(more)}, expected less than {limits}, the greater of stride and dilation"
        )
    directions: list[Direction] = []
    for number, size in enumerate(x.shape[2:]):
        wanted = None if output_shape is None else output_shape[number]
        if output_shape is None and auto_pad.startswith("SAME"):
            wanted = None if size is None else size * window.strides[number]
            if size is None:
                raise ConversionError(f"the input is {x.shaped}, expected its spatial extents to be known")
        directions.append(_direction(window, number, size, more[number], wanted, auto_pad))
    return _transposed(b, x, w, bias, directions, group)


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


@dataclass(frozen=True)
class Part:
    """Remainders in one spatial dimension that are one convolution, whose place q becomes `stride * q + remainder`."""

    count: int
    """The number of remainders, one after the other."""
    tap: int
    """The first tap of the first remainder. It lies before the kernel where only later remainders have it."""
    taps: int
    """Taps of each remainder. It is 0 where none meets such places."""
    step: int
    """The distance from a tap of the kernel to the next of the same remainder."""
    dilation: int
    """The distance from an element of the input to the one that the next tap meets."""
    low: int
    """The place q takes its first tap from element `q - low`, and later taps from those before."""
    shift: int = 0
    """Places before the first of the result, which are computed and cut off."""


def _parts(each: Direction) -> list[Part]:
    """Returns the remainders in order, with their own taps only. Neighbours are one part where their windows agree."""
    common = gcd(each.stride, each.dilation)
    found: list[Part] = []
    for remainder in range(each.stride):
        place = remainder + each.before
        taps = [tap for tap in range(each.kernel) if (each.dilation * tap - place) % each.stride == 0]
        first = taps[0] if taps else 0
        low = (each.dilation * first - place) // each.stride if taps else 0
        part = Part(1, first, len(taps), each.stride // common, each.dilation // common, low)
        last = found[-1] if found else part
        if found and (last.taps, last.low) == (len(taps), low) and (each.dilation == 1 or not taps):
            found[-1] = Part(last.count + 1, last.tap, last.taps, last.step, last.dilation, low)
        else:
            found.append(part)
    return found


def _whole(each: Direction) -> list[Part]:
    """
    Returns all remainders as one part, with zeros for taps that some do not have. The dilation is 1.

    The places begin with that of the first tap where there would be more taps else.
    """
    stride, shift = each.stride, 0
    fewest = -(-each.kernel // stride)
    while True:
        first = each.before - shift
        low = -((first + stride - 1) // stride)
        taps = (each.kernel - 1 - first) // stride - low + 1
        if taps == fewest:
            return [Part(stride, stride * low + first, taps, stride, 1, low, shift)]
        shift = each.before % stride


def _divided(b: GraphBuilder, x: Value, w: Value, directions: list[Direction], groups: int) -> list[list[Part]]:
    """
    Returns the parts of each direction.

    Exact ones have no zeros among their taps. All remainders are one part where they fill vectors so much better that
    this takes fewer products, and where that is a convolution of 3x3 taps of floats: Winograd's method computes it with
    fewer products still.
    """
    exact = [_parts(each) for each in directions]
    if any(each.stride > 1 and each.dilation > 1 for each in directions):
        return exact
    whole = [parts if each.stride == 1 else _whole(each) for parts, each in zip(exact, directions, strict=True)]
    outputs = b.static_shape(w, "the filter")[1]
    is_square = len(directions) == 2 and all(part.taps == 3 for (part,) in whole)
    is_fast = is_square and not _of_integers(b, x, w)
    # What several convolutions take besides products is an eighth at most.
    is_fuller = 9 * _products(whole, outputs) <= 8 * _products(exact, outputs)
    return whole if groups > 1 or is_fast or is_fuller else exact


def _products(parts: list[list[Part]], outputs: int) -> int:
    """Returns the products for an element of the input, in channels of full vectors."""
    return sum(
        -(-outputs * prod(part.count for part in chosen) // LANES) * prod(part.taps for part in chosen)
        for chosen in combinations(*parts)
    )


def _of_integers(b: GraphBuilder, x: Value, w: Value) -> bool:
    """Returns whether both stand for integers that can be multiplied as such: no input channel has its own scale."""
    image, kernel = b.ssa(x).owner, b.ssa(w).owner
    if not isinstance(image, DequantizeOp) or not isinstance(kernel, DequantizeOp):
        return False
    scale = shaped_of(kernel.operands[1].type, "the scale")
    return not scale.shape or plain_properties(kernel)["axis"] == 1


def _transposed(
    b: GraphBuilder, x: Value, w: Value, bias: Value | None, directions: list[Direction], groups: int
) -> Value:
    """A convolution for each combination of parts, dealt out to places."""
    inputs = b.static_shape(w, "the filter")[0]
    if groups < 1 or inputs % groups:
        raise ConversionError(f"{inputs} input channels do not divide into {groups} groups")
    parts = _divided(b, x, w, directions, groups)
    apart = groups > 1 or b.static_shape(w, "the filter")[1] < LANES
    # Before the channels are dealt out, the bias is added where they are computed. Places without taps have it too.
    later = bias if any(not part.taps for each in parts for part in each) else None
    found: dict[tuple[Part, ...], Value] = {}
    for chosen in combinations(*parts):
        if all(part.taps for part in chosen):
            y = convolve(b, x, _kernel(b, w, chosen, groups, apart), _window(chosen, directions), groups)
            y = y if later is not None else with_bias(b, y, _repeated(b, w, bias, chosen, groups, apart))
            found[chosen] = _remainders_apart(b, y, chosen, apart)
    return with_bias(b, _dealt(b, _joined(b, found, parts, (), apart), directions, parts, apart), later)


def _window(chosen: tuple[Part, ...], directions: list[Direction]) -> Window:
    """The window of one convolution, which meets as many places in each direction as the others."""
    last = [-(-(each.extra + part.shift) // each.stride) - 1 for part, each in zip(chosen, directions, strict=True)]
    return Window(
        tuple(part.taps for part in chosen),
        (1,) * len(chosen),
        tuple(part.dilation for part in chosen),
        tuple(part.low + (part.taps - 1) * part.dilation for part in chosen),
        tuple(place - part.low for part, place in zip(chosen, last, strict=True)),
    )


def _kernel(b: GraphBuilder, w: Value, chosen: tuple[Part, ...], groups: int, apart: bool) -> Value:
    """
    The filter of one convolution, from `(C, O / groups, kernel…)` to `(O * remainders, C / groups, taps…)`, backwards.

    The channels are `(remainders…, O)`, so that those of a place lie together where channels are last. Groups have
    theirs together instead: `(O, remainders…)`.
    """
    inputs, outputs = b.static_shape(w, "the filter")[:2]
    shape, rank = [groups, inputs // groups, outputs], len(chosen)
    for number, part in enumerate(chosen):
        w = _taps(b, w, 2 + number, part)
        shape += [part.taps, 1 if part.count == 1 else part.step]
    w = b.reshape(w, shape=tuple(shape))
    taps = tuple(3 + 2 * number for number in range(rank))
    remainders = tuple(tap + 1 for tap in taps)
    backwards = tuple(-part.taps - 1 for part in chosen)
    w = b.strided_slice(w, axes=taps, begin=(-1,) * rank, end=backwards, strides=(-1,) * rank)
    if any(part.count != step for part, step in zip(chosen, shape[4::2], strict=True)):
        w = b.strided_slice(w, axes=remainders, begin=(0,) * rank, end=tuple(part.count for part in chosen))
    w = b.permute_dims(w, axes=(0, *((*remainders, 2) if not apart else (2, *remainders)), 1, *taps))
    channels = groups * outputs * prod(part.count for part in chosen)
    return b.reshape(w, shape=(channels, inputs // groups, *(part.taps for part in chosen)))


def _taps(b: GraphBuilder, w: Value, axis: int, part: Part) -> Value:
    """The taps of a part, `taps * step` of them in a dimension where it has several remainders, with zeros around."""
    size = b.static_shape(w, "the filter")[axis]
    if part.count == 1:
        end = part.tap + (part.taps - 1) * part.step + 1
        return b.strided_slice(w, axes=(axis,), begin=(part.tap,), end=(end,), strides=(part.step,))
    return _widened(b, w, axis, -part.tap, part.tap + part.taps * part.step - size)


def _repeated(
    b: GraphBuilder, w: Value, bias: Value | None, chosen: tuple[Part, ...], groups: int, apart: bool
) -> Value | None:
    """The bias of each channel of a convolution, in the order of `_kernel`."""
    count = prod(part.count for part in chosen)
    if bias is None or count == 1:
        return bias
    channels = groups * b.static_shape(w, "the filter")[1]
    rows, shape = ((1, -1), (count, channels)) if not apart else ((-1, 1), (channels, count))
    return b.reshape(b.broadcast_to(b.reshape(bias, shape=rows), shape=shape), shape=(channels * count,))


def _remainders_apart(b: GraphBuilder, x: Value, chosen: tuple[Part, ...], apart: bool) -> Value:
    """From `(N, channels, Q…)` to `(N, Q…, remainders…, O)`, or with groups to `(N, O, remainders…, Q…)`."""
    counts, rank = tuple(part.count for part in chosen), len(chosen)
    batch, channels, *extents = extents_of(x)
    if not isinstance(channels, int):
        raise ConversionError("the channels of the filter are not known")
    if apart:
        return reshaped(b, x, [batch, channels // prod(counts), *counts, *extents])
    x = b.permute_dims(x, axes=(0, *range(2, 2 + rank), 1))
    return reshaped(b, x, [batch, *extents, *counts, channels // prod(counts)])


def _joined(
    b: GraphBuilder,
    found: dict[tuple[Part, ...], Value],
    parts: list[list[Part]],
    chosen: tuple[Part, ...],
    apart: bool,
) -> Value:
    """The convolutions with all remainders of the directions after the `chosen` parts. Those without taps are 0."""
    number = len(chosen)
    if number == len(parts):
        return found[chosen]
    axis = number + (1 + len(parts) if not apart else 2)
    joined: list[Value] = []
    missing = 0
    for part in parts[number]:
        if part.taps:
            next_ = _joined(b, found, parts, (*chosen, part), apart)
            joined.append(_widened(b, next_, axis, missing, 0))
            missing = 0
        else:
            missing += part.count
    joined[-1] = _widened(b, joined[-1], axis, 0, missing)
    return joined[0] if len(joined) == 1 else b.concat(*joined, axis=axis)


def _widened(b: GraphBuilder, x: Value, axis: int, before: int, after: int) -> Value:
    """Puts zeros around an axis. Negative numbers cut."""
    first, last = [0] * x.rank, [0] * x.rank
    first[axis], last[axis] = before, after
    return pad_constant(b, x, first, last, 0)


def _dealt(b: GraphBuilder, x: Value, directions: list[Direction], parts: list[list[Part]], apart: bool) -> Value:
    """Places q of all remainders become places `q * stride + remainder`, without what is cut off at both ends."""
    strides, rank = tuple(each.stride for each in directions), len(directions)
    if not apart:
        batch, *rest = extents_of(x)
        extents, channels = rest[:rank], rest[-1]
        order = [axis for number in range(rank) for axis in (1 + number, 1 + rank + number)]
        x = b.permute_dims(x, axes=(0, *order, 1 + 2 * rank))
        x = reshaped(b, x, [batch, *(product(pair) for pair in zip(extents, strides, strict=True)), channels])
        x = b.permute_dims(x, axes=(0, 1 + rank, *range(1, 1 + rank)))
    else:
        batch, channels, *rest = extents_of(x)
        order = [axis for number in range(rank) for axis in (2 + rank + number, 2 + number)]
        x = b.permute_dims(x, axes=(0, 1, *order))
        places = [product(pair) for pair in zip(rest[rank:], strides, strict=True)]
        x = reshaped(b, x, [batch, channels, *places])
    shifts = [each[0].shift for each in parts]
    first = [0, 0, *(-shift for shift in shifts)]
    last = [0, 0, *(-(-(each.extra + shift) % each.stride) for each, shift in zip(directions, shifts, strict=True))]
    return pad_constant(b, x, first, last, 0)
