"""Random loop functions with what they compute: a reduction over `A[m, k]`, `B[k, n]` under any split and order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st


@dataclass(frozen=True)
class LoopVariable:
    name: str
    extent: int


@dataclass(frozen=True)
class AxisLoops:
    """The loops of one axis, outermost first, its binding and its predicate."""

    loops: tuple[LoopVariable, ...]
    binding: str
    predicate: str | None


@dataclass(frozen=True)
class LoopProgram:
    text: str
    sizes: tuple[int, int, int]
    """M, N, K."""
    reduction: str

    def expected(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        products = a[:, :, None] * b[None, :, :]
        if self.reduction == "max":
            return products.max(axis=1, initial=-np.inf)
        return products.sum(axis=1, dtype=np.float32)


def _axis(draw: st.DrawFn, name: str, extent: int) -> AxisLoops:
    factor = draw(st.sampled_from([None, 1, 2, 3, 4]))
    if factor is None:
        return AxisLoops((LoopVariable(name, extent),), f"%{name}", None)
    outer = LoopVariable(f"{name}o", -(-extent // factor))
    binding = f"%{name}o * {factor} + %{name}i"
    exact = outer.extent * factor == extent
    return AxisLoops((outer, LoopVariable(f"{name}i", factor)), binding, None if exact else f"{binding} < {extent}")


def _fused(m: int, n: int) -> tuple[AxisLoops, AxisLoops]:
    """Two axes from one loop."""
    loop = LoopVariable("f", m * n)
    return (
        AxisLoops((loop,), f"%f floordiv {max(n, 1)}", None),
        AxisLoops((), f"%f mod {max(n, 1)}", None),
    )


def _nest(draw: st.DrawFn, loops: list[LoopVariable], block: list[str]) -> list[str]:
    """The loops around `block`: some next to each other in grids, the others single, of any kind."""
    lines: list[str] = []
    depth = 0
    while loops:
        taken = draw(st.integers(1, len(loops)))
        group, loops = loops[:taken], loops[taken:]
        if taken == 1:
            kind = draw(st.sampled_from(["", " parallel", " unrolled"]))
            lines.append(f"tensor_loop.for %{group[0].name} in {group[0].extent}{kind} {{")
        else:
            names = ", ".join(f"%{loop.name}" for loop in group)
            extents = ", ".join(str(loop.extent) for loop in group)
            lines.append(f"tensor_loop.grid ({names}) in ({extents}) {{")
        depth += 1
    return [*lines, *block, *["}"] * depth]


_REDUCTIONS = {
    "sum": ("0.0", "arith.addf %c, %p : f32"),
    "free sum": ("0.0", "arith.addf %c, %p fastmath<reassoc,contract> : f32"),
    "max": ("0xFF800000", "arith.maximumf %c, %p : f32"),
}


@st.composite
def loop_programs(draw: st.DrawFn) -> LoopProgram:
    m, n, k = (draw(st.integers(0, 6)) for _ in range(3))
    if m and n and draw(st.booleans()):
        axes = [*_fused(m, n), _axis(draw, "k", k)]
    else:
        axes = [_axis(draw, name, size) for name, size in zip("mnk", (m, n, k), strict=True)]
    reduction = draw(st.sampled_from(sorted(_REDUCTIONS)))
    start, update = _REDUCTIONS[reduction]
    loops = draw(st.permutations([loop for axis in axes for loop in axis.loops]))
    predicates = [axis.predicate for axis in axes if axis.predicate is not None]
    where = f" where({', '.join(predicates)})" if predicates else ""
    block = f"""
      tensor_loop.block "b" spatial(%vm in {m} = {axes[0].binding}) reduce(%vk in {k} = {axes[2].binding})
          spatial(%vn in {n} = {axes[1].binding}){where} {{
        init {{
          %zero = arith.constant {start} : f32
          memref.store %zero, %C[%vm, %vn] : memref<{m}x{n}xf32>
        }}
        %a = memref.load %A[%vm, %vk] : memref<{m}x{k}xf32>
        %b = memref.load %B[%vk, %vn] : memref<{k}x{n}xf32>
        %c = memref.load %C[%vm, %vn] : memref<{m}x{n}xf32>
        %p = arith.mulf %a, %b : f32
        %s = {update}
        memref.store %s, %C[%vm, %vn] : memref<{m}x{n}xf32>
      }}"""
    lines = _nest(draw, loops, block.split("\n"))
    body = "\n".join(lines)
    text = (
        f"tensor_loop.func @f(%A: memref<{m}x{k}xf32>, %B: memref<{k}x{n}xf32>) outs(%C: memref<{m}x{n}xf32>) {{\n"
        f"{body}\n}}"
    )
    return LoopProgram(text, (m, n, k), reduction)
