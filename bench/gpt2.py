"""
Writes a GPT-2 with random weights and external data: `python bench/gpt2.py FOLDER`, 774 M parameters by default.

bench/models.py measures the file. It has the operators that exporters write, one input `ids`, and all words' logits.
"""

from __future__ import annotations

import argparse
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import onnx
from onnx import TensorProto, helper

VOCABULARY, POSITIONS = 50257, 1024
BLOCK = 1 << 24
"""Random numbers that are drawn. Tensors are pieces of them, from different places."""


class Writer:
    """Collects nodes, and initialisers whose data goes to a file at once."""

    def __init__(self, data: BinaryIO, location: str):
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []
        self._data, self._location = data, location
        self._random = np.random.default_rng(0).standard_normal(BLOCK, np.float32)

    def add(self, op: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        """Adds a node, and returns the name of its result, or the start of the names of several."""
        name = f"v{len(self.nodes)}"
        names = [name] if outputs == 1 else [f"{name}_{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return name

    def constant(self, array: np.ndarray[Any, Any]) -> str:
        """Adds a small initialiser, which is inside of the model."""
        name = f"c{len(self.tensors)}"
        self.tensors.append(onnx.numpy_helper.from_array(array, name))
        return name

    def weight(self, name: str, *shape: int, scale: float = 0.02, shift: float = 0.0) -> str:
        """Adds an initialiser of random numbers."""
        count, begin = prod(shape), self._data.seek(0, 2)
        left = count
        while left:
            start = (len(self.tensors) * 7919 + left) % (BLOCK // 2)
            piece = self._random[start : start + min(left, BLOCK // 2)] * np.float32(scale) + np.float32(shift)
            piece.tofile(self._data)
            left -= piece.size
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
        for key, value in {"location": self._location, "offset": begin, "length": count * 4}.items():
            tensor.external_data.add(key=key, value=str(value))
        self._data.write(bytes(-self._data.tell() % 4096))
        self.tensors.append(tensor)
        return name


def norm(w: Writer, x: str, name: str, width: int) -> str:
    scale, bias = w.weight(f"{name}.weight", width, shift=1.0), w.weight(f"{name}.bias", width)
    return w.add("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-5)


def linear(w: Writer, x: str, name: str, rows: int, columns: int) -> str:
    product = w.add("MatMul", x, w.weight(f"{name}.weight", rows, columns))
    return w.add("Add", product, w.weight(f"{name}.bias", columns))


def layer(w: Writer, x: str, name: str, words: int, width: int, heads: int, mask: str) -> str:
    joined = linear(w, norm(w, x, f"{name}.ln_1", width), f"{name}.attn.c_attn", width, 3 * width)
    parts = w.add("Split", joined, outputs=3, axis=-1, num_outputs=3)
    split = w.constant(np.array([1, words, heads, width // heads]))
    query, key, value = (
        w.add("Transpose", w.add("Reshape", f"{parts}_{k}", split), perm=perm)
        for k, perm in enumerate(([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    )
    scores = w.add("Mul", w.add("MatMul", query, key), w.constant(np.array((width // heads) ** -0.5, np.float32)))
    seen = w.add("Softmax", w.add("Add", scores, mask), axis=-1)
    mixed = w.add("Transpose", w.add("MatMul", seen, value), perm=[0, 2, 1, 3])
    mixed = w.add("Reshape", mixed, w.constant(np.array([1, words, width])))
    x = w.add("Add", x, linear(w, mixed, f"{name}.attn.c_proj", width, width))
    wide = linear(w, norm(w, x, f"{name}.ln_2", width), f"{name}.mlp.c_fc", width, 4 * width)
    bent = w.add("Gelu", wide, approximate="tanh")
    return w.add("Add", x, linear(w, bent, f"{name}.mlp.c_proj", 4 * width, width))


def write(folder: Path, layers: int, width: int, heads: int, words: int) -> Path:
    """Writes model and data, and returns the path of the model."""
    path = folder / f"gpt2_{layers}x{width}.onnx"
    with open(path.with_suffix(".data"), "wb") as data:
        w = Writer(data, path.with_suffix(".data").name)
        table = w.weight("wte.weight", VOCABULARY, width)
        places = w.weight("wpe.weight", POSITIONS, width)
        x = w.add("Add", w.add("Gather", table, "ids"), w.add("Gather", places, w.constant(np.arange(words)[None])))
        mask = w.constant(np.triu(np.full((words, words), np.float32(-1e9)), 1)[None, None])
        for number in range(layers):
            x = layer(w, x, f"h.{number}", words, width, heads, mask)
        w.add("MatMul", norm(w, x, "ln_f", width), w.add("Transpose", table, perm=[1, 0]))
    w.nodes[-1].output[0] = "logits"
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, [1, words])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, words, VOCABULARY])
    graph = helper.make_graph(w.nodes, "gpt2", [ids], [logits], w.tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for name, number in (("layers", 36), ("width", 1280), ("heads", 20), ("words", 64)):
        parser.add_argument(f"--{name}", type=int, default=number)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print(write(options.folder, options.layers, options.width, options.heads, options.words))


if __name__ == "__main__":
    main()
