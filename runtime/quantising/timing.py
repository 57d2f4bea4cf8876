"""The time that each layer takes, with what follows it up to the next layer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue

from ...core.ir.walk import walk
from ...rewrites.quantiser.layers import entry_of, layers_of
from ..compile import compile
from ..executable import Executable
from ..source import copy_of

ROUNDS: Final = 15
"""The number of times that a program runs to be timed."""

FILE: Final = "<layer>"
"""The file of the places of ops while layers are measured. A line is the number of a layer, counted from 1."""


def microseconds_of_layers(module: ModuleOp, entry: str, arrays: Sequence[Any], **options: Any) -> list[float]:
    """Returns the time of each layer of a program in microseconds. Kernels of several layers count for the first."""
    marked = copy_of(module)
    count = mark(marked, entry)
    times = [0.0] * count
    for call in compile(marked, entry=entry, cache=False, **options).profile(*arrays, rounds=ROUNDS).calls:
        file, _, place = call.place.partition(":")
        number = place.partition(":")[0]
        if file == FILE and number.isdecimal() and 1 <= int(number) <= count:
            times[int(number) - 1] += call.microseconds
    return times


def microseconds_of_both(
    one: Executable, other: Executable, arrays: Sequence[Any], threads: int | None
) -> tuple[float, float]:
    """Returns the times of a run of two programs, the least of several in turn. One thread has a clock of its own."""
    clock = time.thread_time_ns if threads == 1 else time.perf_counter_ns
    least = [float("inf")] * 2
    for _ in range(ROUNDS + 1):
        for number, program in enumerate((one, other)):
            given = program.apart(*arrays)
            start = clock()
            program(*given)
            least[number] = min(least[number], (clock() - start) / 1e3)
    return least[0], least[1]


def mark(module: ModuleOp, entry: str) -> int:
    """
    Gives every op of the entry the place of a layer: the last one that it depends on, or the one that it is made for.

    Returns the number of layers.
    """
    function = entry_of(module, entry)
    layers = layers_of(function)
    numbers: dict[Operation, int] = {layer.op: number for number, layer in enumerate(layers, 1)}
    of_value: dict[SSAValue, int] = {}
    for op in function.body.block.ops:
        own = numbers.get(op) or max((of_value.get(operand, 0) for operand in op.operands), default=0)
        of_value.update((result, own) for result in op.results)
    for op in reversed(list(function.body.block.ops)):
        own = numbers.get(op) or next((of_value[result] for result in op.results if of_value[result]), 0)
        if not own:
            users = (use.operation for result in op.results for use in result.uses)
            own = min((of_value[user.results[0]] for user in users if user.results), default=0)
            of_value.update((result, own) for result in op.results)
        for each in walk(op):
            each.location = FileLineColLoc(StringAttr(FILE), IntAttr(own), IntAttr(1))
    return len(layers)
