"""Runs expanded math ops natively on arrays: expand-math, our lowering, LLVM with its loop vectoriser."""

from __future__ import annotations

import llvm_jit
import numpy as np
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.math.expand_math import ExpandMathPass


def expanded(source: str, wide: bool | None = None) -> str:
    """The text of a program after expand-math, verified."""
    context = make_context()
    module = parse_text(context, source, "test.mlir")
    ExpandMathPass(wide=wide).apply(context, module)
    module.verify()
    return str(module)


def run(body: str, inputs: list[tuple[str, np.ndarray]], output: tuple[str, type]) -> np.ndarray:
    """`body` (defines %r from %x0, ...) on every element."""
    count = len(inputs[0][1])
    source = llvm_jit.map_kernel(body, [kind for kind, _ in inputs], output[0], count)
    program = llvm_jit.Program(expanded(source))
    result = np.zeros(count, output[1])
    program.call("f", *(array for _, array in inputs), result)
    return result


def run_f32(name: str, *arrays: np.ndarray) -> np.ndarray:
    """`math.<name>` on f32 arrays."""
    names = ", ".join(f"%x{k}" for k in range(len(arrays)))
    return run(f"%r = math.{name} {names} : f32", [("f32", array) for array in arrays], ("f32", np.float32))


def vector_source(body: str, kinds: list[str], output: str, count: int, lanes: int) -> str:
    """`@f` on vectors of `lanes` elements; `body` sees %x0, ... : vector<lanes x kind>."""
    arguments = ", ".join(f"%b{k}: memref<{count}x{t}>" for k, t in enumerate([*kinds, output]))
    loads = "\n".join(
        f"%x{k} = vector.load %b{k}[%i] : memref<{count}x{t}>, vector<{lanes}x{t}>" for k, t in enumerate(kinds)
    )
    last = len(kinds)
    return f"""
    func.func @f({arguments}) {{
      %c0 = arith.constant 0 : index
      %step = arith.constant {lanes} : index
      %n = arith.constant {count} : index
      scf.for %i = %c0 to %n step %step {{
        {loads}
        {body}
        vector.store %r, %b{last}[%i] : memref<{count}x{output}>, vector<{lanes}x{output}>
      }}
      func.return
    }}"""


def run_vectors(
    body: str, inputs: list[tuple[str, np.ndarray]], output: tuple[str, type], lanes: int = 8
) -> np.ndarray:
    """As `run`, with explicit vectors; the arrays are cut to whole vectors."""
    count = len(inputs[0][1]) // lanes * lanes
    source = vector_source(body, [kind for kind, _ in inputs], output[0], count, lanes)
    program = llvm_jit.Program(expanded(source))
    result = np.zeros(count, output[1])
    program.call("f", *(array[:count].copy() for _, array in inputs), result)
    return result


def tile_source(body: str, count: int, columns: int = 64) -> str:
    """`@f` on register tiles of one row; `body` defines %r from %x0 : f32."""
    tile = f"vector<1x{columns}xf32>"
    return f"""
    func.func @f(%a: memref<{count}xf32>, %b: memref<{count}xf32>) {{
      %c0 = arith.constant 0 : index
      %step = arith.constant {columns} : index
      %n = arith.constant {count} : index
      scf.for %i = %c0 to %n step %step {{
        %t = tile.load %a[%i] : memref<{count}xf32>, {tile}
        %u = tile.map(%x0 = %t) : ({tile}) -> {tile} {{
          {body}
          tile.yield %r : f32
        }}
        tile.store %u, %b[%i] along [-1, 0] : {tile}, memref<{count}xf32>
      }}
      func.return
    }}"""


def run_tiles(body: str, x: np.ndarray, wide: bool, columns: int = 64) -> np.ndarray:
    """`body` on tiles, with the instructions of AVX-512 or without; the array is cut to whole tiles."""
    count = len(x) // columns * columns
    program = llvm_jit.Program(expanded(tile_source(body, count, columns), wide))
    result = np.zeros(count, np.float32)
    program.call("f", x[:count].copy(), result)
    return result
