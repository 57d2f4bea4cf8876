"""
Programs that go through all ops of the graph dialect in turn, a few at a time.

An op stands between functions of elements, and what it takes and gives is used once more at the end of the program, so
that values live while others come and go. Every family of ops is there after a few programs, every op after a round.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Final

from ...lazy_dataclass import dataclass
from ...te.dtypes import FLOATS
from ...testing.programs import op_generators as ops
from ...testing.programs.ir_generators import (
    OpCase,
    RandomChooser,
    TensorSpec,
    function_text,
    rarely,
    result_names,
)
from ...testing.programs.movement_generators import FAMILIES, random_case

TOGETHER: Final = 4
"""The ops of a program that are taken in turn."""

NEIGHBOURS: Final = ("unary", "binary")
"""Families that are not taken in turn: their ops stand before and after the others."""

LEAST: Final = 4
"""The least number of times that a family comes in a round. Those of few ops have ops of many properties."""

MOST: Final = 2000
"""The most elements of a value, so that the reference is not what takes the time."""

TRIES: Final = 20

BEFORE: Final = ("negative", "abs", "square", "relu", "sign", "clip")
"""Functions that give the operands of an op a sign, a bound or ties. None of them rounds in a way that is left open."""

ONE_SIDED: Final = ("abs", "square", "relu")
"""Functions whose results have one sign. Every other one is followed by `negative`."""

AFTER: Final = ("negative", "abs", "relu", "tanh", "sigmoid", "erf", "sin", "cos", "exp", "gelu", "silu")
"""Functions of a result. None of them turns a rounding error into a jump."""

JOINS: Final = ("add", "subtract", "multiply", "maximum", "minimum")


class AnySize(RandomChooser):
    """
    Draws sizes of all numbers up to 40, since a tail, a block or a vector may go wrong at any.

    Half of the tensors are f32, where an op takes it: most nets are.
    """

    usual = "f32"

    extents: Sequence[int] = (*range(1, 41), *range(1, 21), 1, 2, 3, 4)


def turn(round_: int) -> list[tuple[str, str]]:
    """Returns all families and ops of a round, those of each family spread over the whole of it."""
    choose, found = random.Random(round_), list[tuple[float, str, str]]()
    for family, generators in FAMILIES.items():
        if family in NEIGHBOURS:
            continue
        names = list(generators) * max(1, LEAST // len(generators))
        choose.shuffle(names)
        found += [(place / len(names), family, name) for place, name in enumerate(names)]
    return [(family, name) for _, family, name in sorted(found, key=lambda each: each[0])]


def ops_of(seed: int) -> list[tuple[str, str]]:
    """Returns the families and ops that the program of a seed has in turn."""
    length = len(turn(0))
    return [turn(place // length)[place % length] for place in range(seed * TOGETHER, (seed + 1) * TOGETHER)]


Value = tuple[str, TensorSpec]


@dataclass
class _Lines:
    """A program that grows line by line."""

    choose: AnySize
    lines: list[str] = field(default_factory=list[str])
    arguments: list[Value] = field(default_factory=list[Value])
    values: list[Value] = field(default_factory=list[Value])
    used: set[str] = field(default_factory=set[str])

    def argument(self, spec: TensorSpec) -> Value:
        self.arguments.append((f"%a{len(self.arguments)}", spec))
        return self.arguments[-1]

    def weight(self, spec: TensorSpec) -> Value:
        name = f"%w{len(self.lines)}"
        self.lines.append(f'{name} = graph.weight "{name[1:]}" : {spec}')
        return name, spec

    def add(self, case: OpCase, operands: Sequence[Value]) -> list[Value]:
        """Appends an op, and returns its results."""
        case = replace(case, operands=tuple(spec for _, spec in operands), infer=False)
        specs = case.results()
        name = f"%v{len(self.lines)}"
        names = [each for each, _ in operands]
        self.used.update(names)
        self.lines.append(case.text(name, names, specs))
        results = list(zip(result_names(name, len(specs)), specs, strict=True))
        self.values += results
        return results

    def function(self, names: Sequence[str], value: Value) -> Value:
        """Applies one of these functions of elements, where there is one for the type."""
        fitting = [each for each in names if value[1].dtype in ops.UNARY[each]]
        if not fitting:
            return value
        name = self.choose.element(fitting)
        found = self.add(ops.unary(self.choose, name, value[1]), [value])[0]
        return self.function(("negative",), found) if name in ONE_SIDED and rarely(self.choose, 2) else found

    def join(self, value: Value, other: Value) -> None:
        """Appends a function of two values of the same type."""
        fitting = [each for each in JOINS if value[1].dtype in ops.BINARY[each]]
        if fitting:
            case = OpCase(self.choose.element(fitting), (value[1], other[1]), (), ("any", "any"))
            self.add(case, [value, other])

    def text(self) -> str:
        results = [each for each in self.values if each[0] not in self.used]
        return function_text("main", self.arguments, self.lines, results)


def program_text(seed: int) -> str:
    """Returns the program of a seed."""
    program = _Lines(AnySize(seed))
    late: list[Value] = []
    for family, name in ops_of(seed):
        late += _cell(program, family, name)
    for value in late:
        program.join(value, program.choose.element([*_others(program, value), program.argument(value[1])]))
    return program.text()


def _cell(program: _Lines, family: str, name: str) -> Iterator[Value]:
    """Appends an op with what is before and after it. Yields the values that are used once more later."""
    choose = program.choose
    case = random_case(choose, family, name)
    for _ in range(TRIES):
        if max(each.size for each in (*case.operands, *case.results())) <= MOST:
            break
        case = random_case(choose, family, name)
    operands = [_operand(program, case, place) for place in range(len(case.operands))]
    results = program.add(case, operands)
    for value in results:
        if not rarely(choose, 3):
            program.function(AFTER if value[1].dtype in FLOATS else BEFORE, value)
        if not rarely(choose, 3):
            yield value
    if operands and operands[0][0].startswith("%v") and rarely(choose, 2):
        yield operands[0]


def _operand(program: _Lines, case: OpCase, place: int) -> Value:
    """Returns an operand: an argument, a value that is there, a weight, or a function of one of these."""
    spec, flavour, choose = case.operands[place], case.flavours[place], program.choose
    if flavour.startswith("index:"):
        return program.argument(spec)
    fitting = [each for each in program.values if each[1] == spec]
    if fitting and not rarely(choose, 3):
        value = choose.element(fitting)
    elif place > 0 and spec.dtype in FLOATS and rarely(choose, 2):
        return program.weight(spec)
    else:
        value = program.argument(spec)
    plain = flavour in ("divisor", "positive") or rarely(choose, 3)
    return value if plain else program.function(BEFORE, value)


def _others(program: _Lines, value: Value) -> list[Value]:
    return [each for each in program.values if each[1] == value[1] and each[0] != value[0]]
