"""
Ours: the program as text in the graph dialect, images as NHWC, weights by key, called into arrays made beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import stepwell
from stepwell.runtime.program.arrays import aligned_bytes

from .engine import Unsupported, Variant, attempt, threads
from .one_op import OneOp
from .reference import EPSILON, Arrays
from .vocabulary import Node, Program, Shape, Value

ELEMENTS = {"float32": "f32", "int8": "i8", "int32": "i32"}
TO_NHWC, TO_HWIO, TO_NCHW = (0, 2, 3, 1), (2, 3, 1, 0), (0, 3, 1, 2)


def variants(program: Program, arrays: Arrays) -> Iterator[Variant | Exception]:
    yield attempt(_one_op if isinstance(program, OneOp) else _variant, program, arrays)


def _one_op(program: OneOp, arrays: Arrays) -> Variant:
    """The model as it is imported, its images with channels last where the case says so."""
    last = program.channels_last
    inputs = [arrays[value.name] for value in program.inputs]
    inputs = [aligned_copy(x.transpose(TO_NHWC) if last and x.ndim == 4 else x) for x in inputs]
    model = stepwell.compile_onnx(program.model(last), threads=threads(), tuning=False)
    executable = model.specialised(*inputs)
    outputs = [aligned_copy(np.asarray(array)) for array in executable(*inputs)]
    try:
        executable.run_into(outputs, *inputs)
        run, given = executable.run_into, (outputs, *inputs)
    except TypeError:  # The shapes of the results depend on elements.
        run, given = executable, tuple(inputs)

    def results() -> list[Any]:
        return [o.transpose(TO_NCHW) if last and o.ndim == 4 else o for o in outputs]

    return Variant("run_into", lambda: run(*given), results)


def _variant(program: Program, arrays: Arrays) -> Variant:
    weights = {value.name: own_layout(program, value, arrays[value.name]) for value in program.weights}
    executable = stepwell.compile(program_text(program), weights=weights, threads=threads(), tuning=False)
    inputs = [aligned_copy(own_layout(program, value, arrays[value.name])) for value in program.inputs]
    outputs = [type_.allocate(inputs[0] if inputs else None) for _, type_ in executable.output_types]  # as a call does
    run = executable.run_into

    def call() -> None:
        run(outputs, *inputs)

    def results() -> list[Any]:
        return [o.transpose(TO_NCHW) if program.is_image and o.ndim == 4 else o for o in outputs]

    return Variant("run_into", call, results)


def aligned_array(shape: Shape, dtype: str) -> Any:
    """A new array that starts at a cache line, as those of the other engines' own allocators do and NumPy's do not."""
    kind = np.dtype(dtype)
    return aligned_bytes(math.prod(shape) * kind.itemsize).view(kind).reshape(shape)


def aligned_copy(array: Any) -> Any:
    """The same numbers in an `aligned_array`."""
    copy = aligned_array(array.shape, array.dtype)
    copy[...] = array
    return copy


def _own_axes(program: Program, value: Value) -> tuple[int, ...] | None:
    """Returns the order of the axes of an image or filter, None for other values."""
    if not program.is_image or len(value.shape) != 4:
        return None
    return TO_HWIO if value in program.weights else TO_NHWC


def own_shape(program: Program, value: Value) -> Shape:
    """The shape of a value as we hold it."""
    axes = _own_axes(program, value)
    return value.shape if axes is None else tuple(value.shape[axis] for axis in axes)


def own_layout(program: Program, value: Value, array: Any) -> Any:
    """The array of a value as we hold it."""
    axes = _own_axes(program, value)
    return array if axes is None else np.ascontiguousarray(array.transpose(axes))


def program_text(program: Program) -> str:
    """The module's text."""
    writer = Writer(program)
    arguments = ", ".join(f"%{value.name}: {writer.type(value)}" for value in program.inputs)
    results = ", ".join(writer.type(value) for value in program.outputs)
    for value in program.weights:
        writer.lines.append(f'%{value.name} = graph.weight "{value.name}" : {writer.type(value)}')
        writer.types[f"%{value.name}"] = writer.type(value)
    for value in program.inputs:
        writer.types[f"%{value.name}"] = writer.type(value)
    for node in program.nodes:
        if node.op not in OPS:
            raise Unsupported(f"stepwell has no {node.op}")
        OPS[node.op](writer, node, *(f"%{value.name}" for value in node.operands))
    returned = ", ".join(f"%{value.name}" for value in program.outputs)
    body = "\n    ".join([*writer.lines, f"func.return {returned} : {results}"])
    # the named file is never opened: the weights are given as arrays
    head = ' attributes {stepwell.weights = "given.safetensors"}' if program.weights else ""
    return f"builtin.module{head} {{\n  func.func @main({arguments}) -> ({results}) {{\n    {body}\n  }}\n}}\n"


class Writer:
    """Lines of the function and the types of its values."""

    def __init__(self, program: Program):
        self.program = program
        self.lines: list[str] = []
        self.types: dict[str, str] = {}

    def type(self, value: Value) -> str:
        return tensor_type(own_shape(self.program, value), value.dtype)

    def op(self, name: str, operands: tuple[str, ...], type_: str, to: str | None = None, properties: str = "") -> str:
        """Adds `graph.name`, its result named `to` or afresh, and returns the name."""
        result = to or f"%n{len(self.lines)}"
        types = ", ".join(self.types[operand] for operand in operands)
        given = "".join(f", {part}" for part in properties.split("; ") if part)
        self.lines.append(f"{result} = graph.{name} {', '.join(operands)}{given} : ({types}) -> {type_}")
        self.types[result] = type_
        return result

    def scalar(self, value: float) -> str:
        result = f"%n{len(self.lines)}"
        self.lines.append(f"{result} = graph.full {value!r} : tensor<f32>")
        self.types[result] = "tensor<f32>"
        return result

    def finish(self, node: Node, value: str, activation: str | None) -> None:
        """Names the result of the node after its activation or, without one, the line that computed `value`."""
        name, type_ = f"%{node.result.name}", self.type(node.result)
        if activation is None:
            self.lines[-1] = self.lines[-1].replace(f"{value} =", f"{name} =", 1)
            self.types[name] = type_
        elif activation == "relu6":
            self.op("clip", (value,), type_, name, "min = 0.0; max = 6.0")
        else:
            self.op(activation, (value,), type_, name)


def tensor_type(shape: Shape, dtype: str) -> str:
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{ELEMENTS[dtype]}>"


def _linear(writer: Writer, node: Node, x: str, w: str, *bias: str) -> None:
    type_ = writer.type(node.result)
    value = writer.op("matmul", (x, w), type_)
    if bias:
        value = writer.op("add", (value, *bias), type_)
    writer.finish(node, value, node["activation"])


def _conv(writer: Writer, node: Node, x: str, w: str, b: str) -> None:
    type_ = writer.type(node.result)
    parts = [f"strides = {[node['stride']] * 2}", f"padding = {[node['pad']] * 4}"]
    parts += [f"groups = {node['groups']}", 'data_layout = "NHWC"', 'kernel_layout = "HWIO"']
    value = writer.op("conv2d", (x, w), type_, None, "; ".join(parts))
    writer.finish(node, writer.op("add", (value, b), type_), node["activation"])


def _attention(writer: Writer, node: Node, q: str, k: str, v: str) -> None:
    batch, length, hidden = node.result.shape
    heads = node["heads"]
    size = hidden // heads
    per_head = tensor_type((batch, heads, length, size), "float32")

    def split(x: str, axes: list[int], type_: str) -> str:
        shape = [batch, length, heads, size]
        parts = writer.op("reshape", (x,), tensor_type(tuple(shape), "float32"), None, f"shape = {shape}")
        return writer.op("permute_dims", (parts,), type_, None, f"axes = {axes}")

    columns = tensor_type((batch, heads, size, length), "float32")
    square = tensor_type((batch, heads, length, length), "float32")
    scores = writer.op("matmul", (split(q, [0, 2, 1, 3], per_head), split(k, [0, 2, 3, 1], columns)), square)
    scores = writer.op("multiply", (scores, writer.scalar(1 / math.sqrt(size))), square)
    scores = writer.op("softmax", (scores,), square)
    mixed = writer.op("matmul", (scores, split(v, [0, 2, 1, 3], per_head)), per_head)
    rows = tensor_type((batch, length, heads, size), "float32")
    merged = writer.op("permute_dims", (mixed,), rows, None, "axes = [0, 2, 1, 3]")
    shape = f"shape = {list(node.result.shape)}"
    writer.op("reshape", (merged,), writer.type(node.result), f"%{node.result.name}", shape)


def _plain(op: str, properties: str = "") -> Callable[..., None]:
    """Adds one op with the operands as they are. `properties` may name attributes of the node."""

    def write(writer: Writer, node: Node, *operands: str) -> None:
        given = properties.format(**node.attributes)
        writer.op(op, operands, writer.type(node.result), f"%{node.result.name}", given)

    return write


def _matmul(writer: Writer, node: Node, a: str, b: str) -> None:
    given = "out_dtype = i32" if node.result.dtype == "int32" else ""
    writer.op("matmul", (a, b), writer.type(node.result), f"%{node.result.name}", given)


def _identity(writer: Writer, node: Node, x: str) -> None:
    """Nothing to compute: a reshape to the same shape."""
    shape = f"shape = {list(node.result.shape)}"
    writer.op("reshape", (x,), writer.type(node.result), f"%{node.result.name}", shape)


OPS: dict[str, Callable[..., None]] = {
    "matmul": _matmul,
    "linear": _linear,
    "conv": _conv,
    "attention": _attention,
    "identity": _identity,
    "layer_norm": _plain("layer_norm", f"epsilon = {EPSILON:.1e}"),
    "gelu_tanh": _plain("gelu", 'approximate = "tanh"'),
    "transpose": _plain("permute_dims", "axes = [1, 0]"),
    "sum": _plain("sum", "axis = [{axis}]"),
    "mean_pool": _plain("mean", "axis = [1, 2]"),
    **{name: _plain(name) for name in ("exp", "tanh", "erf", "gelu", "sigmoid", "silu", "relu")},
    **{name: _plain(name) for name in ("softmax", "add", "subtract", "multiply")},
}
