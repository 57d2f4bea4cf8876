"""
Random typed graph programs as text, from one source of choices.

A generator asks a `Chooser` for every decision. `RandomChooser(seed)` makes it a deterministic function of the seed;
`testing.programs.strategies` lets hypothesis choose, and shrink. Types of results come from the NumPy reference, so
neither type inference nor te has a say in what the programs look like.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, Protocol, TypeVar

import numpy as np

from ...lazy_dataclass import dataclass
from ...reference import evaluate
from ...reference.element_types import NAMES
from .values import arrays_of

Array = np.ndarray[Any, Any]

T = TypeVar("T")


class Chooser(Protocol):
    """The source of decisions. The first and the lowest are the simplest."""

    extents: Sequence[int]
    """The sizes that dimensions are drawn from. Where it is empty, the generator knows some."""
    usual: str
    """The element type of half of the tensors, where an op takes it, or nothing."""

    def integer(self, low: int, high: int) -> int:
        """A number from `low` to `high`, both included."""
        ...

    def element(self, options: Sequence[T]) -> T:
        """One of `options`."""
        ...


class RandomChooser:
    """Decisions of Python's random generator, fixed by the seed."""

    extents: Sequence[int] = ()
    usual: str = ""

    def __init__(self, seed: int):
        self._random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def element(self, options: Sequence[T]) -> T:
        return options[self._random.randrange(len(options))]


def rarely(choose: Chooser, chance: int = 8) -> bool:
    """Returns true about once in `chance`. False is the simpler choice."""
    return choose.integer(1, chance) == chance


# Types, ops and their text


class ElementType(str):
    """A property value that is an element type, `f16`, not a string."""


@dataclass(frozen=True)
class TensorSpec:
    """The type of a tensor."""

    shape: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.dtype}>"

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent
        return count


@dataclass(frozen=True)
class OpCase:
    """One op with the types of its operands, its properties, and what values each operand is to hold."""

    op: str
    operands: tuple[TensorSpec, ...]
    properties: tuple[tuple[str, Any], ...] = ()
    flavours: tuple[str, ...] = ()
    infer: bool = False
    """Says whether the text leaves out the result types."""

    def __post_init__(self) -> None:
        if len(self.flavours) != len(self.operands):
            raise ValueError(f"{self.op} has {len(self.operands)} operands and {len(self.flavours)} flavours")

    @property
    def name(self) -> str:
        return f"graph.{self.op}"

    def arrays(self, seed: int) -> list[Array]:
        """Returns values for the operands, the same for the same seed."""
        pairs = enumerate(zip(self.operands, self.flavours, strict=True))
        return [arrays_of(seed * 64 + k, spec.shape, spec.dtype, flavour) for k, (spec, flavour) in pairs]

    def evaluate(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """What the reference gives."""
        return evaluate(self.name, dict(self.properties), *arrays)

    def results(self) -> tuple[TensorSpec, ...]:
        """The result types, by running the reference on some values."""
        return tuple(spec_of(array) for array in self.evaluate(self.arrays(0)))

    def text(self, result: str, operands: Sequence[str], results: Sequence[TensorSpec]) -> str:
        """`%r = graph.op %a, %b, axis = 1 : (types) -> types`."""
        uses = ", ".join(operands)
        properties = "".join(f", {name} = {property_text(value)}" for name, value in self.properties)
        types = ", ".join(map(str, self.operands))
        outcome = ", ".join(map(str, results))
        arrow = "" if self.infer else f" -> {outcome}" if len(results) == 1 else f" -> ({outcome})"
        count = "" if len(results) == 1 else f":{len(results)}"
        return f"{result}{count} = {self.name} {uses}{properties} : ({types}){arrow}"


def spec_of(array: Array) -> TensorSpec:
    """The tensor type of an array."""
    return TensorSpec(tuple(array.shape), NAMES[array.dtype])


def property_text(value: Any) -> str:
    """A property value as docs/ir.md writes it."""
    match value:
        case ElementType():
            return str(value)
        case str():
            return f'"{value}"'
        case bool():
            return "true" if value else "false"
        case float():
            if not isfinite(value):
                return f"0x{struct.pack('>d', value).hex().upper()}"
            text = repr(value)
            mantissa, mark, exponent = text.partition("e")
            return f"{mantissa}{'' if '.' in mantissa else '.0'}{mark}{exponent}"
        case list() | tuple():
            return f"[{', '.join(map(str, value))}]"
        case _:
            return str(value)


def result_names(name: str, count: int) -> list[str]:
    """Returns the names by which the results of the op that defines `%name` are used."""
    return [name] if count == 1 else [f"{name}#{number}" for number in range(count)]


def function_text(
    name: str,
    arguments: Iterable[tuple[str, TensorSpec]],
    lines: Iterable[str],
    results: Iterable[tuple[str, TensorSpec]],
) -> str:
    """A `func.func` with these arguments, ops and returned values."""
    results = list(results)
    head = ", ".join(f"{argument}: {spec}" for argument, spec in arguments)
    types = ", ".join(str(spec) for _, spec in results)
    values = ", ".join(value for value, _ in results)
    end = f"  func.return {values} : {types}" if results else "  func.return"
    body = "".join(f"  {line}\n" for line in lines)
    return f"func.func @{name}({head}) -> ({types}) {{\n{body}{end}\n}}\n"


def batch_text(cases: Sequence[OpCase], name: str = "main") -> str:
    """One function that runs independent ops: the operands of all in order, the results of all in order."""
    arguments: list[tuple[str, TensorSpec]] = []
    lines: list[str] = []
    returned: list[tuple[str, TensorSpec]] = []
    for number, case in enumerate(cases):
        names = [f"%a{number}_{k}" for k in range(len(case.operands))]
        arguments += zip(names, case.operands, strict=True)
        specs = case.results()
        lines.append(case.text(f"%r{number}", names, specs))
        returned += zip(result_names(f"%r{number}", len(specs)), specs, strict=True)
    return function_text(name, arguments, lines, returned)
