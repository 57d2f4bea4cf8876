"""
Schedules the product of product.mlir by hand, in four stages; `--time` measures them.

    python gemm.py            the loops after the first three; the last is cut up by the caches of the machine
    python gemm.py --time     GFLOP/s of each, one thread
    python gemm.py --program  the third schedule as text, which replays from a file
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from stepwell.core import parse
from stepwell.runtime import compile_loops
from stepwell.schedule import Schedule
from xdsl.dialects.builtin import ModuleOp

SIZE = 384
ROWS, COLUMNS = 6, 64


def naive() -> Schedule:
    """Computes the product as it is written, one element after the other."""
    return Schedule(parse("product.mlir"))


def tiled() -> Schedule:
    """Tiles the result. The sum is around the elements of a tile, whose zeros come before it."""
    s = naive()
    product = s.get_block("product", "gemm")
    i, j, k = s.get_loops(product)
    i0, i1 = s.split(i, [None, ROWS])
    j0, j1 = s.split(j, [None, COLUMNS])
    s.reorder(j0, i0, k, i1, j1)
    s.decompose_reduction(product, k)
    return s


def vectorised() -> Schedule:
    """Computes a row of a tile at once, four vectors of 16 floats on AVX-512, with the rows written out."""
    s = tiled()
    *_, i1, j1 = s.get_loops(s.get_block("product", "gemm"))
    s.unroll(i1)
    s.vectorize(j1)
    return s


def packed() -> Schedule:
    """
    Tiles held in registers, the second operand copied into panels as wide as a tile, which are read from front to back.
    """
    s = naive()
    s.tensorize(s.get_block("product", "gemm"), "mma", [ROWS, COLUMNS], packed=True)
    return s


STAGES = (naive, tiled, vectorised, packed)


def loops(module: ModuleOp) -> str:
    """The lines that open loops and blocks."""
    lines = [line.removeprefix("  ") for line in str(module).split("\n")]
    kept = [
        line for line in lines if line.lstrip().startswith(("tensor_loop.for", "tensor_loop.grid", "tensor_loop.block"))
    ]
    return "\n".join(line.partition(" reads(")[0].removesuffix(" {") for line in kept)


def speed(module: ModuleOp) -> float:
    """Returns GFLOP/s, the best of ten runs. The result is compared with NumPy first."""
    run = compile_loops(module, "gemm")
    random = np.random.default_rng(0)
    a, b = (random.standard_normal((SIZE, SIZE), dtype=np.float32) for _ in range(2))
    c = np.empty((SIZE, SIZE), np.float32)
    run([a, b, c])
    np.testing.assert_allclose(c, a @ b, rtol=1e-3, atol=1e-3)
    seconds = []
    for _ in range(10):
        start = time.perf_counter()
        run([a, b, c])
        seconds.append(time.perf_counter() - start)
    return 2 * SIZE**3 / min(seconds) / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description="A product of matrices, scheduled by hand")
    parser.add_argument("--time", action="store_true", help="measure each stage")
    parser.add_argument("--program", action="store_true", help="print the third schedule")
    options = parser.parse_args()
    if options.program:
        print(vectorised().program())
        return
    if options.time:
        for stage in STAGES:
            print(f"{stage.__name__:12}{speed(stage().module):8.1f} GFLOP/s")
        return
    for stage in STAGES[:3]:
        print(f"{stage.__name__}: {stage.__doc__}\n{loops(stage().module)}\n")


if __name__ == "__main__":
    main()
