"""D3: a transformer with dynamic batch and sequence length runs at five shapes as the evaluator of onnx says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

Array = np.ndarray[Any, Any]

WIDTH, HEADS, WORDS, PLACES, LAYERS = 24, 3, 50, 40, 2
SHAPES = ((1, 1), (2, 5), (4, 8), (1, 33), (3, 17))


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> NodeProto:
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def layer(at: str, source: str, target: str) -> list[NodeProto]:
    """
    Attention over the heads of `source`, and a feed-forward network, each with a sum and a normalisation after it.
    """

    def heads(name: str) -> list[NodeProto]:
        """As exporters write it: batch and length are taken from the shape of the input."""
        return [
            node("MatMul", f"{source} {at}_w{name}", f"{at}_{name}0"),
            node("Concat", "batch length heads size", f"{at}_{name}s", axis=0),
            node("Reshape", f"{at}_{name}0 {at}_{name}s", f"{at}_{name}1"),
            node(
                "Transpose",
                f"{at}_{name}1",
                f"{at}_{name}",
                perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3],
            ),
        ]

    return [
        *heads("q"),
        *heads("k"),
        *heads("v"),
        node("MatMul", f"{at}_q {at}_k", f"{at}_scores"),
        node("Mul", f"{at}_scores scale", f"{at}_scaled"),
        node("Add", f"{at}_scaled mask", f"{at}_masked"),
        node("Softmax", f"{at}_masked", f"{at}_shares", axis=-1),
        node("MatMul", f"{at}_shares {at}_v", f"{at}_mixed"),
        node("Transpose", f"{at}_mixed", f"{at}_rows", perm=[0, 2, 1, 3]),
        node("Concat", "batch length left", f"{at}_joined", axis=0),
        node("Reshape", f"{at}_rows {at}_joined", f"{at}_a"),
        node("MatMul", f"{at}_a {at}_wo", f"{at}_o"),
        node("Add", f"{at}_o {source}", f"{at}_sum"),
        node("LayerNormalization", f"{at}_sum {at}_g {at}_b", f"{at}_n"),
        node("MatMul", f"{at}_n {at}_w1", f"{at}_h"),
        node("Gelu", f"{at}_h", f"{at}_e"),
        node("MatMul", f"{at}_e {at}_w2", f"{at}_f"),
        node("Add", f"{at}_f {at}_n", f"{at}_last"),
        node("LayerNormalization", f"{at}_last {at}_g {at}_b", target),
    ]


def transformer() -> ModelProto:
    """Word and place embeddings, a mask of the past, layers, and a classifier of the last word."""
    random = np.random.default_rng(0)

    def weights(*shape: int) -> Array:
        return (random.standard_normal(shape) * 0.3).astype(np.float32)

    known: dict[str, Any] = {
        "words": weights(WORDS, WIDTH),
        "places": weights(PLACES, WIDTH),
        "classes": weights(WIDTH, 7),
        "scale": np.array((WIDTH / HEADS) ** -0.5, np.float32),
        "low": np.array([-1e4], np.float32),
        "none": np.zeros(1, np.float32),
        "zero": np.array(0),
        "one": np.array(1),
        "last": np.array(-1),
        "heads": np.array([HEADS]),
        "size": np.array([WIDTH // HEADS]),
        "left": np.array([-1]),
        "first": np.array([0]),
    }
    nodes = [
        node("Shape", "ids", "batch", start=0, end=1),
        node("Shape", "ids", "length", start=1, end=2),
        node("Squeeze", "length first", "count"),
        node("Range", "zero count one", "positions"),
        node("Gather", "words ids", "meaning"),
        node("Gather", "places positions", "order"),
        node("Add", "meaning order", "x0"),
        node("Concat", "length length", "square", axis=0),
        node("ConstantOfShape", "square", "ones"),
        node("Add", "ones low", "all"),
        node("Trilu", "all one", "mask", upper=1),
    ]
    for number in range(LAYERS):
        at = f"l{number}"
        nodes += layer(at, f"x{number}", f"x{number + 1}")
        known |= {f"{at}_w{name}": weights(WIDTH, WIDTH) for name in "qkvo"}
        known |= {f"{at}_w1": weights(WIDTH, 2 * WIDTH), f"{at}_w2": weights(2 * WIDTH, WIDTH)}
        known |= {f"{at}_g": 1 + weights(WIDTH), f"{at}_b": weights(WIDTH)}
    nodes += [node("Gather", f"x{LAYERS} last", "word", axis=1), node("MatMul", "word classes", "logits")]
    graph = helper.make_graph(
        nodes,
        "transformer",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "sequence"])],
        [
            helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 7]),
            helper.make_tensor_value_info(f"x{LAYERS}", TensorProto.FLOAT, ["batch", "sequence", WIDTH]),
        ],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in known.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


@pytest.mark.ci_cases(0)
def test_a_transformer_runs_at_five_shapes() -> None:
    proto = transformer()
    exe = stepwell.compile(stepwell.from_onnx(proto), opt_level=2)
    evaluator = ReferenceEvaluator(proto)
    random = np.random.default_rng(1)
    for batch, length in SHAPES:
        ids = random.integers(0, WORDS, (batch, length))
        expected = evaluator.run(None, {"ids": ids})
        for found, wanted in zip(exe(ids), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)
    assert [each.shapes for each in exe.specialisations] == [(shape,) for shape in SHAPES]


def test_shapes_of_the_transformer_are_followed_at_import() -> None:
    """Only batch and sequence are `?`; what is reshaped keeps the heads and the width."""
    text = str(stepwell.from_onnx(transformer()))
    assert text.count("-> tensor<?x?x3x8xf32>") == 4 * LAYERS
    assert text.count("graph.dynamic_reshape") == 4 * LAYERS
    assert 'stepwell.dims = ["batch", "sequence"]' in text
    assert "-> (tensor<?x7xf32>" in text and "tensor<?x?x24xf32> {stepwell.name" in text
