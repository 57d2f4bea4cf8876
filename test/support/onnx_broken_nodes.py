"""Sound files with broken nodes, each with what the tool says of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx_broken_models import Broken, info, model, node, tensor

STUB_HINT = "\nhint: write a converter: docs/onnx.md; stepwell-import-onnx --stub FILE.py makes a file to fill in"


def at(name: str, made: onnx.NodeProto, place: str, message: str, **rest: Any) -> Broken:
    """A model of one node, an operator of set 20."""
    return Broken(name, model([made], **rest), f"node {place} ({made.op_type}, opset 20): {message}")


def operators() -> list[Broken]:
    return [
        Broken(
            "operator_unknown",
            model([node("Reluu", "x", "y", "act")]),
            "1 operator is not supported\n  Reluu (opset 20), node 'act'; nearest is Relu" + STUB_HINT,
        ),
        Broken(
            "operator_of_another_domain",
            model([node("Relu", "x", "y", "act", domain="com.acme")]),
            "1 operator is not supported\n  com.acme:Relu (opset 1), node 'act'" + STUB_HINT,
        ),
        Broken(
            "operators_unknown",
            model([node("Foo", "x", "a", "f"), node("Bar", "a", "b", "g"), node("Foo", "b", "y", "h")]),
            "2 operators are not supported\n  Foo (opset 20), 2 nodes: 'f', 'h'",
        ),
        Broken(
            "operator_missing",
            model(change=lambda made: setattr(made.graph.node[0], "op_type", "")),
            "node 'act' names no operator",
        ),
        Broken(
            "function_calls_itself",
            _with_function(node("F", "a", "b", domain="com.acme")),
            "its functions cannot be put in the place of their calls: Cycle detected",
        ),
        Broken(
            "function_with_unknown_operator",
            _with_function(node("Reluu", "a", "b")),
            "1 operator is not supported\n  Reluu (opset 20)",
        ),
        Broken(
            "function_with_undefined_input",
            _with_function(node("Relu", "q", "b")),
            "node 1 (Relu) uses 'q', which nothing computes",
        ),
    ]


def _with_function(body: onnx.NodeProto) -> onnx.ModelProto:
    opsets = [h.make_opsetid("", 20), h.make_opsetid("com.acme", 1)]

    def change(made: onnx.ModelProto) -> None:
        made.opset_import.append(opsets[1])
        made.functions.append(h.make_function("com.acme", "F", ["a"], ["b"], [body], opsets))

    return model([node("F", "x", "y", domain="com.acme")], change=change)


def attributes() -> list[Broken]:
    def changed(**fields: Any) -> onnx.NodeProto:
        made = node("LeakyRelu", "x", "y", "act")
        attribute = made.attribute.add()
        attribute.name = "alpha"
        for field, value in fields.items():
            setattr(attribute, field, value)
        return made

    twice = node("LeakyRelu", "x", "y", "act", alpha=0.1)
    twice.attribute.append(twice.attribute[0])
    graph = h.make_graph([], "q", [], [])
    alpha = "'graph.leaky_relu': 'alpha' of graph.leaky_relu takes a number, found"
    return [
        at(
            "attribute_unknown",
            node("LeakyRelu", "x", "y", "act", alhpa=0.1),
            "'act'",
            "attribute 'alhpa' is not supported; LeakyRelu takes alpha\nhint: did you mean 'alpha'?",
        ),
        at("attribute_missing", node("Concat", "x x", "y", "cat"), "'cat'", "attribute 'axis' is missing"),
        at("attribute_string", node("LeakyRelu", "x", "y", "act", alpha="abc"), "'act'", f"{alpha} 'abc'"),
        at(
            "attribute_graph",
            node("LeakyRelu", "x", "y", "act", alpha=graph),
            "'act'",
            f"{alpha} GraphProto('q')",
        ),
        at(
            "attribute_float",
            node("Concat", "x x", "y", "cat", axis=1.5),
            "'cat'",
            "'graph.concat': 'axis' of graph.concat takes an integer, found 1.5",
        ),
        at("attribute_without_type", changed(), "'act'", "attribute 'alpha' has no type"),
        at(
            "attribute_of_a_function",
            changed(type=onnx.AttributeProto.FLOAT, ref_attr_name="q"),
            "'act'",
            "attribute 'alpha' is that of a function, 'q', but the node is in none",
        ),
        at("attribute_twice", twice, "'act'", "attribute 'alpha' is there twice"),
    ]


def inputs_and_outputs() -> list[Broken]:
    integers = [info("x"), info("z", dtype=T.INT64)]
    others = [info("x"), info("z", (5, 7))]
    shape = [info("x"), info("s", (2,), T.INT64)]
    return [
        at(
            "many_inputs",
            node("Relu", "x x", "y", "act"),
            "'act'",
            "the node has 2 inputs, expected at most 1",
        ),
        at("few_inputs", node("MatMul", "x", "y", "mm"), "'mm'", "input 1 is missing"),
        at("no_inputs", node("Relu", "", "y"), "1", "input 0 is missing"),
        at("no_input_of_shape", node("Shape", "", "y"), "1", "input 0 is missing"),
        at("no_input_of_size", node("Size", "", "y"), "1", "input 0 is missing"),
        at("many_outputs", node("Relu", "x", "y z", "act"), "'act'", "output 1 ('z') is not supported"),
        at(
            "element_types_differ",
            node("Add", "x z", "y", "add"),
            "'add'",
            "'graph.add': lhs has element type f32 but rhs has i64; convert with graph.astype",
            inputs=integers,
        ),
        at(
            "element_type_of_a_shape",
            node("Reshape", "x s", "y", "r"),
            "'r'",
            "input 1, 'shape', has element type f32, expected i64",
            tensors=[tensor("s", [3, 2])],
        ),
        at(
            "element_type_of_a_condition",
            node("Where", "x x x", "y", "w"),
            "'w'",
            "input 0, 'condition', has element type f32, expected i1",
        ),
        at(
            "element_type_of_many",
            node("Max", "x x c", "y", "m"),
            "'m'",
            "input 2, 'data_0', has element type i1, expected f32 or",
            tensors=[tensor("c", True, bool)],
        ),
        at(
            "shapes_differ",
            node("Add", "x z", "y", "add"),
            "'add'",
            "'graph.add': shapes 2x3 and 5x7 do not broadcast: dimension 1 is 3 and 7",
            inputs=others,
        ),
        at(
            "inner_sizes_differ",
            node("MatMul", "x z", "y", "mm"),
            "'mm'",
            "'graph.matmul': lhs has K = 3 columns but rhs has K = 5 rows",
            inputs=others,
        ),
        at(
            "pads_at_run_time",
            node("Pad", "x s", "y", "pad"),
            "'pad'",
            "input 1, 's', is computed at run time, expected it to be known at import\n"
            "hint: the value of 's' decides this: give it for good with --bind s=… (in Python constants=), or with "
            "each call: stepwell.compile_onnx",
            inputs=shape,
        ),
    ]


def values() -> list[Broken]:
    huge = 1 << 45
    return [
        at(
            "axis",
            node("Concat", "x x", "y", "cat", axis=7),
            "'cat'",
            "'graph.concat': axis 7 is out of range for rank 2, expected -2 to 1",
        ),
        at(
            "axis_twice",
            node("Transpose", "x", "y", "t", perm=[0, 0]),
            "'t'",
            "'graph.permute_dims': axes entry 0 is given twice in [0, 0]",
        ),
        at(
            "count_of_elements",
            node("Reshape", "x s", "y", "r"),
            "'r'",
            "'graph.reshape': 2x3 has 6 elements but shape [5, 5] has 25",
            tensors=[tensor("s", [5, 5], np.int64)],
        ),
        at(
            "two_free_extents",
            node("Reshape", "x s", "y", "r"),
            "'r'",
            "'graph.reshape': shape is [-1, -1], expected extents and at most one -1",
            tensors=[tensor("s", [-1, -1], np.int64)],
        ),
        at(
            "negative_result",
            node("ConstantOfShape", "s", "y", "c"),
            "'c'",
            "the result has a negative extent -3",
            tensors=[tensor("s", [-3], np.int64)],
        ),
        at(
            "huge_result",
            node("Tile", "x s", "y", "t"),
            "'t'",
            f"'y' would be tensor<{2 * huge}x{3 * huge}xf32>, expected at most 2^60 elements",
            tensors=[tensor("s", [huge, huge], np.int64)],
        ),
        at(
            "sizes_of_parts",
            node("Split", "x s", "y z", "sp"),
            "'sp'",
            "the sizes [5, 5] add up to 10, expected 2",
            tensors=[tensor("s", [5, 5], np.int64)],
        ),
        *convolutions(),
    ]


def convolutions() -> list[Broken]:
    def conv(name: str, message: str, **attributes: Any) -> Broken:
        made = node("Conv", "x w", "y", "conv", **attributes)
        filter_ = tensor("w", np.ones((4, 3, 3, 3)))
        place = {"inputs": [info("x", (1, 3, 8, 8))], "outputs": [info("y", (1, 4, 6, 6))]}
        return at(name, made, "'conv'", message, tensors=[filter_], **place)

    return [
        conv("group", "'graph.conv2d': data has 3 channels but filter takes 3 in each of 2 groups", group=2),
        conv("group_zero", "'graph.conv2d': groups is 0, expected at least 1", group=0),
        conv("stride_zero", "'graph.conv2d': strides is [0, 1], expected each at least 1", strides=[0, 1]),
        conv("dilation_zero", "'graph.conv2d': dilation is [0, 0], expected each at least 1", dilations=[0, 0]),
        conv("stride_count", "strides are [1, 1, 1] and dilations [1, 1], expected 2 each", strides=[1, 1, 1]),
        conv("pad_count", "pads are [1, 1], expected 4", pads=[1, 1]),
        conv("kernel_shape", "kernel_shape is [5, 5], but the filter has [3, 3]", kernel_shape=[5, 5]),
        conv(
            "auto_pad",
            "auto_pad is 'SOME', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID",
            auto_pad="SOME",
        ),
        conv(
            "kernel_too_large",
            "'graph.conv2d': a kernel of height 3 (dilated to 19) does not fit into height 8 padded by 0 and 0",
            dilations=[9, 9],
        ),
    ]
