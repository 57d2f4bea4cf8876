"""
Random programs: a chain of ops over values that all exist already, as text, with inputs and expected results.

`exact` programs hold ops with one right answer for every bit only, so that any difference is a fault; `smooth` ones
add contractions, sums and functions, and leave out what turns a rounding error into a jump (comparisons, rounding to
integers, positions of maxima).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import Any, Final

import numpy as np

from ...lazy_dataclass import dataclass
from . import movement_generators as movement
from . import op_generators as ops
from .ir_generators import Chooser, OpCase, RandomChooser, TensorSpec, function_text, rarely, result_names, spec_of
from .values import arrays_of

Array = np.ndarray[Any, Any]

MOST_ELEMENTS: Final = 600
"""Values larger than this are not used as operands any more."""

_EXACT_UNARY: Final = [
    "negative",
    "abs",
    "sign",
    "square",
    "relu",
    "floor",
    "ceil",
    "trunc",
    "round",
    "clip",
    "leaky_relu",
    "sqrt",
    "isnan",
    "isinf",
    "isfinite",
    "logical_not",
    "bitwise_not",
    "astype",
]
_EXACT_BINARY: Final = [op for op in ops.BINARY if op not in ("power", "floor_divide")]
_EXACT_REDUCTIONS: Final = ("max", "min", "any", "all", "argmax", "argmin")
_SMOOTH_UNARY: Final = ("negative", "abs", "relu", "tanh", "sigmoid", "erf", "sin", "gelu")
_SMOOTH_BINARY: Final = ("add", "subtract", "multiply", "maximum", "minimum", "where")
_SMOOTH_REDUCTIONS: Final = ("sum", "mean", "max", "min", "softmax")
_MOVEMENT: Final = ("permute_dims", "reshape", "expand_dims", "concat", "strided_slice", "pad", "take")


@dataclass(frozen=True)
class Program:
    """A function `main` without failing ops, its inputs, and the results that the reference gives."""

    text: str
    inputs: list[Array]
    expected: list[Array]
    largest: float
    """The largest finite absolute value on the way, 1 at least."""

    def __repr__(self) -> str:
        return f"<stepwell.Program of {len(self.inputs)} inputs and {len(self.expected)} results>"


@dataclass
class _Builder:
    choose: Chooser
    smooth: bool
    seed: int
    values: list[tuple[str, Array]] = field(default_factory=list)
    arguments: list[tuple[str, Array]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def argument(self, spec: TensorSpec, flavour: str) -> tuple[str, Array]:
        if self.smooth and not flavour.startswith("index:"):
            flavour = "finite"
        array = arrays_of(self.seed * 1000 + len(self.arguments), spec.shape, spec.dtype, flavour)
        named = (f"%a{len(self.arguments)}", array)
        self.arguments.append(named)
        return named

    def operand(self, spec: TensorSpec, flavour: str) -> tuple[str, Array]:
        """A value of this type: often one that exists, when nothing special is asked of it."""
        fitting = [named for named in self.values if spec_of(named[1]) == spec]
        free = self.smooth or flavour in ("any", "small", "moderate")
        if fitting and free and not flavour.startswith("index:") and not rarely(self.choose, 3):
            return self.choose.element(fitting)
        return self.argument(spec, flavour)

    def step(self) -> None:
        """Appends one op whose first operand is a recent value."""
        usable = [named for named in self.values[-6:] if named[1].size <= MOST_ELEMENTS]
        first = self.choose.element(usable or self.arguments[:1])
        spec = spec_of(first[1])
        generators = self.generators(spec)
        op = self.choose.element(sorted(generators))
        case = replace(generators[op](self.choose, op, spec), infer=False)
        place = 1 if op == "where" else 0
        named = [
            first if number == place else self.operand(wanted, flavour)
            for number, (wanted, flavour) in enumerate(zip(case.operands, case.flavours, strict=True))
        ]
        self.append(case, named)

    def append(self, case: OpCase, operands: list[tuple[str, Array]]) -> None:
        results = case.evaluate([array for _, array in operands])
        name = f"%v{len(self.lines)}"
        names = [name for name, _ in operands]
        self.used.update(names)
        self.lines.append(case.text(name, names, [spec_of(result) for result in results]))
        self.values += zip(result_names(name, len(results)), results, strict=True)

    def generators(self, spec: TensorSpec) -> dict[str, Callable[..., OpCase]]:
        """The generators of the ops that take a first operand of this type."""
        unary, binary, reductions = (
            (_SMOOTH_UNARY, _SMOOTH_BINARY, _SMOOTH_REDUCTIONS)
            if self.smooth
            else (_EXACT_UNARY, _EXACT_BINARY, _EXACT_REDUCTIONS)
        )
        found: dict[str, Callable[..., OpCase]] = {}
        found |= {op: ops.unary for op in unary if spec.dtype in ops.UNARY[op]}
        found |= {op: ops.binary for op in binary if spec.dtype in ops.BINARY[op]}
        for op in reductions:
            if spec.dtype in ops.REDUCTIONS[op][0] and spec.size and (spec.rank or op != "softmax"):
                found[op] = ops.reduction
        for op in _MOVEMENT:
            least = 0 if op in ("permute_dims", "reshape", "pad", "expand_dims") else 1
            if least <= spec.rank <= (4 if op in ("permute_dims", "reshape", "strided_slice") else 2):
                found[op] = movement.FAMILIES["movement"][op]
        if 0 in spec.shape:
            found.pop("take", None)
        if self.smooth and spec.rank == 2 and spec.size:
            found["matmul"] = _matmul
        return found


def _matmul(choose: Chooser, op: str, first: TensorSpec) -> OpCase:
    columns = choose.element((4, 3, 8, 17))
    return ops.case(choose, op, [first, TensorSpec((first.shape[1], columns), first.dtype)], ["finite"] * 2)


def random_program(seed: int, ops_count: int = 12, *, smooth: bool = False, choose: Chooser | None = None) -> Program:
    """Returns a program of `ops_count` ops. Every value that no op uses is a result. The same for the same seed."""
    choose = choose or RandomChooser(seed)
    builder = _Builder(choose, smooth, seed)
    dtypes = ("f32", "f64", "f32", "f32") if smooth else ops.ANY
    for _ in range(choose.integer(1, 2)):
        shape = ops.any_shape(choose, 1 if smooth else 0, 3, empty=not smooth and rarely(choose, 6))
        builder.values.append(builder.argument(TensorSpec(shape, choose.element(dtypes)), "any"))
    while len(builder.lines) < ops_count:
        builder.step()
    results = [named for named in builder.values if named[0] not in builder.used and named[0].startswith("%v")]
    arguments = [(name, spec_of(array)) for name, array in builder.arguments]
    text = function_text("main", arguments, builder.lines, [(name, spec_of(array)) for name, array in results])
    largest = 1.0
    with np.errstate(all="ignore"):
        for _, array in builder.values:
            wide = np.abs(array.astype(np.float64))
            largest = max(largest, float(np.max(wide, where=np.isfinite(wide), initial=0.0)))
    return Program(text, [array for _, array in builder.arguments], [array for _, array in results], largest)
