"""
What a model uses that has no converter: replaced by the definition that ONNX gives where there is one, else reported,
all of it at once, with a stub to fill in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Final

from ...core.messages.diagnostics import Diagnostic, closest
from ...lazy_dataclass import dataclass
from .errors import OnnxError, fail, shown
from .files.model import Model, all_nodes
from .registry import find, known_operators

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

MOST_ROUNDS: Final = 16
"""The most levels of definitions of operators by other operators. Those of ONNX need 3."""


@dataclass
class Missing:
    """An operator without a converter: the nodes that use it, by name or number."""

    operator: str
    domain: str
    version: int
    nodes: list[str] = field(default_factory=list)
    attributes: dict[str, None] = field(default_factory=dict)
    inputs: int = 0
    outputs: int = 0

    @property
    def full_name(self) -> str:
        return f"{self.domain}:{self.operator}" if self.domain else self.operator


class UnsupportedError(OnnxError):
    """A model with operators without converters. `missing` lists them."""

    def __init__(self, model: Model, missing: list[Missing]):
        self.missing = missing
        super().__init__(_diagnostic(model, missing))


def check_supported(model: Model) -> None:
    """
    Replaces operators without converters by what ONNX defines them to be. Raises `UnsupportedError` for those that are
    left.
    """
    for _ in range(MOST_ROUNDS):
        missing = missing_of(model)
        defined = [each for each in missing.values() if _is_defined(each)]
        if not defined:
            break
        _expand(model, defined)
    if missing := missing_of(model):
        raise UnsupportedError(model, list(missing.values()))


def missing_of(model: Model) -> dict[tuple[str, str], Missing]:
    """Operators of the model that have no converter, in the order of their first node."""
    found: dict[tuple[str, str], Missing] = {}
    for number, node in enumerate(all_nodes(model.graph), 1):
        domain = "" if node.domain == "ai.onnx" else node.domain
        if find(node.op_type, domain, model.version(domain)) is not None:
            continue
        each = found.setdefault((domain, node.op_type), Missing(node.op_type, domain, model.version(domain)))
        each.nodes.append(node.name or str(number))
        each.inputs = max(each.inputs, len(node.input))
        each.outputs = max(each.outputs, len(node.output))
        each.attributes |= dict.fromkeys(attribute.name for attribute in node.attribute)
    return found


# Definitions


def _is_defined(missing: Missing) -> bool:
    """Returns whether ONNX defines the operator by others."""
    from onnx import defs

    try:
        schema = defs.get_schema(missing.operator, missing.version, missing.domain)
    except defs.SchemaError:
        return False
    return bool(
        schema.has_function  # pyright: ignore[reportAttributeAccessIssue]
        or schema.has_context_dependent_function  # pyright: ignore[reportAttributeAccessIssue]
    )


def _expand(model: Model, missing: list[Missing]) -> None:
    """
    Puts the definitions in the place of the operators; initialisers stand in as inputs meanwhile, so that none is
    copied.
    """
    from onnx import ModelProto, helper, inliner, shape_inference

    shell = ModelProto(ir_version=10)
    shell.opset_import.extend(helper.make_opsetid(domain, version) for domain, version in model.versions.items())
    shell.graph.CopyFrom(model.graph)
    inputs = {info.name for info in shell.graph.input}
    for tensor in model.initialisers:
        if tensor.name not in inputs:
            shell.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    ids = [(each.domain, each.operator) for each in missing]
    _write_defaults(shell.graph, missing)
    shell = shape_inference.infer_shapes(shell)  # some definitions depend on element types
    shell.graph.value_info.append(helper.make_tensor_value_info("", 1, None))  # asked of inputs left out, too
    try:
        expanded = inliner.inline_selected_functions(shell, ids, inline_schema_functions=True)
    except RuntimeError as error:
        undefined = [each for each in missing_of(model).values() if not _is_defined(each)]
        if undefined:
            raise UnsupportedError(model, undefined) from error
        names = ", ".join(each.full_name for each in missing)
        hint = "run shape inference over the model first: definitions depend on the types of inputs"
        fail(model.name, f"{names}: the definition by other operators fails: {_last_words(error)}", hint)
    inherit_names(model.graph.node, expanded.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(expanded.graph.node)


def _last_words(error: Exception) -> str:
    """The message of an assertion of the onnx package without the place in its source."""
    return str(error).rpartition("failed: ")[2].strip()


def _write_defaults(graph: GraphProto, missing: list[Missing]) -> None:
    """Attributes with defaults that the nodes leave out: a definition that uses one has nothing in its place."""
    from onnx import defs

    defaults = {
        (each.domain, each.operator): [
            attribute.default_value
            for attribute in defs.get_schema(each.operator, each.version, each.domain).attributes.values()
            if attribute.default_value.name
        ]
        for each in missing
    }
    for node in all_nodes(graph):
        given = {attribute.name for attribute in node.attribute}
        domain = "" if node.domain == "ai.onnx" else node.domain
        for default in defaults.get((domain, node.op_type), ()):
            if default.name not in given:
                node.attribute.append(default)


def inherit_names(before: Iterable[NodeProto], after: Iterable[NodeProto]) -> None:
    """Nodes of a definition have no names: they get that of the node that they stand for."""
    names: dict[str, str] = {}
    for node in before:
        names |= dict.fromkeys((name for name in node.output if name), node.name)
    waiting: list[NodeProto] = []
    for node in after:
        if node.name:
            continue
        waiting.append(node)
        owner = next((names[name] for name in node.output if names.get(name)), None)
        if owner is not None:
            for each in waiting:
                each.name = owner
            waiting = []


# The report


def _diagnostic(model: Model, missing: list[Missing]) -> Diagnostic:
    count = len(missing)
    lines = [f"model '{shown(model.name)}': {count} operator{' is' if count == 1 else 's are'} not supported"]
    lines += [f"  {_line(each)}" for each in missing[:12]]
    if count > 12:
        lines.append(f"  and {count - 12} more")
    hint = "write a converter: docs/onnx.md; stepwell-import-onnx --stub FILE.py makes a file to fill in"
    return Diagnostic("\n".join(lines), hint=hint)


def _line(missing: Missing) -> str:
    shown = ", ".join(f"'{name}'" for name in missing.nodes[:3])
    more = f" and {len(missing.nodes) - 3} more" if len(missing.nodes) > 3 else ""
    near = closest(missing.full_name, known_operators())
    nearest = f"; nearest is {near}" if near is not None and near != missing.full_name else ""
    newer = known_operators().get(missing.full_name)
    if newer:
        nearest = f"; supported from version {newer[0].since} on"
    nodes = "node" if len(missing.nodes) == 1 else f"{len(missing.nodes)} nodes:"
    return f"{missing.full_name} (opset {missing.version}), {nodes} {shown}{more}{nearest}"


def stub(missing: list[Missing]) -> str:
    """Returns the text of a module with a converter to fill in for each operator."""
    lines = [
        '"""Converters for operators of ONNX; import this module before the model, or name it in an entry point."""',
        "",
        "from stepwell.frontends import Emitter, Value, converter",
    ]
    for each in missing:
        inputs = "".join(f", x{number}: Value" for number in range(each.inputs))
        attributes = "".join(f", {name}=None" for name in each.attributes)
        domain = f', domain="{each.domain}"' if each.domain else ""
        result = "Value" if each.outputs == 1 else f"tuple[{', '.join(['Value'] * each.outputs)}]"
        lines += [
            "",
            "",
            f'@converter("{each.operator}", since={each.version}{domain})',
            (
                f"def {_python_name(each.full_name)}(b: Emitter{inputs}{', *' + attributes if attributes else ''}) "
                f"-> {result}:"
            ),
            f'    """{each.full_name}: {_count(each.inputs, "input")}, {_count(each.outputs, "output")}."""',
            f'    raise NotImplementedError("{each.full_name}")',
        ]
    return "\n".join(lines) + "\n"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _python_name(operator: str) -> str:
    """Returns a name in Python: `com.acme:TopTen` is `com_acme_top_ten`."""
    words = "".join(f"_{char.lower()}" if char.isupper() else char for char in operator)
    return re.sub(r"\W+_?", "_", words).strip("_")
