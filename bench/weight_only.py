"""
Products with weights packed by block, ours beside MatMulNBits of onnxruntime, and beside a loop that reads the weights.

`python bench/weight_only.py [--only REGEX] [--rounds 15] [--layers 14]`

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
    parser.add_argument("--json", type=new_file)
    options = parser.parse_args()
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
