"""Reading a model, and checking all of it that does not need the meaning of operators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ....core.mapped import map_file, stamp_of
from ....core.messages.articles import with_article
from ....core.messages.files import reason_of
from ....core.messages.texts import IS_A_DIRECTORY
from ..errors import INSTALL_HINT, fail
from .masks import assignments_by_masks
from .model import Model, all_nodes, nodes_within
from .order import ordered
from .tensors import IN_MEMORY, LEAST_MAPPED, check_attribute_tensors, check_tensor
from .wire import without_weights

if TYPE_CHECKING:
    import numpy as np
    from onnx import GraphProto, ModelProto

FORMAT_HINT: Final = "the file may be of another format"


def load_model(source: str | Path | bytes | ModelProto) -> Model:
    """
    Reads a model and checks its structure. Raises `OnnxError`.

    Calls of functions that the model defines are replaced by their bodies.
    """
    try:
        from onnx import ModelProto
    except ImportError as error:
        fail(str(source)[:200], f"the package 'onnx' is not installed ({error})", INSTALL_HINT)
    name, folder, raw = IN_MEMORY, "", {}
    stamp = stamp_of(source) if isinstance(source, str | Path) else None
    if isinstance(source, str | Path):
        name, folder = str(source), str(Path(source).parent)
        proto, raw = _opened(Path(source))
    elif not isinstance(source, bytes | bytearray | memoryview | ModelProto):
        kind = with_article(type(source).__name__)
        fail(name, f"it is {kind}, expected a path, bytes or an onnx.ModelProto")
    else:
        proto = source if isinstance(source, ModelProto) else _parsed(name, source)
    _check_header(name, proto)
    _check_text(name, proto)
    versions = _versions(name, proto)
    if proto.functions:
        proto = _inlined(name, proto)
    graph = _without_initialisers(proto.graph)
    model = Model(name, folder, graph, proto.graph.initializer, versions, raw)
    if stamp is not None:
        model.stamps[stamp.path] = stamp
    for tensor in model.initialisers:
        check_tensor(model, tensor, f"initialiser '{tensor.name}'", raw.get(tensor.name))
    for tensor in proto.graph.sparse_initializer:
        fail(name, f"initialiser '{tensor.values.name}' is sparse, which is not supported")
    check_attribute_tensors(model, graph)
    _check_operators(model)
    _check_names(model)
    return model


def whole_model(source: str | Path | bytes | ModelProto, model: Model) -> bytes:
    """
    Returns a model with all of its tensors, also those in other files. It has been read as `model`.

    Raises `OnnxError` beyond 2 GB, and where a file has changed since.
    """
    import onnx

    for path in model.stamps:
        model.check_unchanged(path)
    if isinstance(source, bytes):
        return source
    name = str(source) if isinstance(source, str | Path) else IN_MEMORY
    if isinstance(source, str | Path):
        proto = _parsed(name, _read(Path(source)))
        onnx.load_external_data_for_model(proto, str(Path(source).parent))
        source = proto
    try:
        return source.SerializeToString()
    except ValueError as error:  # of protobuf, which has no messages of 2 GB
        fail(name, f"it cannot be kept in memory as a whole: {error}", "save() it in a file")


def _opened(path: Path) -> tuple[ModelProto, dict[str, np.ndarray[Any, Any]]]:
    """Returns the model in a file, and the bytes of the initialisers that have stayed in the file, by name."""
    try:
        mapped = map_file(path) if path.stat().st_size >= LEAST_MAPPED and path.is_file() else None
    except OSError as error:
        fail(str(path), f"cannot read it: {reason_of(error)}")
    if mapped is None:
        return _parsed(str(path), _read(path)), {}
    found = without_weights(memoryview(mapped))
    if found is not None:
        proto = _parsed(str(path), found[0], len(mapped))
        if not proto.functions:  # these are put in the place of their calls by code that looks at initialisers
            data = mapped.bytes()
            return proto, {name: data[begin:end] for name, (begin, end) in found[1].items()}
    return _parsed(str(path), _read(path)), {}


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except IsADirectoryError:
        fail(str(path), IS_A_DIRECTORY)
    except OSError as error:
        fail(str(path), f"cannot read it: {reason_of(error)}")
    if not data:
        fail(str(path), "the file is empty, expected an ONNX model")
    return data


def _parsed(name: str, data: bytes, size: int | None = None) -> ModelProto:
    """Returns a model of these bytes, which are what is left of `size` bytes."""
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    proto = ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError:
        hint = "the file may be cut off, or be of another format"
        fail(name, f"its {len(data) if size is None else size} bytes are not an ONNX model", hint)
    return proto


def _check_header(name: str, proto: ModelProto) -> None:
    from onnx import IR_VERSION

    if not proto.HasField("graph"):
        fail(name, "it holds no graph, expected an ONNX model", FORMAT_HINT)
    if not 1 <= proto.ir_version <= IR_VERSION:
        hint = "a newer 'onnx' package may know it" if proto.ir_version > IR_VERSION else FORMAT_HINT
        fail(name, f"its format is of version {proto.ir_version}, expected 1 to {IR_VERSION}", hint)
    if not proto.graph.output:
        fail(name, "its graph has no outputs")


def _check_text(name: str, proto: ModelProto) -> None:
    """Fails for a name that is no UTF-8, which the reader leaves as bytes."""
    for text in _names(proto):
        if not isinstance(text, str):
            fail(name, f"it has the name {text!r}, expected UTF-8", "the file may be damaged")


def _names(proto: ModelProto) -> Iterator[object]:
    graph = proto.graph
    yield from (each.domain for each in proto.opset_import)
    yield graph.name
    for function in proto.functions:
        yield from (function.name, function.domain, *function.input, *function.output)
    for node in [*all_nodes(graph), *(node for each in proto.functions for node in each.node)]:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        for attribute in node.attribute:
            yield from (attribute.name, attribute.ref_attr_name)
            if attribute.HasField("g"):
                yield from _names_around(attribute.g)
    yield from _names_around(graph)


def _names_around(graph: GraphProto) -> Iterator[object]:
    """Yields the names of a graph, those of its nodes left out."""
    for tensor in graph.initializer:
        yield tensor.name
        yield from (text for entry in tensor.external_data for text in (entry.key, entry.value))
    for info in (*graph.input, *graph.output, *graph.value_info):
        yield info.name
        yield from (dim.dim_param for dim in info.type.tensor_type.shape.dim)


def _versions(name: str, proto: ModelProto) -> dict[str, int]:
    from onnx import defs

    versions: dict[str, int] = {}
    for each in proto.opset_import:
        domain = "" if each.domain == "ai.onnx" else each.domain
        if versions.setdefault(domain, each.version) != each.version:
            which = f"'{domain}'" if domain else "the standard operators"
            fail(name, f"it names two versions of {which}: {versions[domain]} and {each.version}")
    if not versions:
        fail(name, "it names no operator set, expected at least one")
    newest = defs.onnx_opset_version()
    standard = versions.get("", 1)
    if not 1 <= standard <= newest:
        hint = "a newer 'onnx' package may know it" if standard > newest else None
        fail(name, f"it is written for operator set {standard}, expected 1 to {newest}", hint)
    return versions


def _inlined(name: str, proto: ModelProto) -> ModelProto:
    """Returns the model with the calls of its own functions replaced by their bodies."""
    from onnx import inliner

    _check_calls(name, proto)
    try:
        return inliner.inline_local_functions(proto, convert_version=True)
    except Exception as error:  # errors of the package's compiled part have no class in common
        reason = str(error).rpartition("failed: ")[2].strip()  # what follows the place in its source
        fail(name, f"its functions cannot be put in the place of their calls: {reason}")


def _check_calls(name: str, proto: ModelProto) -> None:
    """Fails for a call of a function of the model that has more inputs or outputs than the function."""
    functions = {(each.domain, each.name, each.overload): each for each in proto.functions}
    inner = (node for each in proto.functions for node in nodes_within(each.node))
    for node in (*all_nodes(proto.graph), *inner):
        called = functions.get((node.domain, node.op_type, node.overload))
        if called is None:
            continue
        for what, given, taken in (("inputs", node.input, called.input), ("outputs", node.output, called.output)):
            if len(given) > len(taken):
                place = f"node '{node.name}'" if node.name else "a node"
                text = f"{place} calls the function {node.domain}:{node.op_type} with {len(given)} {what}"
                fail(name, f"{text}, expected at most {len(taken)}")


def _without_initialisers(graph: GraphProto) -> GraphProto:
    """Returns the graph without its tensors, which may be most of the memory of the process."""
    from onnx import GraphProto

    shell = GraphProto(name=graph.name)
    shell.node.extend(graph.node)
    shell.input.extend(graph.input)
    shell.output.extend(graph.output)
    shell.value_info.extend(graph.value_info)
    return shell


# Operators and names


def _check_operators(model: Model) -> None:
    for number, node in enumerate(all_nodes(model.graph), 1):
        which = f"node '{node.name}'" if node.name else f"node {number}"
        if not node.op_type:
            fail(model.name, f"{which} names no operator")
        if node.domain in ("", "ai.onnx") and "" not in model.versions:
            what = "which is a standard operator, but no version of these is named"
            fail(model.name, f"{which} is {node.op_type}, {what}")


def _check_names(model: Model) -> None:
    """
    Fails for names that are defined twice or nowhere; puts nodes into an order in which each comes after its inputs.
    """
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
    assignments_by_masks(model)


def _reject_repeated(model: Model, what: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            fail(model.name, f"{what} '{name}' is there twice")
        seen.add(name)
