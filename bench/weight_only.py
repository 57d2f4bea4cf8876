"""
Products with weights packed by block, ours beside MatMulNBits of onnxruntime, and beside a loop that reads the weights.

`python bench/weight_only.py [--only REGEX] [--rounds 15] [--layers 14] [--decoder]`

The cases are those of `quantised.json`. The layers of a case follow each other in one model, so that each reads its
weights from memory. One thread, processor time, engines and loop in turn in one process; ratios are of the least times.
`level` is `accuracy_level` of MatMulNBits: 0 for activations in f32, 4 for activations in 8 bits. Errors are the root
mean square against an evaluation in f64, of that of the result, for the first layer alone.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from suite.arguments import new_file, positive
from suite.roof import native, stream_text, vector_lanes

CASES: dict[str, Any] = json.loads((Path(__file__).parent / "quantised.json").read_text(encoding="utf-8"))[
    "weight_only"
]
"""The fixed list of cases, and what is to be reached."""

DOMAIN = "com.microsoft"


class Layer:
    """The packed weights of one linear layer, as MatMulNBits takes them."""

    def __init__(self, random: np.random.Generator, inputs: int, outputs: int, bits: int, block: int):
        self.inputs, self.outputs, self.bits, self.block = inputs, outputs, bits, block
        blocks = -(-inputs // block)
        self.packed = random.integers(0, 256, (outputs, blocks, block * bits // 8), np.uint8)
        spread = (2**bits / 3.5) * np.sqrt(inputs)  # Results are about as large as inputs.
        self.scales = ((0.75 + random.random((outputs, blocks)) / 2) / spread).astype(np.float32)

    @property
    def bytes(self) -> int:
        return self.packed.nbytes + self.scales.nbytes

    def exact(self) -> np.ndarray[Any, Any]:
        """Returns the weights in f64, one row per output."""
        numbers = self.packed
        if self.bits == 4:
            numbers = np.stack([numbers & 15, numbers >> 4], axis=-1).reshape(*numbers.shape[:2], -1)
        steps = numbers.astype(np.float64) - 2 ** (self.bits - 1)
        return (steps * self.scales[..., None]).reshape(self.outputs, -1)[:, : self.inputs]


def model_of(layers: list[Layer], rows: int, level: int) -> bytes:
    """Returns a model in which layer follows layer."""
    nodes, tensors = [], []
    for number, layer in enumerate(layers):
        names = [f"w{number}", f"s{number}"]
        for name, array in zip(names, (layer.packed, layer.scales.ravel()), strict=True):
            tensors.append(numpy_helper.from_array(array, name))
        nodes.append(
            helper.make_node(
                "MatMulNBits",
                [f"x{number}", *names],
                [f"x{number + 1}"],
                domain=DOMAIN,
                K=layer.inputs,
                N=layer.outputs,
                bits=layer.bits,
                block_size=layer.block,
                accuracy_level=level,
            )
        )
    first, last = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [rows, width])
        for name, width in (("x0", layers[0].inputs), (f"x{len(layers)}", layers[-1].outputs))
    )
    graph = helper.make_graph(nodes, "linear", [first], [last], tensors)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


class Decoder:
    """One step of a decoder as an ONNX model: layers of attention to cached positions, and of a network with GELU."""

    def __init__(self, bits: int | None, shape: dict[str, int]):
        self.bits, self.width, self.heads = bits, shape["width"], shape["heads"]
        self.cached, self.random = shape["cached"], np.random.default_rng(1)
        self.nodes: list[Any] = []
        self.tensors: list[Any] = []
        x = "x"
        for _ in range(shape["layers"]):
            x = self.add("Add", x, self.attention(self.normed(x)))
            hidden = self.add("Gelu", self.linear(self.normed(x), self.width, 4 * self.width))
            x = self.add("Add", x, self.linear(hidden, 4 * self.width, self.width))
        self.last = x

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def constant(self, array: np.ndarray[Any, Any]) -> str:
        name = f"c{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(array, name))
        return name

    def normed(self, x: str) -> str:
        scale, shift = (self.constant(np.full(self.width, value, np.float32)) for value in (1, 0))
        return self.add("LayerNormalization", x, scale, shift, axis=-1)

    def linear(self, x: str, inputs: int, outputs: int) -> str:
        if self.bits is None:
            weights = self.random.standard_normal((inputs, outputs)) / np.sqrt(inputs)
            return self.add("MatMul", x, self.constant(weights.astype(np.float32)))
        layer = Layer(self.random, inputs, outputs, self.bits, 32)
        names = (self.constant(layer.packed), self.constant(layer.scales.ravel()))
        shape = {"K": inputs, "N": outputs, "bits": self.bits, "block_size": 32}
        return self.add("MatMulNBits", x, *names, domain=DOMAIN, **shape)

    def attention(self, x: str) -> str:
        size = self.width // self.heads
        split = self.constant(np.array([1, self.heads, 1, size], np.int64))
        query, key, value = (self.add("Reshape", self.linear(x, self.width, self.width), split) for _ in range(3))
        keys, values = (
            self.add("Concat", self.constant(self.drawn(1, self.heads, self.cached, size)), each, axis=2)
            for each in (key, value)
        )
        scores = self.add("MatMul", query, self.add("Transpose", keys, perm=[0, 1, 3, 2]))
        scaled = self.add("Mul", scores, self.constant(np.array(size**-0.5, np.float32)))
        mixed = self.add("MatMul", self.add("Softmax", scaled, axis=-1), values)
        flat = self.add("Reshape", mixed, self.constant(np.array([1, self.width], np.int64)))
        return self.linear(flat, self.width, self.width)

    def drawn(self, *shape: int) -> np.ndarray[Any, Any]:
        return self.random.standard_normal(shape).astype(np.float32)

    def model(self) -> bytes:
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, self.width]) for name in ("x", self.last)]
        graph = helper.make_graph(self.nodes, "decoder", infos[:1], infos[1:], self.tensors)
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid(DOMAIN, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def decoder(rounds: int) -> None:
    """Prints the time of one step with each type of weights."""
    print("| weights of the decoder | ours ms | onnxruntime ms | ratio | difference |")
    print("|---|---|---|---|---|")
    for name in CASES["decoder"]["weights"]:
        made = Decoder({"f32": None, "int8": 8, "int4": 4}[name], CASES["decoder"])
        model, arrays = made.model(), {"x": made.drawn(1, made.width)}
        calls = {"ours": stepwell_call(model, arrays), "theirs": onnxruntime_call(model, arrays)}
        difference = error_of(calls["ours"], np.asarray(calls["theirs"]()[0], np.float64))
        times = least_times(calls, rounds)
        ours, theirs = (1e3 * times[each] for each in calls)
        print(f"| {name} | {ours:.3f} | {theirs:.3f} | {theirs / ours:.2f} | {difference:.0e} |", flush=True)


def onnxruntime_call(model: bytes, arrays: dict[str, Any]) -> Callable[[], Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, arrays)


def stepwell_call(model: bytes, arrays: dict[str, Any]) -> Callable[[], Any]:
    import stepwell

    executable = stepwell.compile_onnx(onnx.load_from_string(model), threads=1, tuning=False).specialised(
        *arrays.values()
    )
    return lambda: executable(*arrays.values())


def reading_call(size: int) -> Callable[[], Any]:
    """Returns a call that reads so many bytes."""
    lanes = vector_lanes()
    source, target = np.ones(size // 4 + 64, np.float32), np.zeros(64, np.float32)
    starts = [-array.ctypes.data % 64 + array.ctypes.data for array in (source, target)]
    engine, address = native(stream_text(lanes, size // (4 * lanes), 1), "stream")
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)

    def call() -> tuple[Any, ...]:
        function(*starts)
        return engine, source, target

    return call


def least_times(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Returns the least processor time of each call, all in turn."""
    times: dict[str, float] = {}
    for _ in range(rounds + 1):
        for name, call in calls.items():
            start = time.process_time()
            call()
            times[name] = min(times.get(name, np.inf), time.process_time() - start)
    return times


def error_of(call: Callable[[], Any], wanted: np.ndarray[Any, Any]) -> float:
    """Returns the root mean square of the error of the first result, of that of `wanted`."""
    found = np.asarray(call()[0], np.float64)
    return float(np.sqrt(np.mean((found - wanted) ** 2) / np.mean(wanted**2)))


def linear(case: dict[str, int], rows: int, options: argparse.Namespace) -> dict[str, Any]:
    """Measures one case."""
    random, shape = np.random.default_rng(0), CASES["linear"]
    layers = [
        Layer(random, shape["inputs"], shape["outputs"], case["bits"], case["block"]) for _ in range(options.layers)
    ]
    arrays = {"x0": random.standard_normal((rows, shape["inputs"])).astype(np.float32)}
    makers = {"stepwell": stepwell_call, "onnxruntime": onnxruntime_call}
    wanted = arrays["x0"].astype(np.float64) @ layers[0].exact().T
    errors = {
        name: error_of(make(model_of(layers[:1], rows, case["level"]), arrays), wanted) for name, make in makers.items()
    }
    model = model_of(layers, rows, case["level"])
    calls = {name: make(model, arrays) for name, make in makers.items()}
    size = sum(layer.bytes for layer in layers)
    times = least_times({"read": reading_call(size), **calls}, options.rounds)
    return {
        "case": "int{bits} block {block} level {level}".format(**case),
        "rows": rows,
        "ms": {name: 1e3 * seconds / len(layers) for name, seconds in times.items()},
        "of_reading": times["read"] / times["stepwell"],
        "ratio": times["onnxruntime"] / times["stepwell"],
        "errors": errors,
        "gigabytes": size / times["read"] / 1e9,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().splitlines()[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose names and rows match")
    parser.add_argument("--rounds", type=positive, default=15)
    parser.add_argument("--layers", type=positive, default=CASES["linear"]["layers"])
    parser.add_argument("--decoder", action="store_true", help="one step of a decoder instead of single layers")
    parser.add_argument("--json", type=new_file)
    options = parser.parse_args()
    if options.decoder:
        decoder(options.rounds)
        return
    rows: list[dict[str, Any]] = []
    print("| case | rows | read ms | ours ms | onnxruntime ms | of reading | ratio | our error | its error |")
    print("|---|---|---|---|---|---|---|---|---|")
    for case in CASES["weights"]:
        for count in CASES["linear"]["rows"]:
            name = "int{bits} block {block} level {level} rows {rows}".format(**case, rows=count)
            if not re.search(options.only, name):
                continue
            rows.append(linear(case, count, options))
            print(text_of(rows[-1]), flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def text_of(row: dict[str, Any]) -> str:
    """Returns a line of the table."""
    times = [f"{row['ms'][name]:.3f}" for name in ("read", "stepwell", "onnxruntime")]
    errors = [f"{row['errors'][name]:.1e}" for name in ("stepwell", "onnxruntime")]
    cells = [row["case"], str(row["rows"]), *times, f"{row['of_reading']:.2f}", f"{row['ratio']:.2f}", *errors]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
