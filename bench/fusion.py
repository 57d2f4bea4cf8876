"""
Measures what fusion is worth: microseconds per call of small networks with and without `plan-fusion,apply-fusion-plan`.

Rounds alternate between the pipelines in one process on one thread, whose processor time counts; ratios are medians of
the per-round ratios, and above 1 the fused program is faster.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import stepwell
from stepwell.core import make_context, run_pipeline

EXACT = "eliminate-common-subexpr,simplify-expr,fold-constant,eliminate-common-subexpr,eliminate-dead-code"
PIPELINES = {
    "unfused": f"{EXACT},fuse-ewise-fma,remove-unused-functions,finish",
    "matmul-add": f"{EXACT},fuse-ewise-fma,fuse-matmul-add,remove-unused-functions,finish",
    "rules": f"{EXACT},fuse-ewise-fma,plan-fusion,apply-fusion-plan,remove-unused-functions,finish",
}


class Text:
    """A function written op by op, `t.op("add", a, b)`. Result types are inferred."""

    def __init__(self, **arguments: tuple[int, ...]):
        self.types = {
            name: "tensor<" + "".join(f"{size}x" for size in shape) + "f32>" for name, shape in arguments.items()
        }
        self.shapes = arguments
        self.lines: list[str] = []
        self.result = ""

    def op(self, name: str, *operands: str, **properties: Any) -> str:
        """Adds an op, and returns the name of its result."""
        result = f"v{len(self.lines)}"
        given = "".join(f", {key} = {_text(value)}" for key, value in properties.items())
        types = ", ".join(self.types[operand] for operand in operands)
        uses = ", ".join(f"%{operand}" for operand in operands)
        line = f"%{result} = graph.{name} {uses}{given} : ({types})"
        self.lines.append(line)
        self.types[result] = _result_type(self, line, result)
        return result

    def full(self, number: float) -> str:
        """A scalar constant."""
        result = f"v{len(self.lines)}"
        self.lines.append(f"%{result} = graph.constant dense<{number:.9e}> : tensor<f32>")
        self.types[result] = "tensor<f32>"
        return result

    def program(self, *results: str) -> str:
        """The whole function."""
        arguments = ", ".join(f"%{name}: {self.types[name]}" for name in self.shapes)
        types = ", ".join(self.types[name] for name in results)
        uses = ", ".join(f"%{name}" for name in results)
        body = "\n  ".join(self.lines)
        return f"func.func @main({arguments}) -> ({types}) {{\n  {body}\n  func.return {uses} : {types}\n}}\n"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _result_type(text: Text, line: str, result: str) -> str:
    arguments = ", ".join(f"%{name}: {text.types[name]}" for name in text.shapes)
    body = "\n".join(text.lines)
    module = stepwell.parse(f"func.func @main({arguments}) {{\n{body}\nfunc.return\n}}")
    return next(str(value.type) for op in module.walk() for value in op.results if value.name_hint == result)


def softmax(rows: int, columns: int) -> Text:
    t = Text(x=(rows, columns))
    t.result = t.op("softmax", "x")
    return t


def softmax_elementary(rows: int, columns: int) -> Text:
    t = Text(x=(rows, columns))
    top = t.op("max", "x", axis=[1], keepdims=True)
    e = t.op("exp", t.op("subtract", "x", top))
    t.result = t.op("divide", e, t.op("sum", e, axis=[1], keepdims=True))
    return t


def layer_norm(rows: int, columns: int) -> Text:
    t = Text(x=(rows, columns), gamma=(columns,), beta=(columns,))
    t.result = t.op("layer_norm", "x", "gamma", "beta")
    return t


def layer_norm_elementary(rows: int, columns: int) -> Text:
    t = Text(x=(rows, columns), gamma=(columns,), beta=(columns,))
    d = t.op("subtract", "x", t.op("mean", "x", axis=[1], keepdims=True))
    v = t.op("mean", t.op("square", d), axis=[1], keepdims=True)
    r = t.op("sqrt", t.op("add", v, t.full(1e-5)))
    t.result = t.op("add", t.op("multiply", t.op("divide", d, r), "gamma"), "beta")
    return t


def gelu_parts(t: Text, x: str) -> str:
    inner = t.op("multiply", x, t.full(0.7071067811865476))
    outer = t.op("add", t.op("erf", inner), t.full(1.0))
    return t.op("multiply", t.op("multiply", x, t.full(0.5)), outer)


def bias_gelu(rows: int, columns: int) -> Text:
    t = Text(x=(rows, columns), b=(columns,))
    t.result = t.op("gelu", t.op("add", "x", "b"))
    return t


def bias_gelu_elementary(rows: int, columns: int) -> Text:
    t = Text(x=(rows, columns), b=(columns,))
    t.result = gelu_parts(t, t.op("add", "x", "b"))
    return t


def matmul_bias_relu(m: int, n: int, k: int) -> Text:
    t = Text(x=(m, k), w=(k, n), b=(n,))
    t.result = t.op("relu", t.op("add", t.op("matmul", "x", "w"), "b"))
    return t


def mlp(batch: int) -> Text:
    t = Text(x=(batch, 784), w0=(784, 128), b0=(128,), w1=(128, 10), b1=(10,))
    h = t.op("relu", t.op("add", t.op("matmul", "x", "w0"), "b0"))
    t.result = t.op("softmax", t.op("add", t.op("matmul", h, "w1"), "b1"))
    return t


def conv_bn_relu(size: int, channels: int) -> Text:
    t = Text(x=(1, channels, size, size), w=(channels, channels, 3, 3), s=(channels, 1, 1), o=(channels, 1, 1))
    y = t.op("conv2d", "x", "w", padding=[1, 1, 1, 1])
    t.result = t.op("relu", t.op("add", t.op("multiply", y, "s"), "o"))
    return t


def chain(rows: int, columns: int) -> Text:
    t = Text(x=(rows, columns), y=(rows, columns))
    v = "x"
    for name in ("add", "multiply", "subtract", "maximum") * 3:
        v = t.op(name, v, "y")
    t.result = t.op("tanh", v)
    return t


def exp_of_transposed(rows: int, columns: int) -> Text:
    t = Text(x=(rows, columns))
    t.result = t.op("exp", t.op("permute_dims", "x", axes=[1, 0]))
    return t


def transposed_exp(rows: int, columns: int) -> Text:
    t = Text(x=(rows, columns))
    t.result = t.op("permute_dims", t.op("exp", "x"), axes=[1, 0])
    return t


def concat_of_gelu(rows: int, columns: int) -> Text:
    t = Text(x=(rows, columns), y=(rows, columns))
    t.result = t.op("concat", t.op("gelu", "x"), t.op("tanh", "y"), axis=1)
    return t


def gelu_of_concat(rows: int, columns: int) -> Text:
    t = Text(x=(rows, columns), y=(rows, columns))
    t.result = t.op("gelu", t.op("concat", "x", "y", axis=1))
    return t


def sum_of_exp(rows: int, columns: int, axis: int) -> Text:
    t = Text(x=(rows, columns))
    t.result = t.op("sum", t.op("exp", "x"), axis=[axis])
    return t


def exp_of_slice(rows: int, columns: int) -> Text:
    t = Text(x=(rows, columns))
    t.result = t.op("exp", t.op("strided_slice", "x", axes=[1], begin=[1], end=[columns], strides=[2]))
    return t


def outer_tanh(rows: int, columns: int) -> Text:
    t = Text(x=(rows, 1), y=(1, columns))
    t.result = t.op("multiply", t.op("tanh", "x"), t.op("tanh", "y"))
    return t


def pad_of_gelu(rows: int, columns: int) -> Text:
    t = Text(x=(rows, columns))
    t.result = t.op("pad", t.op("gelu", "x"), pad_width=[1, 1, 1, 1])
    return t


def reshape_chain(rows: int, columns: int) -> Text:
    t = Text(x=(rows, columns), y=(columns, rows))
    v = t.op("reshape", t.op("gelu", "x"), shape=[columns, rows])
    t.result = t.op("tanh", t.op("add", v, "y"))
    return t


PROGRAMS: dict[str, Callable[[], Text]] = {
    "mlp 1": lambda: mlp(1),
    "mlp 64": lambda: mlp(64),
    "softmax 64x256": lambda: softmax(64, 256),
    "softmax elementary 64x256": lambda: softmax_elementary(64, 256),
    "softmax elementary 512x1024": lambda: softmax_elementary(512, 1024),
    "layer_norm 64x256": lambda: layer_norm(64, 256),
    "layer_norm elementary 64x256": lambda: layer_norm_elementary(64, 256),
    "layer_norm elementary 512x1024": lambda: layer_norm_elementary(512, 1024),
    "bias gelu 64x256": lambda: bias_gelu(64, 256),
    "bias gelu elementary 64x256": lambda: bias_gelu_elementary(64, 256),
    "bias gelu elementary 1024x1024": lambda: bias_gelu_elementary(1024, 1024),
    "matmul bias relu 64x128x256": lambda: matmul_bias_relu(64, 128, 256),
    "conv2d scale shift relu": lambda: conv_bn_relu(16, 16),
    "chain of 13 64x256": lambda: chain(64, 256),
    "chain of 13 1024x1024": lambda: chain(1024, 1024),
    "exp of transposed 256x256": lambda: exp_of_transposed(256, 256),
    "transposed exp 256x256": lambda: transposed_exp(256, 256),
    "concat of gelu 64x256": lambda: concat_of_gelu(64, 256),
    "gelu of concat 64x256": lambda: gelu_of_concat(64, 256),
    "sum of exp, rows 64x256": lambda: sum_of_exp(64, 256, 1),
    "sum of exp, columns 64x256": lambda: sum_of_exp(64, 256, 0),
    "exp of slice 64x256": lambda: exp_of_slice(64, 256),
    "outer tanh 64x256": lambda: outer_tanh(64, 256),
    "pad of gelu 64x256": lambda: pad_of_gelu(64, 256),
    "gelu reshape tanh 64x256": lambda: reshape_chain(64, 256),
}


def measure(runs: list[Callable[[], Any]], rounds: int, seconds: float) -> np.ndarray[Any, Any]:
    """Seconds per call, by run and round."""
    start = time.thread_time()
    runs[0]()
    calls = max(1, int(seconds / max(time.thread_time() - start, 1e-7)))
    figures = np.empty((len(runs), rounds))
    for round_ in range(rounds):
        for which, run in enumerate(runs):
            start = time.thread_time()
            for _ in range(calls):
                run()
            figures[which, round_] = (time.thread_time() - start) / calls
    return figures


def kernels_of(program: str, pipeline: str) -> int:
    """Calls of loop functions in the lowered program."""
    module = stepwell.parse(program)
    run_pipeline(make_context(), module, pipeline.replace("finish", "to-loops"))
    return sum(op.name == "graph.call_kernel" for op in module.walk())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.01, help="length of one timing")
    parser.add_argument("--only", default="", help="programs whose name contains this")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    print(
        f"{'program':32} {'kernels':>9} {'unfused us':>11} {'fused us':>10} {'unfused/fused':>14} "
        f"{'matmul-add/fused':>17}"
    )
    for name, make in PROGRAMS.items():
        if options.only not in name:
            continue
        text = make()
        program = text.program(text.result)
        programs = [stepwell.compile(program, pipeline=each, threads=1, cache=False) for each in PIPELINES.values()]
        random = np.random.default_rng(0)
        arrays = [random.standard_normal(shape, np.float32) for shape in text.shapes.values()]
        results = [np.asarray(run(*arrays)) for run in programs]
        error = max(float(np.max(np.abs(each - results[0]))) for each in results)
        assert error < 1e-3, (name, error)
        unfused, matmul_add, fused = measure(
            [lambda run=run, arrays=arrays: run(*arrays) for run in programs], options.rounds, options.seconds
        )
        row = {
            "program": name,
            "kernels": [kernels_of(program, PIPELINES[each]) for each in ("unfused", "rules")],
            "unfused": float(np.median(unfused)) * 1e6,
            "fused": float(np.median(fused)) * 1e6,
            "ratio": float(np.median(unfused / fused)),
            "matmul-add ratio": float(np.median(matmul_add / fused)),
        }
        rows.append(row)
        before, after = row["kernels"]
        print(
            (
                f"{name:32} {before:>4} → {after:<2} {row['unfused']:11.1f} {row['fused']:10.1f} "
                f"{row['ratio']:14.2f} {row['matmul-add ratio']:17.2f}"
            ),
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
