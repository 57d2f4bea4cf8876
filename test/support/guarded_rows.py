"""
Transposes and kernels over rows on memory between forbidden pages; a program of its own, since a fault ends it.

`python guarded_rows.py`: prints each program that it is about to run.
"""

from __future__ import annotations

import numpy as np
from guarded_arrays import check

SHAPES = ((37, 53), (64, 17), (24, 70))


def row_programs() -> list[str]:
    """Softmax, layer norm and a transpose for every shape."""
    texts: list[str] = []
    for rows, columns in SHAPES:
        x, vector, turned = (f"tensor<{shape}xf32>" for shape in (f"{rows}x{columns}", columns, f"{columns}x{rows}"))
        norm = f"graph.layer_norm %x, %v, %v : ({x}, {vector}, {vector}) -> {x}"
        for op, result in (
            (f"graph.softmax %x : ({x}) -> {x}", x),
            (norm, x),
            (f"graph.permute_dims %x, axes = [1, 0] : ({x}) -> {turned}", turned),
        ):
            texts.append(
                f"func.func @main(%x: {x}, %v: {vector}) -> {result} {{\n  %y = {op}\n  func.return %y : {result}\n}}\n"
            )
    return texts


def main() -> None:
    rng = np.random.default_rng(5)
    for number, text in enumerate(row_programs()):
        print(text, flush=True)
        rows, columns = SHAPES[number // 3]
        x = rng.standard_normal((rows, columns)).astype(np.float32)
        check(text, [x, rng.standard_normal(columns).astype(np.float32)], 3)


if __name__ == "__main__":
    main()
