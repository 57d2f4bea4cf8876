"""Runs an entry on loops or buffers on arrays."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Operation

from ...core.derived_weights import weight_array
from ...core.roles import INSTANCES, KEY, prepare_function
from ...dialects.tensor_loop import FuncOp
from ..element_types import Array
from . import control, memory, nests, tiles, vectors, views
from .buffers import Arguments, arguments_of, flattened
from .faults import fault
from .state import MAX_DEPTH, MAX_STEPS, Machine, Native, Prepare, Watch, symbol_of

TABLES: dict[str, Prepare] = {
    **memory.TABLE,
    **views.TABLE,
    **control.TABLE,
    **nests.TABLE,
    **vectors.TABLE,
    **tiles.TABLE,
}
"""The functions that make ops ready to run. Ops of `arith` and `math` have none: they are functions of numbers."""

PYTHON_FRAMES = 20_000
"""The depth of Python's own stack that programs of the deepest calls need."""


def run_loops(
    module: ModuleOp,
    entry: str,
    arrays: Sequence[Any],
    *,
    weights: Mapping[str, Array] | None = None,
    max_steps: int = MAX_STEPS,
    max_depth: int = MAX_DEPTH,
    watch: Watch | None = None,
    natives: Mapping[str, Native] | None = None,
) -> tuple[Array, ...]:
    """
    Runs `@entry` of `module`, a `tensor_loop.func` or a `func.func` on buffers, and returns its outputs.

    `arrays` are the inputs in order, with the outputs that hold an input when they are called (`stepwell.in_place`).
    Arrays for all outputs may be given too, of which only the shapes count. A function that does not tell its outputs
    takes an array for every argument. It returns its results and then all of its buffers. `weights` are the arrays of
    weights by key.

    Raises `LoopFault` where the program does what no program may do: see `Kind`. Raises `ReferenceFailure` where a
    check of the program fails. The program may take `max_steps` ops and calls `max_depth` deep. `watch` is told of each
    call before it runs and after it has returned. `natives` run in the place of the functions of their names.
    """
    runner = LoopRunner(module, max_steps=max_steps, max_depth=max_depth, watch=watch, natives=natives)
    return runner.run(entry, arrays, module, weights=weights)


class LoopRunner:
    """The loop functions of a module, which are prepared once and run any number of times."""

    def __init__(
        self,
        module: ModuleOp,
        *,
        max_steps: int = MAX_STEPS,
        max_depth: int = MAX_DEPTH,
        watch: Watch | None = None,
        natives: Mapping[str, Native] | None = None,
        samples: int = 0,
    ):
        """Prepares a module. `samples` is the number of iterations of each loop that run, 0 for all."""
        functions = {name: op for op in module.body.block.ops if (name := symbol_of(op)) is not None}
        self._machine = Machine(functions, TABLES, max_steps, max_depth)
        self._machine.watch = watch
        self._machine.natives = natives or {}
        self._machine.samples = samples

    def run(
        self,
        name: str,
        arrays: Sequence[Any],
        caller: Operation,
        *,
        weights: Mapping[str, Array] | None = None,
        sizes: Sequence[Sequence[int]] | None = None,
    ) -> tuple[Array, ...]:
        """
        Returns the outputs of a function. The arguments and the errors are those of `run_loops`.

        `sizes` are the shapes of the outputs, where their types do not say them. `caller` is the op that faults of the
        call point at.
        """
        machine = self._machine
        found = machine.functions.get(name)
        if found is None:
            raise fault("unknown", caller, f"the module has no function @{name}")
        if not found.regions or not found.regions[0].blocks:
            raise fault("unknown", caller, f"@{name} has no body in this module, so it cannot be interpreted")
        with np.errstate(all="ignore"), _deep_stack():
            try:
                return _run(machine, found, name, arrays, weights or {}, sizes)
            except RecursionError:
                message = "calls or regions are nested too deep"
                raise fault("endless", found, message, hint="max_depth sets the limit") from None


def _run(
    machine: Machine,
    entry: Operation,
    name: str,
    arrays: Sequence[Any],
    weights: Mapping[str, Array],
    sizes: Sequence[Sequence[int]] | None,
) -> tuple[Array, ...]:
    arguments = Arguments(entry, arrays, lambda key: _weight(machine, entry, key, weights), sizes)
    values = flattened(arguments.values, arguments_of(entry))
    if isinstance(entry, FuncOp):
        nests.call_loops(machine, entry, name, values)
        return arguments.outputs()
    results = control.call(machine, entry, name, values)
    return (*(np.asarray(each) for each in results), *arguments.outputs())


def _weight(machine: Machine, entry: Operation, key: str, weights: Mapping[str, Array]) -> Array:
    """
    Returns a weight that is given, or the result of a prepare function.

    Of such a result, padding that nobody reads need not be written: it is masked.
    """
    if (found := weight_array(weights, key)) is not None:
        return found
    function = prepare_function(key)
    if function is None:
        raise fault("unknown", entry, f"weight '{key}' was not given")
    prepare, renamed = _prepare(machine, entry, function)
    arguments = Arguments(prepare, (), lambda own: _weight(machine, entry, renamed.get(own, own), weights))
    name = symbol_of(prepare)
    assert name is not None
    control.call(machine, prepare, name, flattened(arguments.values, arguments_of(prepare)))
    return arguments.outputs_as_written()[int(key.partition("#")[2])]


def _prepare(machine: Machine, entry: Operation, name: str) -> tuple[Operation, dict[str, str]]:
    """Returns a prepare function, and the keys that its own weights stand for where another function does its work."""
    if name in machine.functions:
        return machine.functions[name], {}
    for op in machine.functions.values():
        instances = op.attributes.get(INSTANCES)
        keys = instances.data.get(name) if isinstance(instances, DictionaryAttr) else None
        if isinstance(keys, ArrayAttr):
            own = [each for argument in arguments_of(op) if (each := argument.attributes.get(KEY)) is not None]
            pairs = zip(own, keys.data, strict=True)
            return op, {a.data: b.data for a, b in pairs if isinstance(a, StringAttr) and isinstance(b, StringAttr)}
    raise fault("unknown", entry, f"the module has no prepare function @{name}")


@contextmanager
def _deep_stack() -> Iterator[None]:
    """Lets Python's stack hold the calls of a program, each of which is several of its own."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, PYTHON_FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
