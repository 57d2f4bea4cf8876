"""
`Executable.trace` compares every value that a program computes with the reference, and names the first that differs.

The program stops at the end of the graph level, where it is made to return its values (`expose-values`). From there it
is lowered as always, and runs. The reference runs the same graph. Then the program as it was compiled and the graph
that it came from are compared too. So an error in lowering, in merging kernels, and in rewriting the graph can be told
apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ...core.messages.locations import location_string
from ...core.passes.pipeline_text import expand_pipeline
from ...core.passes.pipelines import run_pipeline
from ...core.text.parsing import make_context
from ...reference.failure import ReferenceFailure
from ...reference.run import ReferenceRunError
from ...reference.run import run as run_reference
from ...rewrites.calibration.expose_values import ExposeValuesPass, exposed_values
from ..errors import CompileError
from ..program.describe import functions
from ..program.program import BoundEntry
from ..program.weights import reference_weights
from ..source import Source, copy_of
from ..specialisations import Shapes
from .table import table_lines

Array = np.ndarray[Any, Any]

TOLERANCES = {"f64": 1e-9, "f32": 1e-4, "f16": 1e-2, "bf16": 5e-2}
"""The relative errors up to which floats count as equal, by element type. Other elements must be equal."""

_END_OF_GRAPH = ("lower-external-functions", "lower-graph-to-loops")


@dataclass(frozen=True)
class TracedValue:
    """One value of the program and how far it is from the reference."""

    op: str
    """The operation, or the function that is called."""
    place: str
    """`file:line:column` in the text of the program."""
    type: str
    absolute_error: float
    """The largest error. It is inf where one side is NaN or infinite and the other is not."""
    relative_error: float
    """The largest error relative to the element or to the root mean square of all, whichever is larger."""
    worst: tuple[int, ...]
    """The index of that element, whose values are `found` and `expected`."""
    found: Any
    expected: Any
    tolerance: float

    @property
    def diverges(self) -> bool:
        """True where the value is further off than its type allows."""
        return not self.relative_error <= self.tolerance

    def __str__(self) -> str:
        where = f"[{', '.join(map(str, self.worst))}]"
        return (
            f"{self.place}: {self.op} : {self.type}: {self.found} at {where}, expected {self.expected} "
            f"(relative error {self.relative_error:.2g}, allowed {self.tolerance:.2g})"
        )


@dataclass(frozen=True)
class Trace:
    """What `Executable.trace` found. `str` gives it as a table, and then the first value that diverges."""

    values: tuple[TracedValue, ...]
    """The values in program order, as computed by the program that returns them."""
    results: tuple[TracedValue, ...]
    """The results of the program as it was compiled, beside the reference of the graph it became."""
    rewritten: tuple[TracedValue, ...]
    """The results of that graph beside those of the graph as it was written, both by the reference."""

    @property
    def first(self) -> TracedValue | None:
        """The first value that diverges, None where nothing does."""
        return next((value for value in (*self.values, *self.results, *self.rewritten) if value.diverges), None)

    @property
    def verdict(self) -> str:
        """What went wrong, in words."""
        if (value := _first(self.values)) is not None:
            return f"the first value that diverges: {value}"
        if (value := _first(self.results)) is not None:
            return (
                "every value is right when all are returned, but a result of the program as it is diverges, so "
                f"kernels are merged wrongly: {value}"
            )
        if (value := _first(self.rewritten)) is not None:
            return f"the program computes what its graph says, but a pass on graphs changed a result: {value}"
        return f"no value diverges: {len(self.values)} values, {len(self.results)} results"

    def __str__(self) -> str:
        rows = [("value", "type", "absolute", "relative")]
        for value in self.values:
            errors = f"{value.absolute_error:.2g}", f"{value.relative_error:.2g}"
            rows.append((f"{value.place} {value.op}", value.type, *errors))
        marks = ["", *("  diverges" if value.diverges else "" for value in self.values)]
        lines = [line + mark for line, mark in zip(table_lines(rows, left=2), marks, strict=True)]
        return "\n".join([*lines, self.verdict])


def _first(values: Sequence[TracedValue]) -> TracedValue | None:
    return next((value for value in values if value.diverges), None)


def trace(
    source: Source, bound: BoundEntry, arrays: Sequence[Any], shapes: Shapes | None, tolerance: float | None
) -> Trace:
    """
    Runs the program of `source` as it is (`bound`), with all values returned, and by the reference.

    The result and the errors are those of `Executable.trace`.
    """
    graph, rest = _graph(source, shapes)
    weights = reference_weights(source.module, source.weights)
    exposing, values = _exposing(graph, source.entry)
    names = [_name(value) for value in values]
    found = _lowered(source, exposing, rest)(*arrays)
    expected = _reference(exposing, source.entry, arrays, weights)
    count = len(bound.entry.of("output"))
    order = _program_order(values)
    traced = tuple(_compared(*names[i], found[i], expected[i], tolerance) for i in order)
    own = [_compared(*names[i], result, expected[i], tolerance) for i, result in enumerate(bound(*arrays)[:count])]
    written = _reference(source.module, source.entry, arrays, weights)
    rewritten = [_compared(*names[i], expected[i], array, tolerance) for i, array in enumerate(written[:count])]
    return Trace(traced, tuple(own), tuple(rewritten))


def _graph(source: Source, shapes: Shapes | None) -> tuple[ModuleOp, str]:
    """
    Returns the module at the foot of the graph level, and the passes that are left.

    Raises CompileError where there is no graph.
    """
    passes = [str(spec) for spec in expand_pipeline(source.pipeline_for(shapes))]
    places = [index for index, name in enumerate(passes) if name in _END_OF_GRAPH]
    function = functions(source.module)[source.entry]
    if not places or not isinstance(function, func.FuncOp) or not _is_graph(function):
        raise CompileError(f"@{source.entry} is not on the graph level, where there is a reference to compare with")
    module = copy_of(source.module)
    source.context.copy().run(
        lambda: run_pipeline(make_context(), module, ",".join(passes[: places[0]]), verify_each=False)
    )
    return module, ",".join(passes[places[0] :])


def _is_graph(function: func.FuncOp) -> bool:
    return all(str(type_).startswith("tensor<") for type_ in function.function_type.inputs)


def _exposing(graph: ModuleOp, entry: str) -> tuple[ModuleOp, list[SSAValue]]:
    """Makes the graph return its values, and returns both."""
    ExposeValuesPass(entry).apply(make_context(), graph)
    function = functions(graph)[entry]
    assert isinstance(function, func.FuncOp)
    return graph, exposed_values(function)


def _name(value: SSAValue) -> tuple[str, str, str]:
    """Returns what computes a value, its place, and its type."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return "argument", "", str(value.type)
    name = f"@{owner.callee.string_value()}" if isinstance(owner, func.CallOp) else owner.name
    return name, location_string(owner), str(value.type)


def _program_order(values: Sequence[SSAValue]) -> list[int]:
    """Returns the numbers of the values in the order of their operations, without arguments that are returned."""
    places: dict[Operation, int] = {}
    for value in values:
        if isinstance(value.owner, Operation) and (block := value.owner.parent) is not None and not places:
            places = {op: index for index, op in enumerate(block.ops)}
    computed = [i for i, value in enumerate(values) if isinstance(value.owner, Operation)]
    return sorted(computed, key=lambda i: (places[values[i].owner], i))  # pyright: ignore[reportArgumentType]


def _reference(module: ModuleOp, entry: str, arrays: Sequence[Any], weights: Mapping[str, Array]) -> tuple[Array, ...]:
    try:
        return run_reference(module, entry, *arrays, weights=weights)
    except ReferenceFailure as failure:
        raise CompileError(f"the reference fails where the program does not: {failure}") from failure
    except ReferenceRunError as error:
        raise CompileError(f"there is no reference to compare with: {error}") from error


def _lowered(source: Source, module: ModuleOp, pipeline: str) -> BoundEntry:
    """Returns the entry of `module` after the rest of the passes."""
    description, code = source.compiled(copy_of(module), pipeline)
    return source.program(description, code).entry(source.entry)


def _compared(op: str, place: str, type_: str, found: Array, expected: Array, tolerance: float | None) -> TracedValue:
    element = type_.rpartition("x")[2].strip("<>").removeprefix("tensor<")
    allowed = TOLERANCES.get(element, 0.0) if tolerance is None or element not in TOLERANCES else tolerance
    if expected.size == 0:
        return TracedValue(op, place, type_, 0.0, 0.0, (), None, None, allowed)
    left, right = (np.asarray(each, np.float64) for each in (found, expected))
    with np.errstate(all="ignore"):
        absolute = np.abs(left - right)
        same = (found == expected) | (np.isnan(left) & np.isnan(right))
        if element not in TOLERANCES:
            absolute = np.maximum(absolute, 1)  # Large integers that f64 cannot tell apart.
        absolute = np.where(same, 0.0, np.where(np.isfinite(absolute), absolute, np.inf))
        finite = right[np.isfinite(right)]
        size = np.sqrt(np.mean(np.square(finite))) if finite.size else 0.0
        relative = np.where(absolute == 0, 0.0, absolute / np.maximum(np.abs(right), size))
        relative = np.where(np.isnan(relative), np.inf, relative)
    place_of_worst = int(np.argmax(relative))
    worst = tuple(map(int, np.unravel_index(place_of_worst, expected.shape)))
    return TracedValue(
        op, place, type_, float(absolute.max()), float(relative.max()), worst, found[worst], expected[worst], allowed
    )
