"""
Twelve small nets of known architectures, as ONNX models with weights of a fixed seed.

They have the layers of their namesakes at small sizes, so that a check of each pass takes seconds: some sizes are no
multiples of 16, so that tiles have tails, and some are large enough for blocks, threads and packed weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper, shape_inference

Array = np.ndarray[Any, Any]
OPSET = 20


class Net:
    """A graph that grows node by node. Weights are random numbers, small enough to keep values near 1."""

    def __init__(self, seed: int):
        self.random = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []

    def input(self, *shape: int | str, dtype: int = TensorProto.FLOAT) -> str:
        name = f"input{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def constant(self, array: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def ints(self, *numbers: int) -> str:
        return self.constant(np.array(numbers, np.int64))

    def number(self, value: float) -> str:
        return self.constant(np.array(value, np.float32))

    def weight(self, *shape: int, scale: float | None = None) -> str:
        fan = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0]
        size = 1 / np.sqrt(max(fan, 1)) if scale is None else scale
        return self.constant((self.random.standard_normal(shape) * size).astype(np.float32))

    def op(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        number = len(self.nodes)
        names = [f"v{number}_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, f"{kind.lower()}_{number}", **attributes))
        return names[0] if outputs == 1 else names

    def linear(self, x: str, inside: int, outside: int) -> str:
        return self.op("Add", self.op("MatMul", x, self.weight(inside, outside)), self.weight(outside, scale=0.1))

    def conv(self, x: str, inside: int, outside: int, size: int = 3, stride: int = 1, groups: int = 1) -> str:
        kernel = self.weight(outside, inside // groups, size, size)
        pads = [size // 2] * 4
        return self.op(
            "Conv", x, kernel, self.weight(outside, scale=0.1), strides=[stride] * 2, pads=pads, group=groups
        )

    def norm(self, x: str, channels: int) -> str:
        """A batch normalisation with statistics of its own."""
        numbers = [self.random.uniform(0.5, 1.5, channels), self.random.uniform(-0.5, 0.5, channels)]
        numbers += [self.random.uniform(-0.3, 0.3, channels), self.random.uniform(0.5, 1.5, channels)]
        return self.op("BatchNormalization", x, *(self.constant(each.astype(np.float32)) for each in numbers))

    def layer_norm(self, x: str, width: int) -> str:
        gamma = self.constant(self.random.uniform(0.5, 1.5, width).astype(np.float32))
        return self.op("LayerNormalization", x, gamma, self.weight(width, scale=0.1), axis=-1)

    def heads(self, x: str, length: int, heads: int, size: int, last: bool = False) -> str:
        """Splits rows into heads: `1xLxHS` to `1xHxLxS`, or to `1xHxSxL`."""
        apart = self.op("Reshape", x, self.ints(1, length, heads, size))
        return self.op("Transpose", apart, perm=[0, 2, 3, 1] if last else [0, 2, 1, 3])

    def attention(self, x: str, length: int, heads: int, size: int, mask: str | None = None) -> str:
        width = heads * size
        q = self.heads(self.linear(x, width, width), length, heads, size)
        k = self.heads(self.linear(x, width, width), length, heads, size, last=True)
        v = self.heads(self.linear(x, width, width), length, heads, size)
        scores = self.op("Mul", self.op("MatMul", q, k), self.number(size**-0.5))
        if mask is not None:
            scores = self.op("Add", scores, mask)
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
        joined = self.op("Reshape", self.op("Transpose", mixed, perm=[0, 2, 1, 3]), self.ints(1, length, width))
        return self.linear(joined, width, width)

    def model(self, *outputs: str) -> ModelProto:
        results = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph(self.nodes, "net", self.inputs, results, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        types = {each.name: each for each in shape_inference.infer_shapes(model, data_prop=True).graph.value_info}
        for result in model.graph.output:
            result.CopyFrom(types.get(result.name, result))
        return model


def mlp() -> ModelProto:
    """Three layers with relu and a softmax, as the net of examples/mnist_mlp."""
    net = Net(1)
    x = net.input(3, 40)
    for inside, outside in ((40, 56), (56, 24)):
        x = net.op("Relu", net.linear(x, inside, outside))
    return net.model(net.op("Softmax", net.linear(x, 24, 10), axis=-1))


def lenet() -> ModelProto:
    """LeCun et al., 1998: convolutions without padding, tanh, mean pooling, dense layers."""
    net = Net(2)
    x = net.input(1, 1, 10, 10)
    x = net.op("Tanh", net.op("Conv", x, net.weight(6, 1, 5, 5), net.weight(6, scale=0.1)))
    x = net.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net.op("Tanh", net.op("Conv", x, net.weight(16, 6, 2, 2), net.weight(16, scale=0.1)))
    x = net.op("Tanh", net.linear(net.op("Flatten", x), 64, 24))
    return net.model(net.op("LogSoftmax", net.linear(x, 24, 10), axis=-1))


def resnet() -> ModelProto:
    """He et al., 2016: a stem with pooling, a basic block, one with a stride, the mean of an image."""
    net = Net(3)
    x = net.input(1, 3, 12, 12)
    x = net.op("Relu", net.norm(net.conv(x, 3, 16, 7, 2), 16))
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    y = net.op("Relu", net.norm(net.conv(x, 16, 16), 16))
    x = net.op("Relu", net.op("Add", net.norm(net.conv(y, 16, 16), 16), x))
    y = net.op("Relu", net.norm(net.conv(x, 16, 24, 3, 2), 24))
    short = net.norm(net.conv(x, 16, 24, 1, 2), 24)
    x = net.op("Relu", net.op("Add", net.norm(net.conv(y, 24, 24), 24), short))
    return net.model(net.linear(net.op("Flatten", net.op("GlobalAveragePool", x)), 24, 10))


def mobilenet() -> ModelProto:
    """Sandler et al., 2018: depthwise convolutions between narrow ones, relu6, and a squeeze and excitation."""
    net = Net(4)
    x = net.input(1, 8, 6, 5)
    zero, six = net.number(0.0), net.number(6.0)
    y = net.op("Clip", net.norm(net.conv(x, 8, 32, 1), 32), zero, six)
    y = net.op("Clip", net.norm(net.conv(y, 32, 32, 3, 1, 32), 32), zero, six)
    squeezed = net.op("Relu", net.conv(net.op("GlobalAveragePool", y), 32, 8, 1))
    y = net.op("Mul", y, net.op("Sigmoid", net.conv(squeezed, 8, 32, 1)))
    x = net.op("Add", net.norm(net.conv(y, 32, 8, 1), 8), x)
    y = net.op("Clip", net.norm(net.conv(x, 8, 8, 3, 2, 8), 8), zero, six)
    return net.model(net.op("HardSwish", net.conv(y, 8, 16, 1)))


def unet() -> ModelProto:
    """Ronneberger et al., 2015: down by pooling, up by resizing, with a concatenation across."""
    net = Net(5)
    x = net.input(1, 2, 6, 6)
    first = net.op("Relu", net.conv(x, 2, 12))
    deep = net.op("Relu", net.conv(net.op("MaxPool", first, kernel_shape=[2, 2], strides=[2, 2]), 12, 20))
    scales = net.constant(np.array([1, 1, 2, 2], np.float32))
    up = net.op("Resize", deep, "", scales, mode="linear", coordinate_transformation_mode="half_pixel")
    both = net.op("Relu", net.conv(net.op("Concat", first, up, axis=1), 32, 12))
    padded = net.op("Pad", both, net.ints(0, 0, 1, 0, 0, 0, 0, 2), net.number(0.5), mode="constant")
    return net.model(net.op("Sigmoid", net.conv(padded, 12, 1, 1)), net.op("ArgMax", both, axis=1))


def bert() -> ModelProto:
    """Devlin et al., 2019: embeddings, attention with a mask, gelu of erf, layer normalisations."""
    net = Net(6)
    words = net.input(1, 5, dtype=TensorProto.INT64)
    mask = net.input(1, 5)
    x = net.op("Gather", net.weight(30, 32, scale=1.0), words)
    x = net.layer_norm(net.op("Add", x, net.weight(5, 32, scale=0.3)), 32)
    kept = net.op("Unsqueeze", net.op("Mul", net.op("Sub", net.number(1.0), mask), net.number(-9.0)), net.ints(1, 2))
    x = net.layer_norm(net.op("Add", x, net.attention(x, 5, 2, 16, kept)), 32)
    y = net.linear(x, 32, 48)
    y = net.op("Mul", net.op("Mul", y, net.number(0.5)), _one_plus_erf(net, y))
    return net.model(net.layer_norm(net.op("Add", x, net.linear(y, 48, 32)), 32))


def _one_plus_erf(net: Net, x: str) -> str:
    return net.op("Add", net.op("Erf", net.op("Div", x, net.number(2**0.5))), net.number(1.0))


def gpt() -> ModelProto:
    """Radford et al., 2019: a causal mask made of ranges, gelu of tanh spelt out, logits by the embeddings."""
    net = Net(7)
    words = net.input(1, 10, dtype=TensorProto.INT64)
    table = net.weight(40, 24, scale=0.5)
    x = net.op("Add", net.op("Gather", table, words), net.weight(10, 24, scale=0.2))
    rows, columns = net.ints(*range(10)), net.ints(*range(10))
    rows = net.op("Unsqueeze", rows, net.ints(1))
    future = net.op("Greater", net.op("Unsqueeze", columns, net.ints(0)), rows)
    mask = net.op("Where", future, net.number(-1e9), net.number(0.0))
    x = net.op("Add", x, net.attention(net.layer_norm(x, 24), 10, 3, 8, mask))
    y = net.linear(net.layer_norm(x, 24), 24, 40)
    cube = net.op("Pow", y, net.number(3.0))
    inner = net.op("Mul", net.op("Add", y, net.op("Mul", cube, net.number(0.044715))), net.number(0.7978846))
    y = net.op("Mul", net.op("Mul", y, net.number(0.5)), net.op("Add", net.op("Tanh", inner), net.number(1.0)))
    x = net.layer_norm(net.op("Add", x, net.linear(y, 40, 24)), 24)
    return net.model(net.op("MatMul", x, net.op("Transpose", table, perm=[1, 0])))


def llama() -> ModelProto:
    """Touvron et al., 2023: rotary positions, root mean squares, gated silu, grouped queries."""
    net = Net(8)
    x = net.input(1, 6, 32)
    y = _rms(net, x, 32)
    angles = np.outer(np.arange(6), 10000.0 ** (-np.arange(8) / 8))
    cos, sin = (net.constant(np.tile(f(angles), 2)[None, None].astype(np.float32)) for f in (np.cos, np.sin))
    q = _rotated(net, net.heads(net.op("MatMul", y, net.weight(32, 32)), 6, 2, 16), cos, sin)
    k = _rotated(net, net.heads(net.op("MatMul", y, net.weight(32, 16)), 6, 1, 16), cos, sin)
    v = net.heads(net.op("MatMul", y, net.weight(32, 16)), 6, 1, 16)
    scores = net.op("Div", net.op("MatMul", q, net.op("Transpose", k, perm=[0, 1, 3, 2])), net.number(4.0))
    mixed = net.op("MatMul", net.op("Softmax", scores, axis=-1), v)
    mixed = net.op("Reshape", net.op("Transpose", mixed, perm=[0, 2, 1, 3]), net.ints(1, 6, 32))
    x = net.op("Add", x, net.op("MatMul", mixed, net.weight(32, 32)))
    y = _rms(net, x, 32)
    gate = net.op("MatMul", y, net.weight(32, 40))
    gate = net.op("Mul", gate, net.op("Sigmoid", gate))
    y = net.op("MatMul", net.op("Mul", gate, net.op("MatMul", y, net.weight(32, 40))), net.weight(40, 32))
    return net.model(net.op("Add", x, y))


def _rms(net: Net, x: str, width: int) -> str:
    mean = net.op("ReduceMean", net.op("Mul", x, x), net.ints(-1), keepdims=1)
    scale = net.op("Div", net.number(1.0), net.op("Sqrt", net.op("Add", mean, net.number(1e-5))))
    return net.op("Mul", net.op("Mul", x, scale), net.weight(width, scale=1.0))


def _rotated(net: Net, x: str, cos: str, sin: str) -> str:
    first = net.op("Slice", x, net.ints(0), net.ints(8), net.ints(3))
    second = net.op("Slice", x, net.ints(8), net.ints(16), net.ints(3))
    turned = net.op("Concat", net.op("Neg", second), first, axis=3)
    return net.op("Add", net.op("Mul", x, cos), net.op("Mul", turned, sin))


def quantised() -> ModelProto:
    """A convolution and a dense layer on bytes, as quantisation-aware training exports them."""
    net = Net(9)
    x = net.input(1, 4, 6, 6)
    scale, zero = net.number(0.02), net.constant(np.array(128, np.uint8))

    def both(value: str) -> str:
        return net.op("DequantizeLinear", net.op("QuantizeLinear", value, scale, zero), scale, zero)

    def stored(*shape: int) -> str:
        numbers = net.constant(net.random.integers(-127, 128, shape).astype(np.int8))
        return net.op("DequantizeLinear", numbers, net.number(0.004), net.constant(np.array(0, np.int8)))

    y = net.op("Relu", net.op("Conv", both(x), stored(16, 4, 3, 3), net.weight(16, scale=0.1), pads=[1, 1, 1, 1]))
    y = both(net.op("MaxPool", both(y), kernel_shape=[2, 2], strides=[2, 2]))
    y = net.op("Reshape", y, net.ints(1, -1))
    return net.model(both(net.op("Add", net.op("MatMul", both(y), stored(144, 12)), net.weight(12, scale=0.1))))


def recurrent() -> ModelProto:
    """Hochreiter and Schmidhuber, 1997: a long short-term memory over a sequence, and its last state."""
    net = Net(10)
    x = net.input(3, 1, 12)
    weights = (net.weight(1, 64, 12, scale=0.3), net.weight(1, 64, 16, scale=0.3), net.weight(1, 128, scale=0.1))
    _, last, _ = net.op("LSTM", x, *weights, outputs=3, hidden_size=16)
    return net.model(net.linear(net.op("Reshape", last, net.ints(1, 16)), 16, 3))


def mixer() -> ModelProto:
    """Tolstikhin et al., 2021: patches, products over patches and over channels with transposes between them."""
    net = Net(11)
    x = net.op("Conv", net.input(1, 3, 12, 12), net.weight(24, 3, 4, 4), strides=[4, 4])
    x = net.op("Transpose", net.op("Reshape", x, net.ints(1, 24, 9)), perm=[0, 2, 1])
    y = net.op("Transpose", net.layer_norm(x, 24), perm=[0, 2, 1])
    y = net.linear(net.op("Gelu", net.linear(y, 9, 20)), 20, 9)
    x = net.op("Add", x, net.op("Transpose", y, perm=[0, 2, 1]))
    y = net.linear(net.op("Gelu", net.linear(net.layer_norm(x, 24), 24, 40)), 40, 24)
    return net.model(net.op("ReduceMean", net.op("Add", x, y), net.ints(1), keepdims=0))


def wide() -> ModelProto:
    """A dense layer and a map that are large enough for blocks of the caches."""
    net = Net(12)
    x = net.input(64, 40)
    y = net.op("Exp", net.op("Mul", net.linear(x, 40, 200), net.number(0.3)))
    return net.model(net.op("Add", y, net.op("ReduceSum", y, net.ints(1), keepdims=1)))


def crowd() -> ModelProto:
    """Products that are large enough for several threads."""
    net = Net(13)
    x = net.op("Relu", net.linear(net.input(256, 96), 96, 384))
    return net.model(net.linear(x, 384, 320))


MODELS: dict[str, Callable[[], ModelProto]] = {
    each.__name__: each
    for each in (
        *(mlp, lenet, resnet, mobilenet, unet, bert),
        *(gpt, llama, quantised, recurrent, mixer, wide, crowd),
    )
}


def names() -> Sequence[str]:
    return list(MODELS)
