"""The ONNX model of a program, weights as initialisers: for onnxruntime and OpenVINO."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

from .engine import Unsupported
from .reference import EPSILON, Arrays
from .vocabulary import Node, Program, Value

OPSET = 20
TYPES = {"float32": TensorProto.FLOAT, "int8": TensorProto.INT8, "int32": TensorProto.INT32}


class Writer:
    """Nodes and initialisers of a model in the making."""

    def __init__(self, fused_attention: bool):
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.fused_attention = fused_attention

    def node(self, op: str, *inputs: str, to: str | None = None, **attributes: Any) -> str:
        """Adds a node of one result, named `to` or afresh, and returns the name."""
        result = to or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [result], **attributes))
        return result

    def constant(self, array: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name


def make_model(program: Program, arrays: Arrays, fused_attention: bool = False) -> bytes:
    """
    The serialised model. `fused_attention` writes attention as onnxruntime's own op in place of products and a softmax.
    """
    writer = Writer(fused_attention)
    for value in program.weights:
        writer.constants.append(numpy_helper.from_array(arrays[value.name], value.name))
    for node in program.nodes:
        if node.op not in OPS:
            raise Unsupported(f"onnx has no {node.op}")
        OPS[node.op](writer, node, *(value.name for value in node.operands))
    inputs, outputs = ([_info(value) for value in values] for values in (program.inputs, program.outputs))
    graph = helper.make_graph(writer.nodes, "case", inputs, outputs, writer.constants)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets[: 2 if fused_attention else 1], ir_version=10)
    if not fused_attention:
        checker.check_model(model)
    return model.SerializeToString()


def _info(value: Value) -> Any:
    return helper.make_tensor_value_info(value.name, TYPES[value.dtype], value.shape)


def _activate(writer: Writer, name: str | None, x: str, to: str) -> None:
    """Adds the activation as a node of its own, which runtimes fuse."""
    match name:
        case "relu":
            writer.node("Relu", x, to=to)
        case "relu6":
            bounds = [writer.constant(np.float32(bound)) for bound in (0, 6)]
            writer.node("Clip", x, *bounds, to=to)
        case "gelu":
            writer.node("Gelu", x, to=to)
        case _:
            raise Unsupported(f"onnx has no {name}")


def _linear(writer: Writer, node: Node, x: str, w: str, *bias: str) -> None:
    result = node.result.name
    last = result if node["activation"] is None else f"{result}_linear"
    if bias and len(node.result.shape) == 2:
        writer.node("Gemm", x, w, *bias, to=last)
    elif bias:
        writer.node("Add", writer.node("MatMul", x, w), *bias, to=last)
    else:
        writer.node("MatMul", x, w, to=last)
    if last != result:
        _activate(writer, node["activation"], last, result)


def _conv(writer: Writer, node: Node, x: str, w: str, b: str) -> None:
    result = node.result.name
    last = result if node["activation"] is None else f"{result}_conv"
    pads, strides = [node["pad"]] * 4, [node["stride"]] * 2
    writer.node("Conv", x, w, b, to=last, pads=pads, strides=strides, group=node["groups"])
    if last != result:
        _activate(writer, node["activation"], last, result)


def _attention(writer: Writer, node: Node, q: str, k: str, v: str) -> None:
    if writer.fused_attention:
        attributes = {"domain": "com.microsoft", "num_heads": node["heads"]}
        writer.node("MultiHeadAttention", q, k, v, to=node.result.name, **attributes)
        return
    batch, length, hidden = node.result.shape
    heads = node["heads"]
    shape = writer.constant(np.array([batch, length, heads, hidden // heads], np.int64))

    def split(x: str, perm: list[int]) -> str:
        return writer.node("Transpose", writer.node("Reshape", x, shape), perm=perm)

    scores = writer.node("MatMul", split(q, [0, 2, 1, 3]), split(k, [0, 2, 3, 1]))
    scores = writer.node("Div", scores, writer.constant(np.float32(math.sqrt(hidden // heads))))
    mixed = writer.node("MatMul", writer.node("Softmax", scores, axis=-1), split(v, [0, 2, 1, 3]))
    merged = writer.node("Transpose", mixed, perm=[0, 2, 1, 3])
    flat = writer.constant(np.array([batch, length, hidden], np.int64))
    writer.node("Reshape", merged, flat, to=node.result.name)


def _matmul(writer: Writer, node: Node, a: str, b: str) -> None:
    writer.node("MatMulInteger" if node.result.dtype == "int32" else "MatMul", a, b, to=node.result.name)


def _sum(writer: Writer, node: Node, x: str) -> None:
    axes = writer.constant(np.array([node["axis"]], np.int64))
    writer.node("ReduceSum", x, axes, to=node.result.name, keepdims=0)


def _silu(writer: Writer, node: Node, x: str) -> None:
    writer.node("Mul", x, writer.node("Sigmoid", x), to=node.result.name)


def _plain(op: str, **attributes: Any) -> Callable[..., None]:
    """A node with the operands as they are."""

    def write(writer: Writer, node: Node, *operands: str) -> None:
        writer.node(op, *operands, to=node.result.name, **attributes)

    return write


OPS: dict[str, Callable[..., None]] = {
    "matmul": _matmul,
    "linear": _linear,
    "conv": _conv,
    "attention": _attention,
    "layer_norm": _plain("LayerNormalization", axis=-1, epsilon=EPSILON),
    "identity": _plain("Identity"),
    "add": _plain("Add"),
    "subtract": _plain("Sub"),
    "multiply": _plain("Mul"),
    "relu": _plain("Relu"),
    "exp": _plain("Exp"),
    "tanh": _plain("Tanh"),
    "erf": _plain("Erf"),
    "gelu": _plain("Gelu"),
    "gelu_tanh": _plain("Gelu", approximate="tanh"),
    "sigmoid": _plain("Sigmoid"),
    "silu": _silu,
    "softmax": _plain("Softmax", axis=-1),
    "transpose": _plain("Transpose", perm=[1, 0]),
    "sum": _sum,
}
