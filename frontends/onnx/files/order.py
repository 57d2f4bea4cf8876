"""The order of nodes: each after those that compute its inputs."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from ..errors import fail
from .model import Model

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto


def ordered(model: Model, known: set[str]) -> None:
    """
    Sorts the nodes of a model where they are not sorted yet, `known` being the names of inputs and initialisers.

    Raises `OnnxError` for a cycle, and for an input that nothing computes.
    """
    nodes = list(model.graph.node)
    maker = {name: number for number, node in enumerate(nodes) for name in node.output if name}
    needs: list[set[int]] = []
    sorted_already = True
    for number, node in enumerate(nodes):
        makers: set[int] = set()
        for name in uses(node):
            if name in maker:
                makers.add(maker[name])
            elif name not in known:
                which = f"node '{node.name}'" if node.name else f"node {number + 1}"
                fail(model.name, f"{which} ({node.op_type}) uses '{name}', which nothing computes")
        needs.append(makers)
        sorted_already = sorted_already and all(each < number for each in makers)
    if sorted_already:
        return
    try:
        order = list(TopologicalSorter(dict(enumerate(needs))).static_order())
    except CycleError as error:
        circle = [nodes[number] for number in error.args[1]]
        names = " -> ".join(node.name or node.op_type for node in reversed(circle))
        fail(model.name, f"its nodes depend on each other in a circle: {names}")
    del model.graph.node[:]
    model.graph.node.extend(nodes[number] for number in order)


def uses(node: NodeProto) -> Iterator[str]:
    """Yields the names that a node reads, those that its bodies take from outside included."""
    yield from (name for name in node.input if name)
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield from _outer_uses(attribute.g)
        for body in attribute.graphs:
            yield from _outer_uses(body)


def _outer_uses(graph: GraphProto) -> Iterator[str]:
    own = {tensor.name for tensor in graph.initializer} | {info.name for info in graph.input}
    own |= {name for node in graph.node for name in node.output}
    for node in graph.node:
        yield from (name for name in uses(node) if name not in own)
    yield from (info.name for info in graph.output if info.name not in own)
