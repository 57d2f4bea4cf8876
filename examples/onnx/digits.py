"""
Writes `digits.onnx`: the trained digit classifier of examples/mnist_mlp, with an operator that ONNX does not have.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WEIGHTS = Path(__file__).parents[1] / "mnist_mlp" / "mnist_mlp_784_128_10.npz"


def main() -> None:
    with np.load(WEIGHTS) as file:
        tensors = [numpy_helper.from_array(file[name], name) for name in ("w0", "b0", "w1", "b1")]
    nodes = [
        helper.make_node("Flatten", ["images"], ["pixels"], name="flatten"),
        helper.make_node("Gemm", ["pixels", "w0", "b0"], ["hidden"], name="layer0", transB=1),
        helper.make_node("Bend", ["hidden"], ["bent"], name="bend", domain="com.acme", floor=0.0),
        helper.make_node("Gemm", ["bent", "w1", "b1"], ["logits"], name="layer1", transB=1),
        helper.make_node("ArgMax", ["logits"], ["digits"], name="best", axis=1, keepdims=0),
    ]
    images = helper.make_tensor_value_info("images", TensorProto.FLOAT, ["batch", 28, 28])
    digits = helper.make_tensor_value_info("digits", TensorProto.INT64, ["batch"])
    graph = helper.make_graph(nodes, "digits", [images], [digits], tensors)
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.acme", 1)]
    onnx.save_model(helper.make_model(graph, opset_imports=opsets, ir_version=9), "digits.onnx")


if __name__ == "__main__":
    main()
