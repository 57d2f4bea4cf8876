"""Small graph programs of every family of kernels, and each of them after every pass that changes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import stepwell
from stepwell.core.passes.pipeline_text import expand_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context
from xdsl.dialects.builtin import ModuleOp

Array = np.ndarray[Any, Any]

LAST = "lower-to-llvm-dialect"


@dataclass(frozen=True)
class LevelProgram:
    """A program with the ops of its body, its arguments, and the number of terms of its longest sum."""

    arguments: tuple[tuple[str, str], ...]
    body: str
    results: tuple[str, ...]
    terms: int = 1
    largest: int = 5
    """Integers are below it."""

    @property
    def text(self) -> str:
        arguments = ", ".join(f"%{name}: tensor<{type_}>" for name, type_ in self.arguments)
        types = [f"tensor<{type_}>" for type_ in self.results]
        values = ", ".join(f"%r{number}" for number in range(len(types)))
        result = types[0] if len(types) == 1 else f"({', '.join(types)})"
        back = f"func.return {values} : {', '.join(types)}"
        return f"func.func @main({arguments}) -> {result} {{\n{self.body}\n  {back}\n}}\n"

    def arrays(self, seed: int) -> list[Array]:
        """Random arguments: floats around 0, and integers from 0 on."""
        choose = np.random.default_rng(seed)
        found: list[Array] = []
        for _, type_ in self.arguments:
            *sizes, element = type_.split("x")
            shape = tuple(map(int, sizes))
            if element.startswith("f"):
                found.append(choose.standard_normal(shape).astype(f"float{element[1:]}"))
            else:
                found.append(choose.integers(0, self.largest, shape).astype(f"int{element[1:]}"))
        return found


def _op(name: str, operands: str, types: str, result: str, *, to: str = "%r0") -> str:
    tensors = ", ".join(f"tensor<{each}>" for each in types.split())
    return f"  {to} = graph.{name} {operands} : ({tensors}) -> {result}"


PROGRAMS: dict[str, LevelProgram] = {
    "matmul with bias and relu": LevelProgram(
        (("x", "5x9xf32"), ("w", "9x18xf32"), ("b", "18xf32")),
        "\n".join(
            (
                _op("matmul", "%x, %w", "5x9xf32 9x18xf32", "tensor<5x18xf32>", to="%0"),
                _op("add", "%0, %b", "5x18xf32 18xf32", "tensor<5x18xf32>", to="%1"),
                _op("relu", "%1", "5x18xf32", "tensor<5x18xf32>"),
            )
        ),
        ("5x18xf32",),
        9,
    ),
    "softmax": LevelProgram(
        (("x", "3x19xf32"),), _op("softmax", "%x", "3x19xf32", "tensor<3x19xf32>"), ("3x19xf32",), 19
    ),
    "conv2d": LevelProgram(
        (("x", "1x3x6x5xf32"), ("w", "4x3x3x3xf32")),
        _op("conv2d", "%x, %w, padding = [1, 1, 1, 1]", "1x3x6x5xf32 4x3x3x3xf32", "tensor<1x4x6x5xf32>"),
        ("1x4x6x5xf32",),
        27,
    ),
    "depthwise": LevelProgram(
        (("x", "1x5x6x4xf32"), ("w", "3x3x1x4xf32")),
        _op(
            "conv2d",
            '%x, %w, padding = [1, 1, 1, 1], groups = 4, data_layout = "NHWC", kernel_layout = "HWIO"',
            "1x5x6x4xf32 3x3x1x4xf32",
            "tensor<1x5x6x4xf32>",
        ),
        ("1x5x6x4xf32",),
        9,
    ),
    "int8 matmul": LevelProgram(
        (("x", "5x9xi8"), ("w", "9x17xi8")),
        _op("matmul", "%x, %w, out_dtype = i32", "5x9xi8 9x17xi8", "tensor<5x17xi32>"),
        ("5x17xi32",),
        largest=100,
    ),
    "layer_norm": LevelProgram(
        (("x", "3x18xf32"), ("g", "18xf32"), ("b", "18xf32")),
        _op("layer_norm", "%x, %g, %b", "3x18xf32 18xf32 18xf32", "tensor<3x18xf32>"),
        ("3x18xf32",),
        36,
    ),
    "top_k": LevelProgram(
        (("x", "3x7xf32"),),
        _op("top_k", "%x, k = 3", "3x7xf32", "(tensor<3x3xf32>, tensor<3x3xi64>)", to="%r0, %r1"),
        ("3x3xf32", "3x3xi64"),
    ),
    "take": LevelProgram(
        (("x", "5x4xf32"), ("i", "6xi64")),
        _op("take", "%x, %i, axis = 0", "5x4xf32 6xi64", "tensor<6x4xf32>"),
        ("6x4xf32",),
    ),
    "gather": LevelProgram(
        (("x", "5x5x3xf32"), ("i", "4x2xi32")),
        _op("gather_nd", "%x, %i", "5x5x3xf32 4x2xi32", "tensor<4x3xf32>"),
        ("4x3xf32",),
    ),
    "running sum": LevelProgram(
        (("x", "4x9xf32"),),
        _op("cumulative_sum", "%x, axis = 1", "4x9xf32", "tensor<4x9xf32>"),
        ("4x9xf32",),
        9,
    ),
    "transpose": LevelProgram(
        (("x", "6x18xf32"),),
        _op("permute_dims", "%x, axes = [1, 0]", "6x18xf32", "tensor<18x6xf32>"),
        ("18x6xf32",),
    ),
    "half floats": LevelProgram(
        (("x", "3x17xf16"), ("y", "17xf16")),
        "\n".join(
            (
                _op("multiply", "%x, %y", "3x17xf16 17xf16", "tensor<3x17xf16>", to="%0"),
                _op("tanh", "%0", "3x17xf16", "tensor<3x17xf16>"),
            )
        ),
        ("3x17xf16",),
    ),
}

PARALLEL = """
tensor_loop.func private @squares(%A: memref<12x20xf32>) outs(%B: memref<12x20xf32>)
    attributes {stepwell.grain = 1 : i64} {
  tensor_loop.for %i in 12 parallel {
    tensor_loop.for %j in 20 {
      tensor_loop.block "square" spatial(%vi in 12 = %i, %vj in 20 = %j) {
        %x = memref.load %A[%vi, %vj] : memref<12x20xf32>
        %y = arith.mulf %x, %x : f32
        memref.store %y, %B[%vi, %vj] : memref<12x20xf32>
      }
    }
  }
}
func.func @main(%x: tensor<12x20xf32>) -> tensor<12x20xf32> {
  %y = graph.call_kernel @squares(%x) : (tensor<12x20xf32>) -> tensor<12x20xf32>
  func.return %y : tensor<12x20xf32>
}
"""
"""A kernel whose loop becomes tasks for threads."""


def levels(text: str, pipeline: str) -> Iterator[tuple[str, ModuleOp]]:
    """
    Yields the program as it is, and after each pass of `pipeline` down to scf that changes it, with the name of the
    pass.
    """
    module = stepwell.parse(text)
    context = make_context()
    before = str(module)
    yield "as written", module
    for spec in expand_pipeline(pipeline):
        if str(spec).startswith(LAST):
            return
        run_pipeline(context, module, str(spec), verify_each=False)
        after = str(module)
        if after != before:
            yield str(spec), module
        before = after
