"""Random partitioned programs: what calibration gives is what each function took and gave, natively and in NumPy."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import counts
import numpy as np
import pytest
import stepwell
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwell.core.ir.verification import verify_module
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context
from stepwell.rewrites.calibration.plan import read_map

T = "tensor<2x3xf32>"
OPS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "negative": np.negative,
    "abs": np.abs,
    "square": np.square,
}
"""With one right answer for every bit."""


@dataclass
class Region:
    """A function: its text, and what it computes as a list of (op, numbers of operands) over its values."""

    name: str
    inputs: int
    steps: list[tuple[str, list[int]]]
    outputs: list[int]

    def text(self, compiler: str) -> str:
        arguments = ", ".join(f"%v{number}: {T}" for number in range(self.inputs))
        types = ", ".join([T] * len(self.outputs))
        body = "\n".join(
            op_text(f"%v{self.inputs + number}", op, [f"%v{each}" for each in operands])
            for number, (op, operands) in enumerate(self.steps)
        )
        returned = ", ".join(f"%v{number}" for number in self.outputs)
        attributes = f' attributes {{graph.compiler = "{compiler}"}}' if compiler else ""
        return (
            f"func.func private @{self.name}({arguments}) -> ({types}){attributes} {{\n{body}\n"
            f"func.return {returned} : {types}\n}}\n"
        )

    def __call__(self, arrays: list[Any]) -> list[Any]:
        values = list(arrays)
        for op, operands in self.steps:
            values.append(OPS[op](*[values[number] for number in operands]))
        return [values[number] for number in self.outputs]


def op_text(result: str, op: str, operands: list[str]) -> str:
    return f"{result} = graph.{op} {', '.join(operands)} : ({', '.join([T] * len(operands))}) -> {T}"


def arity(op: str) -> int:
    return OPS[op].nin


@dataclass
class Program:
    """A main that calls each region once, in the order of `expected`: the data of each, by evaluating it here."""

    text: str
    arguments: dict[str, Any]
    expected: list[tuple[str, list[Any], list[Any]]] = field(default_factory=list)


def random_region(random: Random, name: str) -> Region:
    inputs = random.randint(1, 4)
    steps: list[tuple[str, list[int]]] = []
    for number in range(random.randint(0, 4)):
        op = random.choice(list(OPS))
        steps.append((op, [random.randrange(inputs + number) for _ in range(arity(op))]))
    last = inputs + len(steps)
    # A result may be an argument, or stand twice.
    return Region(name, inputs, steps, [random.randrange(last) for _ in range(random.randint(1, 3))])


def random_program(seed: int) -> Program:
    random = Random(seed)
    generator = np.random.default_rng(seed)
    names = [f"a{number}" for number in range(random.randint(1, 3))]
    arguments = {name: generator.standard_normal((2, 3)).astype(np.float32) for name in names}
    values: list[tuple[str, Any]] = [(f"%{name}", array) for name, array in arguments.items()]
    regions = [random_region(random, f"region{number}") for number in random.sample(range(20), random.randint(1, 6))]
    plain = random_region(random, "plain")
    lines: list[str] = []
    program = Program("", arguments)
    with np.errstate(all="ignore"):
        for number, region in enumerate(regions):
            if random.random() < 0.5:
                op = random.choice(list(OPS))
                chosen = [random.choice(values) for _ in range(arity(op))]
                lines.append(op_text(f"%p{number}", op, [name for name, _ in chosen]))
                values.append((f"%p{number}", OPS[op](*[array for _, array in chosen])))
            for called in [region] + [plain] * random.randint(0, 1):
                chosen = [random.choice(values[-6:]) for _ in range(called.inputs)]
                arrays = [array for _, array in chosen]
                results = [(f"%r{len(lines)}_{index}", a) for index, a in enumerate(called(arrays))]
                lines.append(call_text(called.name, [n for n, _ in results], [n for n, _ in chosen]))
                if called is region:
                    program.expected.append((region.name, arrays, [array for _, array in results]))
                values += results
    functions = [each.text(random.choice(["npu", "none-such"])) for each in regions] + [plain.text("")]
    random.shuffle(functions)
    signature = ", ".join(f"%{name}: {T}" for name in names)
    body = "\n".join(lines)
    main = f"func.func @main({signature}) -> {T} {{\n{body}\nfunc.return {values[-1][0]} : {T}\n}}\n"
    program.text = "".join([main, *functions] if random.random() < 0.5 else [*functions, main])
    return program


def call_text(name: str, results: list[str], operands: list[str]) -> str:
    types = f"({', '.join([T] * len(operands))}) -> ({', '.join([T] * len(results))})"
    return f"{', '.join(results)} = func.call @{name}({', '.join(operands)}) : {types}"


def check(program: Program, **options: Any) -> None:
    found = stepwell.calibrate(program.text, program.arguments, cache=False, **options)
    assert list(found) == [name for name, _, _ in program.expected]
    for name, inputs, outputs in program.expected:
        assert (len(found[name]["inputs"]), len(found[name]["outputs"])) == (len(inputs), len(outputs))
        for array, wanted in zip(found[name]["inputs"] + found[name]["outputs"], inputs + outputs, strict=True):
            np.testing.assert_array_equal(array, wanted)


@pytest.mark.ci_cases(0)
@settings(max_examples=600 if counts.FULL else 60, deadline=None, derandomize=not counts.FULL)
@given(st.integers(0, 2**32))
def test_the_reference_gives_what_each_function_took_and_gave(seed: int) -> None:
    check(random_program(seed), reference=True)


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("seed", range(300 if counts.FULL else 12))
def test_native_code_gives_what_each_function_took_and_gave(seed: int) -> None:
    check(random_program(seed), numerics="strict", opt_level=seed % 4)


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize("seed", range(200 if counts.FULL else 20))
def test_the_map_covers_the_results_without_gaps(seed: int) -> None:
    """Every number of a result belongs to one function; the module verifies, and its text says the same."""
    program = random_program(seed)
    module = stepwell.parse(program.text)
    run_pipeline(make_context(), module, parse_pipeline("calibrate-map,calibrate-module"))
    verify_module(module)
    again = stepwell.parse(str(module))
    assert str(again) == str(module)
    (entry,) = (op for op in again.body.ops if "graph.calibration_map" in op.attributes)
    slices = [part for parts in read_map(entry).values() for part in parts]  # type: ignore[arg-type]
    numbers = [number for part in slices for number in (*part.input_numbers, *part.output_numbers)]
    assert numbers == list(range(len(entry.function_type.outputs)))  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", range(100 if counts.FULL else 6))
def test_calls_inside_functions_are_recorded_when_asked_for(seed: int) -> None:
    """The program wrapped in functions that are called one inside the other: the same data."""
    program = random_program(seed)
    arguments = ", ".join(f"%{name}: {T}" for name in program.arguments)
    types = f"({', '.join(T for _ in program.arguments)}) -> {T}"
    operands = ", ".join(f"%{name}" for name in program.arguments)
    text = program.text.replace("func.func @main", "func.func private @inner")
    for name, callee in (("private @middle", "inner"), ("@main", "middle")):
        text += (
            f"func.func {name}({arguments}) -> {T} {{\n%r = func.call @{callee}({operands}) : {types}\n"
            f"func.return %r : {T}\n}}\n"
        )
    check(Program(text, program.arguments, program.expected), recursive=True, reference=True)


@pytest.mark.ci_cases(0)
def test_twenty_thousand_calls(tmp_path: Path) -> None:
    """Long programs: the passes take time in proportion."""
    count = 20_000 if counts.FULL else 2_000
    lines = [f"%v{n + 1} = func.call @g(%v{n}) : ({T}) -> {T}" for n in range(count)]
    text = (
        f"func.func @main(%v0: {T}) -> {T} {{\n" + "\n".join(lines) + f"\nfunc.return %v{count} : {T}\n}}\n"
        f'func.func private @g(%x: {T}) -> {T} attributes {{graph.compiler = "npu"}} {{ func.return %x : {T} }}'
    )
    module = stepwell.parse(text)
    run_pipeline(
        make_context(),
        module,
        parse_pipeline("calibrate-map{multi=list recursive},calibrate-module{multi=list recursive}"),
    )
    entry = module.body.block.first_op
    assert entry is not None
    (calls,) = read_map(entry).values()  # type: ignore[arg-type]
    assert len(calls) == count and calls[-1].offset == 2 * (count - 1)
