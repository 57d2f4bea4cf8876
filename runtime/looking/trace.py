"""
`Executable.trace` compares every value that a program computes with the reference, and names the first that differs.

The program stops at the end of the graph level, where it is made to return its values (`expose-values`). From there it
is lowered as always, and runs. The reference runs the same graph. Then the program as it was compiled and the graph
that it came from are compared too. So an error in lowering, in merging kernels, and in rewriting the graph can be told
apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
from ..modules import copy_of
from ..program.bound_entry import BoundEntry
from ..program.describe import functions
from ..program.weights import reference_weights
from ..source import Source
from ..specialisations import Shapes
from .trace_loops import trace_loops
from .values import Array, Trace, compared

_END_OF_GRAPH = ("lower-external-functions", "lower-graph-to-loops")


def trace(
    source: Source, bound: BoundEntry, arrays: Sequence[Any], shapes: Shapes | None, tolerance: float | None
) -> Trace:
    """
    Runs the program of `source` as it is (`bound`), with all values returned, and by the reference.

    The result and the errors are those of `Executable.trace`.
    """
    if not _is_graph(functions(source.module)[source.entry]):
        return trace_loops(source, bound, arrays, tolerance)
    graph, rest = _graph(source, shapes)
    source.side_car()  # It is an error where the file has changed.
    weights = reference_weights(source.module, source.weights)
    exposing, values = _exposing(graph, source.entry)
    names = [_name(value) for value in values]
    lowered = _lowered(source, exposing, rest)
    found = lowered(*lowered.apart(arrays))
    expected = _reference(exposing, source.entry, arrays, weights)
    count = len(bound.entry.of("output"))
    order = _program_order(values)
    traced = tuple(compared(*names[i], found[i], expected[i], tolerance) for i in order)
    results = bound(*bound.apart(arrays))[:count]
    own = [compared(*names[i], result, expected[i], tolerance) for i, result in enumerate(results)]
    written = _reference(source.module, source.entry, arrays, weights)
    rewritten = [compared(*names[i], expected[i], array, tolerance) for i, array in enumerate(written[:count])]
    return Trace(traced, tuple(own), tuple(rewritten))


def _graph(source: Source, shapes: Shapes | None) -> tuple[ModuleOp, str]:
    """
    Returns the module at the foot of the graph level, and the passes that are left.

    Raises CompileError where there is no graph.
    """
    passes = [str(spec) for spec in expand_pipeline(source.pipeline_for(shapes))]
    places = [index for index, name in enumerate(passes) if name in _END_OF_GRAPH]
    if not places:
        raise CompileError(f"the pipeline of @{source.entry} does not end the graph level, where the reference runs")
    module = copy_of(source.module)
    source.context.copy().run(
        lambda: run_pipeline(make_context(), module, ",".join(passes[: places[0]]), verify_each=False)
    )
    return module, ",".join(passes[places[0] :])


def _is_graph(function: Operation) -> bool:
    return isinstance(function, func.FuncOp) and all(
        str(type_).startswith("tensor<") for type_ in function.function_type.inputs
    )


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
