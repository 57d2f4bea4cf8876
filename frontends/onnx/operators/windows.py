"""The windows of convolutions and pooling: kernel, strides, dilations, padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....lazy_dataclass import dataclass
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import Extent, combined, extents_of, vector
from ..errors import ConversionError
from ..value import Value


@dataclass(frozen=True)
class Window:
    """A window, with one number per spatial dimension in each field. `before` and `after` are elements of padding."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]

    def reach(self, number: int) -> int:
        """Returns the number of elements from the first to the last of the window in a dimension, both included."""
        return self.dilations[number] * (self.kernel[number] - 1) + 1

    def count(self, number: int, size: int) -> int:
        """Returns the number of windows in a dimension of `size` elements."""
        padded = size + self.before[number] + self.after[number]
        return (padded - self.reach(number)) // self.strides[number] + 1

    def part(self, first: int, last: int) -> Window:
        """The window in some of the dimensions."""
        fields = (self.kernel, self.strides, self.dilations, self.before, self.after)
        return Window(*(field[first:last] for field in fields))

    def bare(self) -> Window:
        """The window without padding."""
        nothing = (0,) * len(self.kernel)
        return Window(self.kernel, self.strides, self.dilations, nothing, nothing)

    def flat_in(self, number: int) -> Window:
        """The window with one element, without strides and padding, in a dimension."""

        def with_(values: tuple[int, ...], value: int) -> tuple[int, ...]:
            return (*values[:number], value, *values[number + 1 :])

        return Window(
            with_(self.kernel, 1),
            with_(self.strides, 1),
            with_(self.dilations, 1),
            with_(self.before, 0),
            with_(self.after, 0),
        )

    def tall(self) -> Window:
        """The window of a 1-D operator on images of width 1."""
        return Window((*self.kernel, 1), (*self.strides, 1), (*self.dilations, 1), (*self.before, 0), (*self.after, 0))

    def flat(self) -> Window:
        """The window of a 1-D operator on images of height 1."""
        return Window((1, *self.kernel), (1, *self.strides), (1, *self.dilations), (0, *self.before), (0, *self.after))


def window_of(
    x: Value,
    kernel: Sequence[Any],
    auto_pad: str,
    dilations: tuple[int, ...] | None,
    kernel_shape: tuple[int, ...] | None,
    pads: tuple[int, ...] | None,
    strides: tuple[int, ...] | None,
) -> Window:
    """
    Returns the window that the attributes of a node describe, with `kernel` where `kernel_shape` is absent.

    Raises `ConversionError`.
    """
    extents = tuple(kernel if kernel_shape is None else kernel_shape)
    rank = x.rank - 2
    if len(extents) != rank or None in extents:
        raise ConversionError(f"the kernel has the extents {list(extents)}, expected {rank} known ones")
    if kernel_shape is not None and kernel and tuple(kernel) != tuple(kernel_shape):
        raise ConversionError(f"kernel_shape is {list(kernel_shape)}, but the filter has {list(kernel)}")
    steps, reach = strides or (1,) * rank, dilations or (1,) * rank
    if len(steps) != rank or len(reach) != rank:
        raise ConversionError(f"strides are {list(steps)} and dilations {list(reach)}, expected {rank} each")
    match auto_pad:
        case "NOTSET" | "":
            widths = pads or (0,) * (2 * rank)
            if len(widths) != 2 * rank:
                raise ConversionError(f"pads are {list(widths)}, expected {2 * rank}")
            before, after = widths[:rank], widths[rank:]
        case "VALID":
            before = after = (0,) * rank
        case "SAME_UPPER" | "SAME_LOWER":
            before, after = _same(x, extents, steps, reach, auto_pad == "SAME_LOWER")
        case _:
            raise ConversionError(f"auto_pad is '{auto_pad}', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID")
    return Window(extents, tuple(steps), tuple(reach), tuple(before), tuple(after))


def _same(
    x: Value, kernel: tuple[int, ...], strides: Sequence[int], dilations: Sequence[int], lower: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the padding with which each extent of the result is that of the input over the stride, rounded up."""
    before: list[int] = []
    after: list[int] = []
    for size, extent, stride, dilation in zip(x.shape[2:], kernel, strides, dilations, strict=True):
        reach = dilation * (extent - 1) + 1
        if stride == 1:
            total = reach - 1
        elif size is None:
            raise ConversionError(f"the input is {x.shaped}, expected its spatial extents to be known")
        else:
            total = max((-(-size // stride) - 1) * stride + reach - size, 0)
        small, large = total // 2, total - total // 2
        before.append(large if lower else small)
        after.append(small if lower else large)
    return tuple(before), tuple(after)


def padded_alike(
    b: GraphBuilder,
    x: Value,
    kernel: Sequence[int],
    strides: Sequence[int] | None,
    dilations: Sequence[int] | None,
    lower: bool,
) -> Value:
    """`x` with the zeros around it that `SAME_UPPER` (`SAME_LOWER`) asks for, also where extents are not known."""
    pairs: list[Extent] = [0] * 4
    rank = x.rank - 2
    steps, reaches = strides or (1,) * rank, dilations or (1,) * rank
    for size, extent, stride, dilation in zip(extents_of(x)[2:], kernel, steps, reaches, strict=True):
        windows = combined("divide", combined("add", size, stride - 1), stride)
        covered = combined(
            "add", combined("multiply", combined("subtract", windows, 1), stride), dilation * (extent - 1) + 1
        )
        total = combined("maximum", combined("subtract", covered, size), 0)
        small = combined("divide", total, 2)
        large = combined("subtract", total, small)
        pairs += [large, small] if lower else [small, large]
    return b.dynamic_pad(x, vector(b, pairs), value=0)
