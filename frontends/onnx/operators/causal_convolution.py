"""
Convolutions that go on from call to call: CausalConvWithState of the set `com.microsoft`.

Source: the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from math import prod
from typing import Final

from ....dialects.graph.shapes import Shape, compatible, text
from ....lazy_dataclass import dataclass
from ..emitting.forms import filled, reshaped, sliced
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import Extent, combined, extents_of
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .quantized_fusions import DOMAIN
from .signed_bytes import cast
from .widening import rounded_once

FLOATS: Final = ("f32", "f16", "bf16")
ACTIVATIONS: Final = ("none", "silu", "swish")
LARGEST_WINDOW: Final = 8
"""The most states of earlier places that a call keeps."""


@converter("CausalConvWithState", domain=DOMAIN)
def causal_conv_with_state(
    b: GraphBuilder,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    past_state: Value | None = None,
    *,
    ndim: int = 1,
    activation: str = "none",
    dilation: int = 1,
    channels_last: int = 0,
    state_window: int = 0,
    state_length: int = 0,
    state_channels_last: int = -1,
    state_update_capacity: int = 0,
    input_channels: int = 0,
    input_channel_offset: int = 0,
) -> tuple[Value, Value]:
    """
    Convolves each channel with a filter of its own, which ends at the place of the result, and returns the last places.

    These stand before the input of the next call. With `state_window` there are those after each of the last places.
    """
    beyond = {
        "state_length": state_length,
        "state_channels_last": state_channels_last + 1,
        "state_update_capacity": state_update_capacity,
        "input_channels": input_channels,
        "input_channel_offset": input_channel_offset,
    }
    if other := [name for name, value in beyond.items() if value]:
        raise ConversionError(f"{other[0]} is set, which onnxruntime has on GPUs only; expected its default")
    if ndim != 1:
        raise ConversionError(f"ndim is {ndim}, expected 1")
    check_choice("activation", activation, ACTIVATIONS)
    if dilation < 1:
        raise ConversionError(f"dilation is {dilation}, expected 1 or more")
    check_state_window(state_window)
    places = 1 if channels_last else 2
    channels = _check_input(x, bool(channels_last))
    taps = _check_weights(x, weight, bias, channels)
    length, kept = extents_of(x)[places], (taps - 1) * dilation
    shape = (*x.shape[:places], kept, *x.shape[places + 1 :])
    past = last_of_window(b, past_state, "past_state", shape, x.dtype, state_window)
    joined = _joined(b, past, x, places, kept)
    window = Window(joined, places, length, dilation)
    result = _convolved(b, window, weight, bias, activation != "none")
    states = [_part(b, joined, places, length, kept)]
    if state_window:
        rows = b.extent(x, places, "the input")
        number = range(rows - state_window + 1, rows + 1)
        zeros = filled(b, extents_of(states[0]), 0.0, x.dtype)
        states = [_part(b, joined, places, each, kept) if each > 0 else zeros for each in number]
    return result, stacked_window(b, states, state_window)


@dataclass(frozen=True)
class Window:
    """What a filter moves over: the places before the input, and the input."""

    joined: Value
    axis: int
    length: Extent
    """The number of places of the input."""
    dilation: int


def check_choice(what: str, found: str, allowed: tuple[str, ...]) -> None:
    """Raises `ConversionError` unless an attribute has one of these values."""
    if found not in allowed:
        raise ConversionError(f"{what} is '{found}', expected {', '.join(allowed)}")


def check_state_window(window: int) -> None:
    """Raises `ConversionError` for a number of states that is too large."""
    if not 0 <= window <= LARGEST_WINDOW:
        raise ConversionError(f"state_window is {window}, expected 0 to {LARGEST_WINDOW}")


def check_like(what: str, value: Value | None, shape: Shape, dtype: str) -> None:
    """Raises `ConversionError` unless an operand has this shape and element type."""
    if value is not None and (value.dtype != dtype or not compatible(value.shape, shape)):
        raise ConversionError(f"{what} is {value.shaped}, expected {text(shape)} and elements of {dtype}")


def last_of_window(
    b: GraphBuilder, past: Value | None, what: str, shape: Shape, dtype: str, window: int
) -> Value | None:
    """Returns the last state of those that a call is given, of which each has `shape`."""
    check_like(what, past, (window, *shape) if window else shape, dtype)
    if past is None or not window:
        return past
    return b.squeeze(b.strided_slice(past, axes=(0,), begin=(window - 1,), end=(window,)), axis=(0,))


def stacked_window(b: GraphBuilder, states: list[Value], window: int) -> Value:
    """Returns the states that a call gives, along a new first dimension if there is a window."""
    if not window:
        return states[-1]
    raised = [b.expand_dims(each, axis=(0,)) for each in states]
    return raised[0] if window == 1 else b.concat(*raised, axis=0)


def _check_input(x: Value, channels_last: bool) -> int | None:
    """Returns the number of channels, `None` where it is not known."""
    if x.dtype not in FLOATS or (x.rank < 3 if channels_last else x.rank != 3):
        layout = "batch x length x channels" if channels_last else "batch x channels x length"
        raise ConversionError(f"the input is {x.shaped}, expected {layout} and elements of {', '.join(FLOATS)}")
    extents = x.shape[2:] if channels_last else x.shape[1:2]
    return None if None in extents else prod(each or 0 for each in extents)


def _check_weights(x: Value, weight: Value, bias: Value | None, channels: int | None) -> int:
    """Returns the number of taps."""
    taps = weight.shape[2] if weight.rank == 3 else None
    if taps is None or taps < 1:
        raise ConversionError(f"the weight is {weight.shaped}, expected {text((channels,))}x1 and the taps")
    check_like("the weight", weight, (channels, 1, taps), x.dtype)
    check_like("the bias", bias, (channels,), x.dtype)
    return taps


def _joined(b: GraphBuilder, past: Value | None, x: Value, axis: int, kept: int) -> Value:
    """Returns the input behind the places before it, which are 0 where they are not given."""
    if not kept:
        return x
    if past is None:
        extents = extents_of(x)
        past = filled(b, (*extents[:axis], kept, *extents[axis + 1 :]), 0.0, x.dtype)
    return b.concat(past, x, axis=axis)


def _part(b: GraphBuilder, x: Value, axis: int, begin: Extent, length: Extent) -> Value:
    return sliced(b, x, [axis], [begin], [combined("add", begin, length)], [1])


def _convolved(b: GraphBuilder, window: Window, weight: Value, bias: Value | None, activated: bool) -> Value:
    """
    Returns the sum of a product for each tap. There are few of them, and a step has one place: so products that are
    fused are faster than a convolution.
    """

    @rounded_once
    def sum_of_taps(b: GraphBuilder, joined: Value, weight: Value, bias: Value | None) -> Value:
        total = None if bias is None else _by_channel(b, window, bias)
        for tap in range(weight.shape[2] or 0):
            factor = _by_channel(b, window, b.strided_slice(weight, axes=(2,), begin=(tap,), end=(tap + 1,)))
            part = _part(b, joined, window.axis, tap * window.dilation, window.length)
            product = b.multiply(part, factor)
            total = product if total is None else b.add(total, product)
        assert total is not None
        return b.silu(total) if activated else total

    return cast(b, sum_of_taps(b, window.joined, weight, bias), window.joined.dtype)


def _by_channel(b: GraphBuilder, window: Window, value: Value) -> Value:
    """Returns a number for each channel in the shape that goes with the input."""
    extents = extents_of(window.joined)
    return reshaped(b, value, extents[2:] if window.axis == 1 else (extents[1], 1))
