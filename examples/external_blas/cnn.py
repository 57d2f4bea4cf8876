"""
A target of one's own in fifty lines: convolutions, additions and relus of a small network run in NumPy.

What `numpy_ref` supports is said by a predicate, what it makes of a function by a code generator; the passes
`annotate-target`, `merge-regions` and `partition-graph` do the rest. A stand-in for a library or an accelerator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import stepwell
from stepwell.core import CodegenContext, codegen, make_context, parse_pipeline, run_pipeline
from stepwell.reference import run
from stepwell.rewrites import supported
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

PROGRAM = """\
func.func @main(%image: tensor<2x3x12x12xf32>, %w0: tensor<8x3x3x3xf32>, %w1: tensor<8x8x3x3xf32>,
    %w2: tensor<8x10xf32>) -> tensor<2x10xf32> {
  %conv0 = graph.conv2d %image, %w0, padding = [1, 1, 1, 1] : (tensor<2x3x12x12xf32>, tensor<8x3x3x3xf32>)
      -> tensor<2x8x12x12xf32>
  %relu0 = graph.relu %conv0 : (tensor<2x8x12x12xf32>)
  %gate = graph.sigmoid %relu0 : (tensor<2x8x12x12xf32>)
  %conv1 = graph.conv2d %relu0, %w1, padding = [1, 1, 1, 1] : (tensor<2x8x12x12xf32>, tensor<8x8x3x3xf32>)
      -> tensor<2x8x12x12xf32>
  %sum = graph.add %conv1, %relu0 : (tensor<2x8x12x12xf32>, tensor<2x8x12x12xf32>)
  %gated = graph.add %sum, %gate : (tensor<2x8x12x12xf32>, tensor<2x8x12x12xf32>)
  %relu1 = graph.relu %gated : (tensor<2x8x12x12xf32>)
  %pooled = graph.mean %relu1, axis = [2, 3] : (tensor<2x8x12x12xf32>)
  %logits = graph.matmul %pooled, %w2 : (tensor<2x8xf32>, tensor<8x10xf32>)
  func.return %logits : tensor<2x10xf32>
}
"""

PARTITION = "annotate-target{targets=numpy_ref},merge-regions,partition-graph"


@supported("graph.conv2d", "graph.add", "graph.relu", target="numpy_ref")
def small_images(op: Operation) -> bool | str:
    """Images of the batches that the imagined machine has memory for."""
    shape: Any = op.results[0].type
    return shape.get_shape()[0] <= 4 or "the batch is larger than 4"


@codegen("numpy_ref")
def numpy_code(function: FuncOp, context: CodegenContext) -> Callable[..., Any]:
    """The function as Python: its ops one by one, in NumPy."""
    name, module = function.sym_name.data, context.module
    return lambda *arrays: run(module, name, *arrays)


def inputs() -> list[Any]:
    """An image, and weights of a size that keeps numbers near 1."""
    random = np.random.default_rng(5)
    shapes = ((2, 3, 12, 12), (8, 3, 3, 3), (8, 8, 3, 3), (8, 10))
    return [(random.standard_normal(shape) / 4).astype(np.float32) for shape in shapes]


def main() -> None:
    """Runs the whole example."""
    module = stepwell.parse(PROGRAM)
    run_pipeline(make_context(), module, parse_pipeline(PARTITION))
    print(module)
    arrays = inputs()
    (own,) = stepwell.compile(PROGRAM)(*arrays)
    (mixed,) = stepwell.compile(module)(*arrays)
    print(f"largest difference of a logit {abs(own - mixed).max():.1e}")


if __name__ == "__main__":
    main()
