"""A program that is told, as it runs, which of its layers are quantised: to try many choices without compiling each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, TensorType, i1
from xdsl.ir import SSAValue

from ...core.roles import SIGNATURE
from ...dialects.graph.comparison import WhereOp
from ...dialects.graph.movement import ReshapeOp, StridedSliceOp
from ...lazy_dataclass import dataclass
from .emitting import Place
from .layers import Layer

NAME = "quantised"
"""The name of the argument."""


@dataclass
class Switches:
    """Chooses by the element of the last argument, a `tensor<Nxi1>`, that has the number of the layer."""

    entry: func.FuncOp
    layers: Sequence[Layer]
    _conditions: dict[Layer, SSAValue] = field(default_factory=dict)

    def add(self) -> None:
        """Gives the entry the argument."""
        argument_type = TensorType(i1, [len(self.layers)])
        block = self.entry.body.block
        argument = block.insert_arg(argument_type, len(block.args))
        argument.name_hint = NAME
        for place in (self.entry.properties, self.entry.attributes):
            for name in ("function_type", SIGNATURE):
                known = place.get(name)
                if isinstance(known, FunctionType):
                    place[name] = FunctionType.from_lists([*known.inputs.data, argument_type], list(known.outputs.data))
        self.entry.properties.pop("arg_attrs", None)
        start = Place.after(argument, self.entry)
        for number, layer in enumerate(self.layers):
            slice_ = start.put(StridedSliceOp(argument, axes=[0], begin=[number], end=[number + 1]))
            self._conditions[layer] = start.put(ReshapeOp(slice_, shape=[]))

    def __call__(self, layer: Layer, quantized: SSAValue, real: SSAValue, place: Place) -> SSAValue:
        """Returns `quantized` where the layer is quantised, and `real` elsewhere."""
        return place.put(WhereOp(self._conditions[layer], quantized, real))
