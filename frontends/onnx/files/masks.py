"""
Assignments by a mask, `x[mask] = c`, as exporters of PyTorch write them.

They are a `ScatterND` of `Expand(c)` to the places that `NonZero(mask)` finds. How many these are is known at run time
only, but the shape of the result is that of `x`. So `Where(mask, c, x)` takes the place of these nodes.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

from .model import Model
from .order import uses

if TYPE_CHECKING:
    from onnx import NodeProto

UNARY: Final = frozenset(("Not", "IsNaN", "IsInf", "Cast", "Identity", "Abs", "Neg"))
"""Operators whose result has the shape of their input."""

BINARY: Final = frozenset(("And", "Or", "Xor", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"))
"""Operators whose result has the shape that their inputs are broadcast to."""

BOOL: Final = 9
"""`TensorProto.BOOL`."""

DEPTH: Final = 16
"""The most nodes between a mask and the tensor whose shape it has."""


def assignments_by_masks(model: Model) -> None:
    """Replaces the assignments of one number by a mask of the whole tensor."""
    if not any(node.op_type == "NonZero" for node in model.graph.node):
        return
    from onnx.helper import make_node

    finder = _Finder(model)
    nodes: list[NodeProto] = []
    replaced = False
    for node in model.graph.node:
        if node.op_type == "ScatterND" and not node.domain and (found := finder.assigned(node)) is not None:
            mask, number = found
            chosen = f"{node.output[0]}.mask"
            nodes.append(make_node("Cast", [mask], [chosen], node.name, to=BOOL))  # NonZero takes any numbers.
            del node.attribute[:]
            node.op_type = "Where"
            node.input[:] = [chosen, number, node.input[0]]
            replaced = True
        nodes.append(node)
    if replaced:
        _keep(model, nodes)


class _Finder:
    """Looks for what nodes are computed from."""

    def __init__(self, model: Model):
        self._maker = {name: node for node in model.graph.node for name in node.output if name}
        shapes = {each.name: tuple(each.dims) for each in model.initialisers}
        for node in model.graph.node:
            if node.op_type == "Constant" and (value := _attribute(node, "value", None)) is not None:
                shapes[node.output[0]] = tuple(value.dims)
        self._sizes = {name: prod(shape) for name, shape in shapes.items()}
        self._ranks = {name: len(shape) for name, shape in shapes.items()}

    def assigned(self, scatter: NodeProto) -> tuple[str, str] | None:
        """Returns the mask and the number of an assignment, None for any other `ScatterND`."""
        if len(scatter.input) != 3 or _attribute(scatter, "reduction", b"none") != b"none":
            return None
        data, indices, updates = scatter.input
        transpose = self._made(indices, "Transpose")
        if transpose is None or list(_attribute(transpose, "perm", [1, 0])) != [1, 0]:
            return None
        places = self._made(transpose.input[0], "NonZero")
        number = self._repeated(updates)
        if places is None or number is None or not self._has_shape_of(places.input[0], data, DEPTH):
            return None
        return places.input[0], number

    def _made(self, name: str, operator: str) -> NodeProto | None:
        node = self._maker.get(name)
        return node if node is not None and node.op_type == operator and not node.domain else None

    def _repeated(self, updates: str) -> str | None:
        """Returns the constant of one element that a vector repeats, None for another tensor."""
        is_vector = False
        if (reshape := self._made(updates, "Reshape")) is not None:
            if self._sizes.get(reshape.input[1]) != 1:
                return None
            is_vector, updates = True, reshape.input[0]
        expand = self._made(updates, "Expand")
        if expand is None:
            return None
        number, shape = expand.input
        if self._sizes.get(number) != 1 or self._ranks[number] > 1:
            return None
        count = self._made(shape, "ReduceSum")
        is_vector |= count is not None and _attribute(count, "keepdims", 1) == 1 and self._is_flat(count.input[0])
        return number if is_vector else None

    def _is_flat(self, name: str) -> bool:
        """Returns whether a tensor has one axis, as it is made by a `Reshape` to one."""
        while (cast := self._made(name, "Cast")) is not None:
            name = cast.input[0]
        reshape = self._made(name, "Reshape")
        return reshape is not None and self._sizes.get(reshape.input[1]) == 1

    def _has_shape_of(self, mask: str, data: str, depth: int) -> bool:
        """Returns whether a mask has an element for each one of `data`, as it is computed from it or expanded to it."""
        if mask == data:
            return True
        node = self._maker.get(mask)
        if node is None or node.domain or not depth:
            return False
        if node.op_type in UNARY:
            return self._has_shape_of(node.input[0], data, depth - 1)
        if node.op_type in BINARY:
            alike = [self._has_shape_of(each, data, depth - 1) for each in node.input]
            return any(alike) and all(
                known or (self._sizes.get(each) == 1 and self._ranks[each] <= 1)
                for known, each in zip(alike, node.input, strict=True)
            )
        if node.op_type == "Expand":  # A mask of more elements would have places that `data` has not.
            shape = self._made(node.input[1], "Shape")
            whole = shape is not None and _attribute(shape, "start", 0) == 0 and _attribute(shape, "end", None) is None
            return shape is not None and whole and shape.input[0] == data
        return False


def _attribute(node: NodeProto, name: str, default: Any) -> Any:
    from onnx.helper import get_attribute_value

    return next((get_attribute_value(each) for each in node.attribute if each.name == name), default)


def _keep(model: Model, nodes: list[NodeProto]) -> None:
    """Makes those of `nodes` the nodes of a model that something reads."""
    graph = model.graph
    wanted = {info.name for info in graph.output}
    kept: list[NodeProto] = []
    for node in reversed(nodes):
        if wanted.intersection(node.output):
            kept.append(node)
            wanted.update(uses(node))
    del graph.node[:]
    graph.node.extend(reversed(kept))


__all__ = ["assignments_by_masks"]
