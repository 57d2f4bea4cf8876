"""The layers of a program: products and convolutions, the operand that flows through them, and their weights."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from xdsl.dialects import func
from xdsl.dialects.builtin import Float32Type, ModuleOp, TensorType
from xdsl.ir import SSAValue

from ...core.messages.diagnostics import fail
from ...dialects.graph.base import plain_properties
from ...dialects.graph.contraction import Conv2dOp, MatmulOp
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import functions_of
from ..calibration.names import value_names

KINDS: Final = {"graph.matmul": "matmul", "graph.conv2d": "conv2d"}
"""Ops that are layers, and what options call them."""


@dataclass(frozen=True, eq=False)
class Layer:
    """A product or convolution of floats in the entry. `name` is that of its result."""

    name: str
    op: MatmulOp | Conv2dOp

    @property
    def kind(self) -> str:
        """What options call its op."""
        return KINDS[self.op.name]

    def output_axis(self, operand: int) -> int | None:
        """
        Returns the axis of operand 0 or 1 along which there may be a scale each: that of output channels or columns.

        It is `None` for the operand that has one scale.
        """
        if operand == 0:
            return None
        if isinstance(self.op, Conv2dOp):
            return plain_properties(self.op)["kernel_layout"].index("O")
        rank = len(shape_of(self.op.operands[1]))
        return rank - 1 if rank == 2 else None


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """Returns the sizes of a tensor, -1 for one that is not known."""
    assert isinstance(value.type, TensorType)
    return value.type.get_shape()


def entry_of(module: ModuleOp, name: str) -> func.FuncOp:
    """Returns the function `@name`, of one block. Raises an error where there is none."""
    found = next((each for each in functions_of(module) if each.sym_name.data == name), None)
    if found is None or len(found.body.blocks) != 1:
        fail(module, f"there is no func.func @{name} of one block, whose layers could be quantised")
    return found


def layers_of(function: func.FuncOp) -> list[Layer]:
    """Returns the layers of an entry in the order of the program. Those in regions and other functions are left out."""
    names = value_names(function)
    ops = [op for op in function.body.block.ops if isinstance(op, MatmulOp | Conv2dOp)]
    return [Layer(names[op.results[0]], op) for op in ops if all(map(_is_f32, (*op.operands, *op.results)))]


def _is_f32(value: SSAValue) -> bool:
    type_ = value.type
    return isinstance(type_, TensorType) and isinstance(type_.element_type, Float32Type) and bool(type_.get_shape())


def is_kept(layer: Layer, keep: Sequence[str], keep_kinds: Sequence[str]) -> bool:
    """Returns whether a layer stays in floats: a pattern of `keep` has its name, or `keep_kinds` its op."""
    return layer.kind in keep_kinds or any(fnmatchcase(layer.name, pattern.removeprefix("%")) for pattern in keep)
