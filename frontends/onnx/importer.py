"""`stepwell.from_onnx`: an ONNX model as a module of the graph dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    FunctionType,
    IntAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue

from ...core.attributes import shared_string, unchecked
from ...core.ir.model_names import value_name
from ...core.messages.collector import patient_collector
from ...core.messages.diagnostics import Diagnostic, warn
from ...core.roles import DIMS, NAME
from ...dialects.graph.contraction import Conv2dOp, MatmulOp
from ...dialects.graph.shapes import Shaped, compatible
from ...dialects.graph.signature import tensor_type
from .attributes import attributes_of
from .calling import arguments, called, needs_sizes, operands
from .emitting.folding import fold
from .emitting.graph_builder import GraphBuilder
from .emitting.origins import inputs_of
from .emitting.scopes import Scope
from .emitting.shape_arithmetic import fold_sizes
from .emitting.sizes import Size
from .emitting.values import Initialiser, RuntimeValue, SequenceValue
from .errors import ConversionError, OnnxError, fail, shown
from .files.model import Model
from .files.reading import load_model
from .files.tensors import LARGEST_SIZE, check_tensor
from .files.weights_file import attach_weights
from .inputs import Fixed, Inputs, hint_for, size_names
from .node_checks import check_node
from .registry import find
from .schemas import check_types
from .types import DTYPES, type_text
from .unsupported import check_supported
from .value import Value

if TYPE_CHECKING:
    import numpy as np
    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

Progress = Callable[[int, int], None]
"""Is told how many nodes are done, and how many there are."""

_FIRST_COLUMN: Final = IntAttr(1)

_LAYERS: Final = (MatmulOp, Conv2dOp)
"""Ops that get a name even where a node makes more of them, since options and reports name them."""


def from_onnx(
    source: str | Path | bytes | ModelProto,
    *,
    weights: str | Path | None = None,
    constants: Mapping[str, np.ndarray[Any, Any]] | None = None,
    dims: Mapping[str, int] | None = None,
    entry: str = "main",
    progress: Progress | None = None,
) -> ModuleOp:
    """
    Imports an ONNX model as the function `@<entry>` of a module of the graph dialect.

    `source` is a file, its bytes, or a loaded model. Nodes become graph ops located at the node
    (`model.onnx:<number of the node>`), values keep their names. Initialisers of more than 1024 elements are
    `graph.weight`s, kept in the safetensors file `weights`, together with floats of more than 64 elements, which would
    be long lines in the text. Without that name those of a file stay in it, and it must not change while the module is
    used; others are in a temporary file that lives as long as the process. `constants` gives inputs of the graph a
    value for good; `dims` gives symbolic sizes (`{"batch": 1}`) or, as `"input:0"`, single dimensions a size. Sizes
    that stay unknown are `?`; named ones are listed in `stepwell.dims`.

    Raises `OnnxError` for a model that is damaged, does not follow the specification, or uses what is not supported:
    all of that at once.

    Source: the ONNX IR and operator specifications, <https://onnx.ai/onnx/>.
    """
    with patient_collector():
        model = load_model(source)
        check_supported(model)
        importer = Importer(model, Fixed(dict(constants or {}), dict(dims or {})), progress)
        importer.builder.has_file = weights is not None
        module = importer.module(entry)
        attach_weights(module, importer.builder.weights, weights)
        module.verify()
        return module


def initialisers_of(model: Model) -> list[Initialiser]:
    """Returns the tensors that a model stores, as values."""
    return [Initialiser(model, tensor, model.raw.get(tensor.name)) for tensor in model.initialisers]


class Importer:
    """One import. Converters of operators with subgraphs call back into it."""

    def __init__(
        self,
        model: Model,
        fixed: Fixed,
        progress: Progress | None = None,
        stored: Sequence[Initialiser] | None = None,
    ):
        self.model = model
        self._fixed = fixed
        self._inputs = Inputs(model, fixed)
        self._stored = initialisers_of(model) if stored is None else stored
        self._progress = progress
        self._sizes: dict[str, Size] = {}
        self._declared = {info.name: info for info in model.graph.value_info}
        self._contradicted: list[str] = []
        self._count = 0
        self._block = Block()
        self.builder = GraphBuilder(self._block, self.subgraph)

    def module(self, entry: str) -> ModuleOp:
        """Returns the whole model as a module."""
        graph = self.model.graph
        scope = Scope()
        for each in self._stored:
            scope.define(each.key, each)
        attributes = self._arguments(graph, scope)
        self._nodes(graph.node, scope)
        results, result_attributes = self._outputs(graph, scope)
        self._block.add_op(ReturnOp(*results))
        types = FunctionType.from_lists([argument.type for argument in self._block.args], [r.type for r in results])
        function = FuncOp(
            entry, types, Region(self._block), arg_attrs=ArrayAttr(attributes), res_attrs=ArrayAttr(result_attributes)
        )
        function.location = self._location(0, graph.name or entry)
        assert self._block.last_op is not None
        self._block.last_op.location = function.location
        module = ModuleOp([function])
        module.location = FileLineColLoc(StringAttr(self.model.name), IntAttr(1), IntAttr(1))
        if self._contradicted:
            first, *others = self._contradicted
            more = f" (and {len(others)} more like it)" if others else ""
            message = f"model '{self.model.name}': {first}, which holds{more}"
            warn(Diagnostic(message, "warning"))
        return module

    # Inputs and outputs

    def _arguments(self, graph: GraphProto, scope: Scope) -> list[DictionaryAttr]:
        for info in graph.input:
            if info.name in self._fixed.constants:
                scope.redefine(info.name, self._inputs.constant(info))
        attributes = [self._argument(info, scope) for info in self._inputs.free]
        self._inputs.check_used()
        return attributes

    def _argument(self, info: ValueInfoProto, scope: Scope) -> DictionaryAttr:
        shaped = self._inputs.shaped(info.name, info.type)
        argument = self._block.insert_arg(tensor_type(shaped), len(self._block.args))
        argument.name_hint = value_name(info.name)
        value = RuntimeValue(argument)
        scope.define(info.name, value)
        found: dict[str, Attribute] = {}
        if argument.name_hint != info.name:
            found[NAME] = StringAttr(info.name)
        names = size_names(info, shaped)
        value.sizes = tuple(
            self._sizes.setdefault(name, Size("size", argument, axis)) if name else None
            for axis, name in enumerate(names or [""] * len(shaped.shape))
        )
        if any(names):
            found[DIMS] = ArrayAttr([StringAttr(name) for name in names])
        return DictionaryAttr(found)

    def _outputs(self, graph: GraphProto, scope: Scope) -> tuple[list[Any], list[DictionaryAttr]]:
        results: list[Any] = []
        attributes: list[DictionaryAttr] = []
        for info in graph.output:
            value = scope.find(info.name)
            if value is None:
                fail(self.model.name, f"output '{info.name}' is computed by no node")
            if isinstance(value, SequenceValue):
                fail(self.model.name, f"output '{info.name}' is a sequence, expected a tensor")
            try:
                self.check_declared(info, value)
            except ConversionError as error:
                fail(self.model.name, error.message)
            results.append(self.builder.ssa(value))
            attributes.append(DictionaryAttr({NAME: StringAttr(info.name)}))
        return results, attributes

    def check_declared(self, info: ValueInfoProto, value: Value) -> None:
        """
        Raises `ConversionError` when the model gives a value another element type than its node does.

        Another shape is a warning: exporters leave shapes from before their last changes, and no node reads them.
        """
        tensor = info.type.tensor_type
        if tensor.elem_type and DTYPES.get(tensor.elem_type) != value.dtype:
            raise ConversionError(
                f"'{info.name}' is declared with element type {type_text(tensor.elem_type)}, but its node gives "
                f"{value.shaped}"
            )
        if tensor.HasField("shape"):
            declared = tuple(
                dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else None for dim in tensor.shape.dim
            )
            if not compatible(declared, value.shape):
                self._contradicted.append(
                    f"'{info.name}' is declared as {Shaped(declared, value.dtype)}, but its node gives {value.shaped}"
                )

    # Nodes

    def _nodes(self, nodes: Sequence[NodeProto], scope: Scope) -> None:
        for node in nodes:
            self._count += 1
            if self._progress is not None:
                self._progress(self._count, self.model.node_count)
            self._node(node, scope, self._count)

    def _node(self, node: NodeProto, scope: Scope, number: int) -> None:
        builder = self.builder
        builder.location = self._location(number, node.name or f"{node.op_type}_{number}", node.op_type)
        builder.version = self.model.version(node.domain)
        builder.wanted = tuple(bool(name) for name in node.output)
        builder.output_count = len(node.output)
        inputs: list[Value | None] = []
        try:
            inputs = [self._input(name, scope) for name in node.input]
            check_types(node, inputs, builder.version)
            check_node(node, inputs, builder.version)
            outputs = fold(node, inputs, self.model.versions)
            if outputs is None:
                outputs = fold_sizes(node, inputs)
            if outputs is None:
                outputs = self._converted(node, inputs, scope)
            self._define(node, outputs, scope)
        except ConversionError as error:
            failure = OnnxError(self._diagnostic(node, number, error))
            failure.needs = error.needs
            raise self._explained(failure, inputs) from error
        except OnnxError as error:
            raise self._explained(error, inputs) from error.__cause__

    def _define(self, node: NodeProto, outputs: Sequence[Value], scope: Scope) -> None:
        """Gives the outputs of a node their names, if they are what the model says of them."""
        for name, value in zip(node.output, outputs, strict=False):
            if not name:
                continue
            if isinstance(value, SequenceValue):
                scope.define(name, value)
                continue
            if prod(extent or 1 for extent in value.shape) > LARGEST_SIZE:
                raise ConversionError(f"'{name}' would be {value.shaped}, expected at most 2^60 elements")
            if scope.outer is None and name in self._declared:
                self.check_declared(self._declared[name], value)
            _name(value, name)
            scope.define(name, value)

    def _input(self, name: str, scope: Scope) -> Value | None:
        if not name:
            return None
        value = scope.find(name)
        if value is None:
            raise ConversionError(f"input '{name}' is computed by no earlier node")
        return value

    def _converted(self, node: NodeProto, inputs: list[Value | None], scope: Scope) -> Sequence[Value]:
        converter = find(node.op_type, node.domain, self.builder.version)
        if converter is None:
            raise ConversionError("there is no converter")
        if needs_sizes(converter, inputs):
            converter = find(node.op_type, node.domain, self.builder.version, at_run_time=True) or converter
        given = arguments(converter, attributes_of(node))
        self.builder.scope = scope
        result = called(converter, self.builder, list(operands(converter, node, inputs)), given)
        found = result if isinstance(result, tuple | list) else (result,)
        wanted = max((n + 1 for n, named in enumerate(self.builder.wanted) if named), default=0)
        if wanted > len(found):
            raise ConversionError(f"output {wanted - 1} ('{node.output[wanted - 1]}') is not supported")
        return found

    def subgraph(self, graph: GraphProto, outer: Scope, given: Mapping[str, Value]) -> list[Value]:
        """
        Adds the nodes of a body (of `If`, `Loop`, `Scan`) at the current place, and returns its outputs.

        `given` are the values of its inputs; names of the enclosing graph are seen too.
        """
        scope = Scope(outer)
        for tensor in graph.initializer:
            check_tensor(self.model, tensor, f"initialiser '{tensor.name}'")
            scope.define(tensor.name, Initialiser(self.model, tensor))
        for name, value in given.items():
            scope.redefine(name, value)
        builder = self.builder
        kept = builder.location, builder.version, builder.wanted, builder.output_count
        self._nodes(graph.node, scope)
        builder.location, builder.version, builder.wanted, builder.output_count = kept
        outputs: list[Value] = []
        for info in graph.output:
            value = scope.find(info.name)
            if value is None:
                raise ConversionError(f"output '{info.name}' of the body is computed by no node")
            outputs.append(value)
        return outputs

    # Errors

    def _location(self, number: int, name: str, operator: str | None = None) -> NameLoc:
        """Returns the location of a node: its name, then its operator, then `model.onnx` and its number as the line."""
        place = unchecked(
            FileLineColLoc, filename=shared_string(self.model.name), line=IntAttr(max(number, 1)), column=_FIRST_COLUMN
        )
        if operator is not None:
            place = unchecked(NameLoc, desc=shared_string(operator), location=place)
        return unchecked(NameLoc, desc=StringAttr(name), location=place)

    def _explained(self, error: OnnxError, inputs: Sequence[Value | None]) -> OnnxError:
        """Adds a hint to the error of a node: what the model leaves open, where that may be the reason."""
        arguments = inputs_of(error.needs, self._block)
        error.inputs = tuple(self._inputs.free[argument.index].name for argument in arguments)
        if error.diagnostic.hint is None or error.inputs:
            open_ = any(None in value.shape for value in inputs if value and not isinstance(value, SequenceValue))
            of_sizes = any(not inputs_of([each], self._block) for each in error.needs)
            sizes_matter = of_sizes or (open_ and not error.inputs)
            sizes = self._inputs.open_sizes() if sizes_matter else []
            error.diagnostic = replace(error.diagnostic, hint=hint_for(error.inputs, sizes))
        return error

    def _diagnostic(self, node: NodeProto, number: int, error: ConversionError) -> Diagnostic:
        name = f"'{node.name}'" if node.name else f"{number}"
        domain = f"{node.domain}:" if node.domain else ""
        operator = f"{domain}{node.op_type}, opset {self.builder.version}"
        message = f"model '{shown(self.model.name)}': node {name} ({operator}): {error.message}"
        return Diagnostic(message, hint=error.hint)


def _name(value: Value, name: str) -> None:
    """Gives a value the name of the model, if it has none yet."""
    if not isinstance(value, RuntimeValue):
        return
    ssa = value.ssa
    if isinstance(ssa, OpResult | BlockArgument) and ssa.name_hint is None and isinstance(ssa.type, TensorType):
        ssa.name_hint = value_name(name)
        _name_layer(ssa)


def _name_layer(named: SSAValue) -> None:
    """Names the product or convolution after which a node adds a bias, say: `%conv.conv2d` before `%conv`."""
    value, hint = named, named.name_hint
    while isinstance(value.owner, Operation) and value.owner.operands and hint is not None:
        value = value.owner.operands[0]
        if value.name_hint is not None or not isinstance(value.owner, Operation):
            return
        if isinstance(value.owner, _LAYERS):
            value.name_hint = f"{hint}.{value.owner.name.removeprefix('graph.')}"
            return
