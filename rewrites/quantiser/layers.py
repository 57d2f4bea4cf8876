"""The layers of a program: products and convolutions, the operand that flows through them, and their weights."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from xdsl.dialects import func
from xdsl.dialects.builtin import Float32Type, ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from ...core.ir.model_names import value_name
from ...core.ir.walk import walk
from ...core.messages.diagnostics import fail
from ...core.messages.origins import first_origin
from ...dialects.graph.base import plain_properties
from ...dialects.graph.contraction import Conv2dOp, MatmulOp
from ...dialects.graph.quantisation import DequantizeOp
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import functions_of
from ..calibration.names import value_names
from .constants import Constants

KINDS: Final = {"graph.matmul": "matmul", "graph.conv2d": "conv2d"}
"""Ops that are layers, and what options call them."""

MOVES: Final = (
    "graph.permute_dims",
    "graph.reshape",
    "graph.expand_dims",
    "graph.squeeze",
    "graph.max_pool2d",
)
"""Ops whose result has elements of their operand only, so that it is quantised before them: bytes are moved then."""


@dataclass(frozen=True, eq=False)
class Layer:
    """A product or convolution of floats in the entry. `name` is that of its result."""

    name: str
    op: MatmulOp | Conv2dOp

    @property
    def kind(self) -> str:
        """What options call its op."""
        return KINDS[self.op.name]

    @property
    def node(self) -> str:
        """The name of the node of a model that it comes from, empty where there is none."""
        origin = first_origin(self.op.location)
        return "" if origin is None else origin.name

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


def count_elsewhere(module: ModuleOp, entry: str) -> int:
    """Returns the number of products and convolutions of floats in regions and in functions beside an entry."""
    block = entry_of(module, entry).body.block
    ops = (op for op in walk(module) if isinstance(op, MatmulOp | Conv2dOp) and op.parent is not block)
    return sum(all(map(_is_f32, (*op.operands, *op.results))) for op in ops)


def float_layers(function: func.FuncOp, constants: Constants) -> list[Layer]:
    """Returns the layers that read no value which was quantised before. Constants that were count as floats."""
    return [layer for layer in layers_of(function) if not any(_is_quantised(each, constants) for each in _read(layer))]


def _read(layer: Layer) -> list[SSAValue]:
    return [source_of(operand) for operand in layer.op.operands[:2]]


def _is_quantised(value: SSAValue, constants: Constants) -> bool:
    return isinstance(value.owner, DequantizeOp) and constants.array(value.owner.operands[0]) is None


def source_of(value: SSAValue) -> SSAValue:
    """Returns the value before the moves that make `value` of it."""
    while isinstance(value.owner, Operation) and value.owner.name in MOVES:
        value = value.owner.operands[0]
    return value


def _is_f32(value: SSAValue) -> bool:
    type_ = value.type
    return isinstance(type_, TensorType) and isinstance(type_.element_type, Float32Type) and bool(type_.get_shape())


def is_kept(layer: Layer, keep: Sequence[str], keep_kinds: Sequence[str]) -> bool:
    """
    Returns whether a layer stays in floats: `keep_kinds` has its kind, or a pattern of `keep` its name.

    That is the one in the program, or that of the node or of the value in a model.
    """
    if layer.kind in keep_kinds:
        return True
    names = layer.name, layer.node, layer.name.removesuffix(f".{layer.kind}")
    patterns = [pattern.removeprefix("%") for pattern in keep]
    plain = [pattern for pattern in patterns if not set("*?[") & set(pattern)]
    patterns += [known for pattern in plain if (known := value_name(pattern)) is not None]
    return any(fnmatchcase(name, pattern) for name in names if name for pattern in patterns)
