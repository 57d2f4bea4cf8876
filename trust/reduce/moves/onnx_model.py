"""Moves on ONNX models: nodes, outputs, attributes, optional inputs, weights, sizes, element types, what is unused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from ..move import Move
from ..onnx_model import Model


class CutNodes(Move):
    """Leaves nodes out. What they made becomes an input of the model, what they took a result."""

    name = "cut nodes"

    def edits(self, subject: Model) -> list[Any]:
        return [_key(node) for node in reversed(subject.graph.node)]

    def apply(self, subject: Model, edits: Sequence[Any]) -> None:
        import onnx

        gone = set(edits)
        types, graph = subject.types(), subject.graph
        kept = [node for node in graph.node if _key(node) not in gone]
        cut = [node for node in graph.node if _key(node) in gone]
        made = {name for node in kept for name in node.output if name}
        taken = {name for node in kept for name in _taken(node)}
        there = {each.name for each in (*graph.input, *graph.initializer)}
        new = sorted(taken - made - there)
        lost = {name for node in cut for name in _taken(node)} & made
        results = [each for each in graph.output if each.name in made]
        known = {each.name for each in results}
        for name in sorted((lost | (made - taken)) - known):
            results.append(_info(onnx, name, types))
        _replace(graph.node, kept)
        graph.input.extend([_info(onnx, name, types) for name in new])
        _replace(graph.output, results)
        drop_unused(subject)


class BypassNodes(Move):
    """Leaves nodes out, and puts one of their inputs of the same type in the place of the output."""

    name = "bypass nodes"

    def edits(self, subject: Model) -> list[Any]:
        return [_key(node) for node in reversed(subject.graph.node)]

    def apply(self, subject: Model, edits: Sequence[Any]) -> None:
        types, graph = subject.types(), subject.graph
        for key in edits:
            node = next((each for each in graph.node if _key(each) == key), None)
            if node is None:
                continue
            output = node.output[0]
            same = [each for each in node.input if each and types.get(each) == types.get(output, "")]
            if not same or any(each.name == output for each in graph.output):
                raise ValueError("no input has the type of the output")
            graph.node.remove(node)
            for other in graph.node:
                _replace(other.input, [same[0] if each == output else each for each in other.input])
        drop_unused(subject)


class DropOutputs(Move):
    """Leaves results of the model out."""

    name = "drop outputs"

    def edits(self, subject: Model) -> list[Any]:
        return [each.name for each in reversed(subject.graph.output)]

    def apply(self, subject: Model, edits: Sequence[Any]) -> None:
        _replace(subject.graph.output, [each for each in subject.graph.output if each.name not in edits])
        drop_unused(subject)


class DropDetails(Move):
    """Leaves out attributes, the last inputs of nodes, and texts."""

    name = "drop attributes, inputs and texts"

    def edits(self, subject: Model) -> list[Any]:
        found: list[tuple[str, str, int]] = [("", "texts", 0)]
        for node in subject.graph.node:
            found += [(_key(node), each.name, 0) for each in node.attribute]
            found += [(_key(node), "", number) for number in range(len(node.input) - 1, 0, -1) if node.input[number]]
        return found

    def apply(self, subject: Model, edits: Sequence[Any]) -> None:
        for key, name, number in edits:
            if not key:
                _drop_texts(subject)
                continue
            for node in subject.graph.node:
                if _key(node) == key and name:
                    _replace(node.attribute, [each for each in node.attribute if each.name != name])
                elif _key(node) == key and number < len(node.input):
                    node.input[number] = ""
                    while node.input and not node.input[-1]:
                        node.input.pop()
        drop_unused(subject)


class SimplifyWeights(Move):
    """Makes weights tensors of one number, and then zeros or ones."""

    name = "simplify weights"

    def edits(self, subject: Model) -> list[Any]:
        return [(each.name, value) for each in subject.graph.initializer for value in ("first", "one")]

    def apply(self, subject: Model, edits: Sequence[Any]) -> None:
        from onnx import numpy_helper

        for name, value in edits:
            for each in subject.graph.initializer:
                array = numpy_helper.to_array(each) if each.name == name else np.zeros(0)
                if array.size and array.dtype.kind != "O" and array.dtype.kind == "f":
                    number = array.reshape(-1)[0] if value == "first" else 1
                    each.CopyFrom(numpy_helper.from_array(np.full(array.shape, number, array.dtype), name))


class WeightsToInputs(Move):
    """Makes weights inputs of the model, so that their numbers are not needed."""

    name = "weights become inputs"

    def edits(self, subject: Model) -> list[Any]:
        return [each.name for each in subject.graph.initializer if each.data_type in (1, 10, 11) and each.dims]

    def apply(self, subject: Model, edits: Sequence[Any]) -> None:
        from onnx import helper

        graph = subject.graph
        for each in [each for each in graph.initializer if each.name in edits]:
            if not any(given.name == each.name for given in graph.input):
                graph.input.append(helper.make_tensor_value_info(each.name, each.data_type, list(each.dims)))
            graph.initializer.remove(each)


class ShrinkDims(Move):
    """Makes one size smaller in all inputs and weights."""

    name = "shrink sizes"
    one_by_one = True

    def edits(self, subject: Model) -> list[Any]:
        sizes = {size for each in subject.graph.initializer for size in each.dims}
        for each in subject.graph.input:
            sizes |= {dim.dim_value for dim in each.type.tensor_type.shape.dim}
        found = [(size, new) for size in sorted(sizes, reverse=True) for new in dict.fromkeys((1, 2, 3, size // 2))]
        open_sizes = [("?", 1)] if any(_open(each) for each in subject.graph.input) else []
        return [*open_sizes, *((size, new) for size, new in found if 0 < new < size)]

    def apply(self, subject: Model, edits: Sequence[Any]) -> None:
        from onnx import numpy_helper

        for old, new in edits:
            for each in subject.graph.initializer:
                if old in each.dims:
                    array = numpy_helper.to_array(each)
                    part = array[tuple(slice(new) if size == old else slice(None) for size in array.shape)]
                    each.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(part), each.name))
            for each in (*subject.graph.input, *subject.graph.output):
                for dim in each.type.tensor_type.shape.dim:
                    if dim.dim_value == old or (old == "?" and not dim.dim_value):
                        dim.dim_value = new
        del subject.graph.value_info[:]
        _infer_outputs(subject)


class SimplifyFloats(Move):
    """Makes numbers of 16 and 64 bits f32 in the whole model."""

    name = "simplify element types"
    one_by_one = True

    def edits(self, subject: Model) -> list[Any]:
        types = {each.type.tensor_type.elem_type for each in subject.graph.input}
        return sorted((types | {each.data_type for each in subject.graph.initializer}) & {10, 11, 16})

    def apply(self, subject: Model, edits: Sequence[Any]) -> None:
        from onnx import numpy_helper

        for old in edits:
            for each in subject.graph.initializer:
                if each.data_type == old:
                    array = np.asarray(numpy_helper.to_array(each)).astype(np.float32)
                    each.CopyFrom(numpy_helper.from_array(array, each.name))
            for each in (*subject.graph.input, *subject.graph.output):
                if each.type.tensor_type.elem_type == old:
                    each.type.tensor_type.elem_type = 1
        del subject.graph.value_info[:]
        _infer_outputs(subject)


def _open(given: Any) -> bool:
    return any(not dim.dim_value for dim in given.type.tensor_type.shape.dim)


def _infer_outputs(subject: Model) -> None:
    """Gives the results of the model the types that follow from its inputs."""
    import onnx

    for each in subject.graph.output:
        each.type.tensor_type.ClearField("shape")
    types = {each.name: each.type for each in onnx.shape_inference.infer_shapes(subject.model).graph.output}
    for each in subject.graph.output:
        each.type.CopyFrom(types[each.name])


def drop_unused(subject: Model) -> None:
    """Removes nodes that lead to no result, inputs and weights that nothing takes, and declared types."""
    graph = subject.graph
    wanted = {each.name for each in graph.output}
    kept: list[Any] = []
    for node in reversed(graph.node):
        if wanted.intersection(node.output):
            kept.append(node)
            wanted.update(_taken(node))
    _replace(graph.node, kept[::-1])
    for field in (graph.input, graph.initializer):
        _replace(field, [each for each in field if each.name in wanted])
    del graph.value_info[:]


def _drop_texts(subject: Model) -> None:
    model, graph = subject.model, subject.graph
    model.ClearField("doc_string")
    graph.ClearField("doc_string")
    del model.metadata_props[:]
    used = {node.domain for node in graph.node}
    _replace(model.opset_import, [each for each in model.opset_import if each.domain in used or not each.domain])
    called = {(node.domain, node.op_type) for node in graph.node}
    called |= {(node.domain, node.op_type) for function in model.functions for node in function.node}
    _replace(model.functions, [each for each in model.functions if (each.domain, each.name) in called])
    for node in graph.node:
        node.ClearField("doc_string")
        del node.metadata_props[:]


def _taken(node: Any) -> Iterable[str]:
    """Yields the names of the values that a node takes, also inside of its branches and loops."""
    yield from (each for each in node.input if each)
    for attribute in node.attribute:
        for graph in [attribute.g, *attribute.graphs]:
            for inner in graph.node:
                yield from _taken(inner)
            yield from (each.name for each in graph.output)


def _key(node: Any) -> str:
    return next(each for each in node.output if each)


def _info(onnx: Any, name: str, types: dict[str, Any]) -> Any:
    if name not in types or types[name].WhichOneof("value") is None:
        raise ValueError(f"the type of '{name}' is not known")
    return onnx.ValueInfoProto(name=name, type=types[name])


def _replace(field: Any, values: Sequence[Any]) -> None:
    """Gives a repeated field other values."""
    copies = [each if isinstance(each, str) else type(each).FromString(each.SerializeToString()) for each in values]
    del field[:]
    field.extend(copies)


MODEL_MOVES: Final = (
    CutNodes(),
    DropOutputs(),
    BypassNodes(),
    WeightsToInputs(),
    DropDetails(),
    ShrinkDims(),
    SimplifyFloats(),
    SimplifyWeights(),
)
