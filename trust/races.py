"""Races that the check of each pass looks for where programs are too long for the interpreter."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Operation

from ..analysis.ranges.races import parallel_variables
from ..core.ir.structural_hash import structural_hash
from ..core.ir.walk import walk
from ..core.roles import CHUNK, TASK
from ..dialects import tensor_loop
from ..reference.loops.faults import LoopFault
from ..reference.loops.sampled import sampled_race
from ..reference.loops.state import symbol_of


class Races:
    """
    Looks at functions with parallel loops. What machine code of one thread gives says nothing about races in them.

    A function without a race is looked at once.
    """

    def __init__(self) -> None:
        self._free: set[str] = set()

    def first(self, module: ModuleOp) -> tuple[str, LoopFault] | None:
        """Returns the first function of a module in which two iterations of a parallel loop meet, and the race."""
        functions = {name: op for op in module.body.block.ops if (name := symbol_of(op)) is not None}
        for name, op in functions.items():
            if not _is_on_buffers(op) or (parts := _parallel_parts(op)) is None:
                continue
            key = " ".join(
                structural_hash(each) for each in (op, *(functions[part] for part in parts if part in functions))
            )
            if key in self._free:
                continue
            try:
                race = sampled_race(module, op)
            except Exception:  # An op of another package, or a type that the interpreter has no arrays of.
                race = None
            if race is not None:
                return name, race
            self._free.add(key)
        return None


def _is_on_buffers(op: Operation) -> bool:
    """Returns whether an op is a function that can be run by itself: not a task, which runs one chunk of a loop."""
    if not op.regions or not op.regions[0].blocks or TASK in op.attributes:
        return False
    if isinstance(op, tensor_loop.FuncOp):
        return True
    return isinstance(op, func.FuncOp) and all(isinstance(each, MemRefType) for each in op.function_type.inputs)


def _parallel_parts(function: Operation) -> list[str] | None:
    """Returns the tasks that a function calls in chunks, or None where it has neither these nor parallel loops."""
    parts: list[str] = []
    is_parallel = False
    for op in walk(function):
        if isinstance(op, func.CallOp) and CHUNK in op.attributes:
            parts.append(op.callee.string_value())
        is_parallel |= op.name == "scf.parallel" or bool(parallel_variables(op))
    return parts if parts or is_parallel else None
