"""Two networks as ONNX models with random weights, whose nodes have the names that PyTorch gives: for provenance."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper


class Net:
    """Nodes and weights in the order in which they are added."""

    def __init__(self, seed: int) -> None:
        self._draw = np.random.default_rng(seed).standard_normal
        self._nodes: list[NodeProto] = []
        self._weights: list[TensorProto] = []

    def weight(self, name: str, *shape: int) -> str:
        """Returns the name of a new weight, of a size that keeps values as large as they are."""
        scale = 1 / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else 1)
        self._weights.append(numpy_helper.from_array((self._draw(shape) * scale).astype(np.float32), name))
        return name

    def numbers(self, name: str, *values: int) -> str:
        """Returns the name of a new list of whole numbers."""
        self._weights.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def node(self, operator: str, name: str, *inputs: str, **attributes: object) -> str:
        """Returns the name of the result of a new node."""
        self._nodes.append(helper.make_node(operator, list(inputs), [f"{name}_output"], name, **attributes))
        return f"{name}_output"

    def model(self, x: tuple[int, ...], dtype: int, result: str, y: tuple[int, ...]) -> onnx.ModelProto:
        """Returns the model that takes `x`."""
        given = helper.make_tensor_value_info("x", dtype, x)
        out = helper.make_tensor_value_info(result, TensorProto.FLOAT, y)
        graph = helper.make_graph(self._nodes, "net", [given], [out], self._weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def resnet(widths: tuple[int, ...] = (64, 128, 256, 512), size: int = 224, blocks: int = 2) -> onnx.ModelProto:
    """Returns a network of residual blocks, by default with the layers of ResNet-18 (He et al., 2016)."""
    net = Net(0)

    def conv(name: str, x: str, channels: int, width: int, kernel: int, stride: int) -> str:
        pad = [kernel // 2] * 4
        w = net.weight(f"{name}.w", width, channels, kernel, kernel)
        x = net.node("Conv", f"{name}/Conv", x, w, strides=[stride, stride], pads=pad)
        scale, shift, mean = (net.weight(f"{name}.{part}", width) for part in ("scale", "shift", "mean"))
        spread = net.node("Abs", f"{name}/Abs", net.weight(f"{name}.spread", width))
        return net.node("BatchNormalization", f"{name}/BatchNormalization", x, scale, shift, mean, spread)

    x = net.node("Relu", "/stem/Relu", conv("/stem/conv", "x", 3, widths[0], 7, 2))
    x = net.node("MaxPool", "/stem/MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = widths[0]
    for number, width in enumerate(widths):
        for block in range(blocks):
            name, stride = f"/layer{number + 1}/{block}", 2 if block == 0 and number > 0 else 1
            y = net.node("Relu", f"{name}/Relu", conv(f"{name}/conv1", x, channels, width, 3, stride))
            y = conv(f"{name}/conv2", y, width, width, 3, 1)
            if stride != 1:
                x = conv(f"{name}/downsample", x, channels, width, 1, stride)
            x, channels = net.node("Relu", f"{name}/Relu_1", net.node("Add", f"{name}/Add", y, x)), width
    x = net.node("Flatten", "/Flatten", net.node("GlobalAveragePool", "/pool/GlobalAveragePool", x))
    x = net.node("MatMul", "/fc/MatMul", x, net.weight("fc.w", channels, 100))
    return net.model((1, 3, size, size), TensorProto.FLOAT, x, (1, 100))


def encoder(layers: int = 6, width: int = 384, heads: int = 12, length: int = 32) -> onnx.ModelProto:
    """Returns an encoder of sentences, by default with the layers of MiniLM (Wang et al., 2020)."""
    net, depth = Net(1), width // heads
    x = net.node("Gather", "/embeddings/Gather", net.weight("words", 1000, width), "x")
    split = net.numbers("split", 1, length, heads, depth)
    joined = net.numbers("joined", 1, length, width)

    def dense(name: str, x: str, rows: int, columns: int) -> str:
        product = net.node("MatMul", f"{name}/MatMul", x, net.weight(f"{name}.w", rows, columns))
        return net.node("Add", f"{name}/Add", product, net.weight(f"{name}.b", columns))

    def normal(name: str, x: str) -> str:
        scale, shift = net.weight(f"{name}.scale", width), net.weight(f"{name}.shift", width)
        return net.node("LayerNormalization", f"{name}/LayerNormalization", x, scale, shift)

    for number in range(layers):
        name = f"/encoder/layer.{number}"
        parts = [
            net.node(
                "Transpose",
                f"{name}/attention/{part}/Transpose",
                net.node(
                    "Reshape",
                    f"{name}/attention/{part}/Reshape",
                    dense(f"{name}/attention/{part}", x, width, width),
                    split,
                ),
                perm=[0, 2, 3, 1] if part == "key" else [0, 2, 1, 3],
            )
            for part in ("query", "key", "value")
        ]
        scores = net.node("MatMul", f"{name}/attention/MatMul", parts[0], parts[1])
        scores = net.node("Softmax", f"{name}/attention/Softmax", scores, axis=-1)
        y = net.node("MatMul", f"{name}/attention/MatMul_1", scores, parts[2])
        y = net.node("Transpose", f"{name}/attention/Transpose", y, perm=[0, 2, 1, 3])
        y = net.node("Reshape", f"{name}/attention/Reshape", y, joined)
        y = dense(f"{name}/attention/output", y, width, width)
        x = normal(f"{name}/attention/norm", net.node("Add", f"{name}/attention/Add", y, x))
        y = net.node("Relu", f"{name}/ffn/Relu", dense(f"{name}/ffn/up", x, width, 4 * width))
        y = dense(f"{name}/ffn/down", y, 4 * width, width)
        x = normal(f"{name}/ffn/norm", net.node("Add", f"{name}/ffn/Add", y, x))
    return net.model((1, length), TensorProto.INT64, x, (1, length, width))
