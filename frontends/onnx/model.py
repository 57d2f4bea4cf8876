"""Reading a model, and checking all of it that does not need the meaning of operators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .errors import INSTALL_HINT, fail
from .order import ordered
from .types import DTYPES, ELEMENT_BITS, type_text

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

IN_MEMORY: Final = "<model>"
"""The name of a model that comes from no file."""

LARGEST_EXTENT: Final = 1 << 40


@dataclass
class Model:
    """A model whose structure is sound. `graph` has no initialisers: they are in `initialisers`, as they were stored."""

    name: str
    folder: str
    """Where external data is looked for."""
    graph: GraphProto
    initialisers: Sequence[TensorProto]
    versions: dict[str, int]
    """Version of each operator set, the standard one under `""`."""

    def version(self, domain: str) -> int:
        """The version of an operator set that the model was written for."""
        return self.versions.get("" if domain == "ai.onnx" else domain, 1)

    @property
    def node_count(self) -> int:
        """Nodes of the graph and of all bodies."""
        return sum(1 for _ in all_nodes(self.graph))


def load_model(source: str | Path | bytes | ModelProto) -> Model:
    """
    Reads a model and checks its structure. Raises `OnnxError`.

    Calls of functions that the model defines are replaced by their bodies.
    """
    try:
        from onnx import ModelProto, inliner
    except ImportError as error:
        fail(str(source)[:200], f"the package 'onnx' is not installed ({error})", INSTALL_HINT)
    name, folder = IN_MEMORY, ""
    if isinstance(source, str | Path):
        name, folder = str(source), str(Path(source).parent)
        source = _read(Path(source))
    proto = source if isinstance(source, ModelProto) else _parsed(name, source)
    _check_header(name, proto)
    versions = _versions(name, proto)
    if proto.functions:
        proto = inliner.inline_local_functions(proto)
    graph = _without_initialisers(proto.graph)
    model = Model(name, folder, graph, proto.graph.initializer, versions)
    for tensor in model.initialisers:
        check_tensor(model, tensor)
    for tensor in proto.graph.sparse_initializer:
        fail(name, f"initialiser '{tensor.values.name}' is sparse, which is not supported")
    _check_names(model)
    return model


def all_nodes(graph: GraphProto) -> Iterator[NodeProto]:
    """Every node, those of bodies included."""
    open_graphs = [graph]
    while open_graphs:
        for node in open_graphs.pop().node:
            yield node
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    open_graphs.append(attribute.g)
                open_graphs.extend(attribute.graphs)


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except IsADirectoryError:
        fail(str(path), "it is a directory, expected a file")
    except OSError as error:
        fail(str(path), f"cannot read it: {(error.strerror or str(error)).lower()}")
    if not data:
        fail(str(path), "the file is empty, expected an ONNX model")
    return data


def _parsed(name: str, data: bytes) -> ModelProto:
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    proto = ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError:
        hint = "the file may be cut off, or be of another format"
        fail(name, f"its {len(data)} bytes are not an ONNX model", hint)
    return proto


def _check_header(name: str, proto: ModelProto) -> None:
    if not proto.HasField("graph") or not proto.ir_version:
        fail(name, "it holds no graph, expected an ONNX model", "the file may be of another format")
    if not proto.graph.output:
        fail(name, "its graph has no outputs")


def _versions(name: str, proto: ModelProto) -> dict[str, int]:
    from onnx import defs

    versions = {"" if each.domain == "ai.onnx" else each.domain: each.version for each in proto.opset_import}
    if not versions:
        fail(name, "it names no operator set, expected at least one")
    newest = defs.onnx_opset_version()
    standard = versions.get("", 1)
    if not 1 <= standard <= newest:
        hint = "a newer 'onnx' package may know it" if standard > newest else None
        fail(name, f"it is written for operator set {standard}, expected 1 to {newest}", hint)
    return versions


def _without_initialisers(graph: GraphProto) -> GraphProto:
    """The graph without its tensors, which may be most of the memory of the process."""
    from onnx import GraphProto

    shell = GraphProto(name=graph.name)
    shell.node.extend(graph.node)
    shell.input.extend(graph.input)
    shell.output.extend(graph.output)
    shell.value_info.extend(graph.value_info)
    return shell


# Tensors


def check_tensor(model: Model, tensor: TensorProto) -> None:
    """Fails unless an initialiser holds as many bytes as its type and shape say."""
    what = f"initialiser '{tensor.name}'"
    if tensor.data_type not in DTYPES:
        fail(model.name, f"{what} has element type {type_text(tensor.data_type)}, which is not supported")
    for number, extent in enumerate(tensor.dims):
        if not 0 <= extent < LARGEST_EXTENT:
            fail(model.name, f"{what} has extent {extent} in dimension {number}")
    dtype = DTYPES[tensor.data_type]
    expected = prod(tensor.dims) * ELEMENT_BITS[dtype] // 8
    text = f"{'x'.join(map(str, tensor.dims))}{'x' if tensor.dims else ''}{dtype}"
    if tensor.data_location == tensor.EXTERNAL:
        _check_external(model, tensor, what, expected, text)
    elif tensor.HasField("raw_data"):
        if len(tensor.raw_data) != expected:
            fail(model.name, f"{what} holds {len(tensor.raw_data)} bytes, expected {expected} for {text}")
    else:
        fields: Any = (
            tensor.float_data,
            tensor.int32_data,
            tensor.int64_data,
            tensor.double_data,
            tensor.uint64_data,
        )
        found = max(len(field) for field in fields)
        if found != prod(tensor.dims):
            fail(model.name, f"{what} holds {found} elements, expected {prod(tensor.dims)} for {text}")


def _check_external(model: Model, tensor: TensorProto, what: str, expected: int, text: str) -> None:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    inside = Path(location)
    if not location or inside.is_absolute() or ".." in inside.parts:
        fail(
            model.name, f"{what} is in the file '{location}', expected a path inside the folder of the model"
        )
    path = Path(model.folder) / inside
    try:
        size = path.stat().st_size
    except OSError:
        hint = (
            "external data belongs beside the model"
            if model.name != IN_MEMORY
            else "give the path of the model"
        )
        fail(model.name, f"{what} is in the file '{location}', which is missing", hint)
    offset, length = entries.get("offset", "0"), entries.get("length", str(expected))
    if not offset.isdecimal() or not length.isdecimal():
        fail(model.name, f"{what} lies at offset '{offset}' with length '{length}', expected numbers")
    if int(length) != expected:
        fail(model.name, f"{what} holds {length} bytes, expected {expected} for {text}")
    if int(offset) + int(length) > size:
        fail(model.name, f"{what} ends at byte {int(offset) + int(length)} of '{location}', which has {size}")


# Names


def _check_names(model: Model) -> None:
    """Fails for names that are defined twice or nowhere; puts nodes into an order in which each comes after its inputs."""
    graph = model.graph
    tensors = [tensor.name for tensor in model.initialisers]
    inputs = [info.name for info in graph.input]
    _reject_repeated(model, "initialiser", tensors)
    _reject_repeated(model, "input", inputs)
    _reject_repeated(model, "output", [info.name for info in graph.output])
    known = {*tensors, *inputs}
    for node in graph.node:
        for name in node.output:
            if name and name in known:
                node_name = f" of node '{node.name}'" if node.name else ""
                fail(
                    model.name,
                    f"'{name}', output{node_name} ({node.op_type}), is defined before",
                    "every value has a name of its own",
                )
            known.add(name)
    ordered(model, {*tensors, *inputs})


def _reject_repeated(model: Model, what: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            fail(model.name, f"{what} '{name}' is there twice")
        seen.add(name)
