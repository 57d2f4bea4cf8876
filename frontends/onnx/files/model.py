"""A model whose structure is sound, and the nodes in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....core.mapped import Stamp, stamp_of
from ....lazy_dataclass import dataclass
from ..errors import fail

if TYPE_CHECKING:
    import numpy as np
    from onnx import GraphProto, NodeProto, TensorProto


@dataclass
class Model:
    """
    A model whose structure is sound. `graph` has no initialisers: they are in `initialisers`, as they were stored.
    """

    name: str
    folder: str
    """The folder of external data."""
    graph: GraphProto
    initialisers: Sequence[TensorProto]
    versions: dict[str, int]
    """Version of each operator set, the standard one under `""`."""
    raw: Mapping[str, np.ndarray[Any, Any]]
    """The bytes of initialisers that have stayed in the file of the model, by name."""
    stamps: dict[Path, Stamp] = field(default_factory=dict)
    """The file of the model and those of its external data, as they were when it was read."""

    def check_unchanged(self, path: Path) -> None:
        """Fails where a file of the model has changed since it was read. One that is gone is left to its readers."""
        stamp = self.stamps.get(path)
        if stamp is not None and stamp_of(path) not in (None, stamp):
            fail(self.name, f"'{path.name}' has changed since the model was compiled", "compile the model again")

    def version(self, domain: str) -> int:
        """The version of an operator set that the model was written for."""
        return self.versions.get("" if domain == "ai.onnx" else domain, 1)

    @property
    def node_count(self) -> int:
        """The number of nodes of the graph and of all bodies."""
        return sum(1 for _ in all_nodes(self.graph))


def all_nodes(graph: GraphProto) -> Iterator[NodeProto]:
    """Yields every node, those of bodies included."""
    return nodes_within(graph.node)


def nodes_within(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """Yields these nodes and those of their bodies."""
    open_lists = [nodes]
    while open_lists:
        for node in open_lists.pop():
            yield node
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    open_lists.append(attribute.g.node)
                open_lists.extend(each.node for each in attribute.graphs)
