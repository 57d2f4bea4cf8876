"""
Random loop functions, right and wrong on purpose, each with the reason why it is wrong or with what it computes.

`hostile_program(seed)` draws one of `hostile_templates.TEMPLATES`. The results of right programs are plain NumPy, of
numbers so small and whole that every order of a sum gives the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

WRONG = 0.4
"""The part of the programs that are wrong."""

DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "f64": np.float64,
    "i32": np.int32,
    "i8": np.int8,
    "i64": np.int64,
}


@dataclass(frozen=True)
class HostileProgram:
    """A public loop function `@main` with its arrays."""

    name: str
    """Of its template."""
    text: str
    arrays: tuple[Array, ...]
    """The inputs."""
    outputs: tuple[Array, ...]
    """What a right program computes. Of a wrong one only the shapes and types count."""
    why: str = ""
    """What is wrong, empty for a right program."""
    by_data: bool = False
    """Whether it is wrong or right because of what the arrays hold, or of their sizes."""


class Draw:
    """Random decisions of one program."""

    def __init__(self, seed: int):
        self.choose = random.Random(seed)
        self.element = self.choose.choice(sorted(DTYPES))
        self.blocks = 0

    def size(self, low: int = 2, high: int = 9) -> int:
        return self.choose.randint(low, high)

    def array(self, *shape: int) -> Array:
        """Whole numbers from -3 to 3, of which sums of a few hundred are exact in every type but i8, which wraps."""
        count = int(np.prod(shape))
        values = [self.choose.randint(-3, 3) for _ in range(count)]
        return np.asarray(values, DTYPES[self.element]).reshape(shape)

    def indices(self, size: int, count: int) -> Array:
        """Places in a buffer of `size` elements."""
        return np.asarray([self.choose.randrange(size) for _ in range(count)], self.choose.choice([np.int32, np.int64]))

    def type(self, *shape: int | str, element: str = "") -> str:
        return f"memref<{''.join(f'{size}x' for size in shape)}{element or self.element}>"

    def type_of(self, array: Array) -> str:
        names = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
        return self.type(*array.shape, element=names[array.dtype])

    @property
    def add(self) -> str:
        """The op that adds two elements."""
        return "arith.addf" if self.element.startswith("f") else "arith.addi"

    @property
    def zero(self) -> str:
        return f"{'0.0' if self.element.startswith('f') else '0'} : {self.element}"

    def nest(
        self, axes: Sequence[tuple[str, int | str, str]], body: str, *, shares: bool = True, keep: bool = False
    ) -> str:
        """
        Loops around a block with the axes (name, extent, kind), which the body knows as `%v` and the name.

        Loops are split, put in another order and marked at random. With `shares` the outermost one may be parallel.
        With `keep` they stay as they are.
        """
        loops: list[tuple[str, int | str, str]] = []
        bindings: list[str] = []
        conditions: list[str] = []
        for name, extent, kind in axes:
            if not keep and isinstance(extent, int) and self.choose.random() < 0.4:
                inner = self.choose.randint(1, 4)
                outer = -(-extent // inner)
                loops += [(f"{name}o", outer, kind), (f"{name}i", inner, kind)]
                bindings.append(f"%{name}o * {inner} + %{name}i")
                if outer * inner != extent:
                    conditions.append(f"{bindings[-1]} < {extent}")
            else:
                loops.append((name, extent, kind))
                bindings.append(f"%{name}")
        if not keep:
            self.choose.shuffle(loops)
        parts = [
            f"{kind}(%v{name} in {extent} = {binding})"
            for (name, extent, kind), binding in zip(axes, bindings, strict=True)
        ]
        where = f" where({', '.join(conditions)})" if conditions else ""
        self.blocks += 1
        block = f'tensor_loop.block "b{self.blocks}" {" ".join(parts)}{where} {{\n{body}\n}}'
        return self._around(loops, block, shares)

    def _around(self, loops: Sequence[tuple[str, int | str, str]], block: str, shares: bool) -> str:
        heads: list[str] = []
        for depth, (name, extent, kind) in enumerate(loops):
            marks = ["", "", "unrolled"]
            if depth == 0 and shares and kind == "spatial":
                marks += ["parallel", "parallel"]
            if depth == len(loops) - 1 and kind == "spatial":
                marks.append("vectorized")
            heads.append(f"tensor_loop.for %{name} in {extent} {self.choose.choice(marks)} {{")
        return "\n".join([*heads, block, *["}"] * len(loops)])

    def function(self, inputs: Sequence[tuple[str, str]], outputs: Sequence[tuple[str, str]], body: str) -> str:
        """The function `@main` with constants `%c0` to `%c9`."""
        taken, made = (", ".join(f"%{name}: {type_}" for name, type_ in each) for each in (inputs, outputs))
        constants = "\n".join(f"%c{number} = arith.constant {number} : index" for number in range(10))
        return f"tensor_loop.func @main({taken}) outs({made}) {{\n{constants}\n{body}\n}}\n"


Template = Callable[[Draw, bool], HostileProgram]
"""Makes a program, which is wrong where it is told so."""


def hostile_program(seed: int, templates: Sequence[Template]) -> HostileProgram:
    """Returns program number `seed`."""
    draw = Draw(seed)
    wrong = draw.choose.random() < WRONG
    return draw.choose.choice(list(templates))(draw, wrong)
