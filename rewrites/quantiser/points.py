"""The values that are quantised for the layers of a program, and those whose statistics the quantiser wants."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import SSAValue

from ...dialects.graph.base import plain_properties
from ...dialects.graph.contraction import Conv2dOp
from ...lazy_dataclass import dataclass
from .constants import Constants
from .layers import Layer, shape_of, source_of


def channel_axis(layer: Layer) -> int:
    """Returns the axis of the first operand over which the layer sums up."""
    if isinstance(layer.op, Conv2dOp):
        return plain_properties(layer.op)["data_layout"].index("C")
    return len(shape_of(layer.op.operands[0])) - 1


@dataclass(frozen=True, eq=False)
class Recorded:
    """A value whose statistics the quantiser wants, and the axis whose means it wants too."""

    value: SSAValue
    channel_axis: int | None


def recorded_values(layers: Iterable[Layer], constants: Constants) -> list[Recorded]:
    """Returns what layers read, and the values that are to be quantised for that. Each comes once."""
    axes: dict[SSAValue, int | None] = {}
    for layer in layers:
        for number, operand in enumerate(layer.op.operands[:2]):
            if constants.array(operand) is not None:
                continue
            axes.setdefault(source_of(operand), None)
            axes.setdefault(operand, None)
            if number == 0 and axes[operand] is None:
                axes[operand] = channel_axis(layer)
    return [Recorded(value, axis) for value, axis in axes.items()]
