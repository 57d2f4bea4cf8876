"""A small language model with weights of 4 bits, in the form that onnxruntime-genai's builder writes."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

Array = Any
DOMAIN = "com.microsoft"
WORDS, WIDTH, HEADS, SHARED, SIZE, BLOCK = 48, 64, 4, 2, 16, 32


class Decoder:
    """Collects nodes and weights of a model of `layers` layers. `windows` are those of the layers, -1 for none."""

    def __init__(self, layers: int, windows: tuple[int, ...] = ()):
        self.random = np.random.default_rng(5)
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self.layers, self.windows = layers, windows or (-1,) * layers

    def weight(self, name: str, array: Array) -> str:
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def node(self, operator: str, inputs: list[str], outputs: list[str], domain: str = DOMAIN, **options: Any) -> str:
        self.nodes.append(helper.make_node(operator, inputs, outputs, name=outputs[0], domain=domain, **options))
        return outputs[0]

    def packed(self, name: str, rows: int, columns: int) -> list[str]:
        blocks = columns // BLOCK
        numbers = self.random.integers(0, 256, (rows, blocks, BLOCK // 2), np.uint8)
        scales = (0.5 + self.random.random((rows, blocks))) / 40
        return [self.weight(f"{name}_Q4", numbers), self.weight(f"{name}_scales", scales.astype(np.float32))]

    def linear(self, x: str, name: str, rows: int, columns: int) -> str:
        inputs = [x, *self.packed(name, rows, columns)]
        return self.node("MatMulNBits", inputs, [name], K=columns, N=rows, bits=4, block_size=BLOCK)

    def norm(self, name: str) -> str:
        return self.weight(name, (1 + self.random.standard_normal(WIDTH) / 9).astype(np.float32))

    def model(self) -> Any:
        """Returns the model, whose inputs and outputs have the names of the builder."""
        self._places()
        table, scales = self.packed("embedding", WORDS, WIDTH)
        flat = numpy_helper.to_array(self.weights[-2]).reshape(WORDS, WIDTH // 2)
        self.weights[-2] = numpy_helper.from_array(flat, table)
        inputs = [table, "input_ids", scales]
        x = self.node("GatherBlockQuantized", inputs, ["embedded"], bits=4, block_size=BLOCK, quantize_axis=1)
        normal = self.node("SimplifiedLayerNormalization", [x, self.norm("norm")], ["normal"], "", epsilon=1e-6)
        for layer in range(self.layers):
            x, normal = self._layer(layer, x, normal)
        self.linear(normal, "logits", WORDS, WIDTH)
        return self._finished()

    def _places(self) -> None:
        one = self.weight("one", np.array([1], np.int64))
        summed = self.node("ReduceSum", ["attention_mask", one], ["summed"], "", keepdims=0)
        self.node("Sub", [summed, one], ["last"], "")
        self.node("Cast", ["last"], ["seqlens_k"], "", to=TensorProto.INT32)
        self.node("Shape", ["attention_mask"], ["mask_shape"], "")
        index = self.weight("index", np.array(1, np.int64))
        self.node("Gather", ["mask_shape", index], ["length"], "", axis=0)
        self.node("Cast", ["length"], ["total_sequence_length"], "", to=TensorProto.INT32)
        angles = np.arange(128)[:, None] * 100.0 ** -(np.arange(SIZE // 2) / (SIZE // 2))
        self.weight("cos_cache", np.cos(angles).astype(np.float32))
        self.weight("sin_cache", np.sin(angles).astype(np.float32))

    def _layer(self, layer: int, x: str, normal: str) -> tuple[str, str]:
        at = f"layers.{layer}"
        qkv = self.linear(normal, f"{at}.qkv", (HEADS + 2 * SHARED) * SIZE, WIDTH)
        past = [f"past_key_values.{layer}.{what}" for what in ("key", "value")]
        present = [f"present.{layer}.{what}" for what in ("key", "value")]
        places = ["seqlens_k", "total_sequence_length", "cos_cache", "sin_cache"]
        options = {"num_heads": HEADS, "kv_num_heads": SHARED, "do_rotary": 1}
        window = self.windows[layer]
        options |= {"local_window_size": window, "sliding_window_cache": int(window > 0)}
        inputs = [qkv, "", "", *past, *places]
        seen = self.node("GroupQueryAttention", inputs, [f"{at}.attention", *present], **options)
        x, normal = self._residual(x, self.linear(seen, f"{at}.o", WIDTH, HEADS * SIZE), f"{at}.post")
        gate, up = (self.linear(normal, f"{at}.{what}", 96, WIDTH) for what in ("gate", "up"))
        sigmoid = self.node("Sigmoid", [gate], [f"{at}.sigmoid"], "")
        silu = self.node("Mul", [gate, sigmoid], [f"{at}.silu"], "")
        self.node("Mul", [silu, up], [f"{at}.product"], "")
        return self._residual(x, self.linear(f"{at}.product", f"{at}.down", WIDTH, 96), f"{at}.next")

    def _residual(self, x: str, y: str, name: str) -> tuple[str, str]:
        outputs = [f"{name}.normal", "", "", f"{name}.sum"]
        inputs = [x, y, self.norm(f"{name}.norm")]
        return f"{name}.sum", self.node("SkipSimplifiedLayerNormalization", inputs, outputs, epsilon=1e-6)

    def _finished(self) -> Any:
        number, real = TensorProto.INT64, TensorProto.FLOAT
        inputs = [
            helper.make_tensor_value_info("input_ids", number, ["batch_size", "sequence_length"]),
            helper.make_tensor_value_info("attention_mask", number, ["batch_size", "total_sequence_length"]),
        ]
        outputs = [helper.make_tensor_value_info("logits", real, ["batch_size", "sequence_length", WORDS])]
        for layer in range(self.layers):
            for what in ("key", "value"):
                room = ["batch_size", SHARED, f"past_{layer}", SIZE]
                inputs.append(helper.make_tensor_value_info(f"past_key_values.{layer}.{what}", real, room))
                room = ["batch_size", SHARED, f"present_{layer}", SIZE]
                outputs.append(helper.make_tensor_value_info(f"present.{layer}.{what}", real, room))
        graph = helper.make_graph(self.nodes, "decoder", inputs, outputs, self.weights)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid(DOMAIN, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)
