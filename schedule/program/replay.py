"""Runs the steps of a `schedule.program` on a module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import Parameter
from random import Random
from typing import Any, NoReturn

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation, SSAValue

from ...analysis.ranges.coverage import is_written
from ...core.ir.walk import ops_of
from ...core.messages.diagnostics import Diagnostic, OperationError, fail
from ...core.messages.locations import nearest_source_point
from ...core.plugins import registry
from ...core.roles import WRITTEN
from ...dialects.schedule.base import FROM_HANDLE, Field, StepOp, numbers_of
from ...dialects.tensor_loop import BlockOp, ForOp, FuncOp
from ..primitives.errors import ScheduleError, excerpt
from ..primitives.nests import block_name, loop_name
from ..primitives.steps import COUNT, value_of
from ..primitives.table import PRIMITIVES

Observer = Callable[[StepOp], None]
"""A function that is called with every step that has been run."""

EXTENSION = "schedule-step"
"""The kind of what other packages add: name of the step to a loader of a function such as `run_primitive`."""


class Replay:
    """
    Holds the handles of a module and the ops that they stand for. The method `run` does one step.

    A step that samples and has no decision takes one by `seed` and records it, so that the same seed gives the same
    program.
    """

    def __init__(self, module: ModuleOp, observer: Observer | None = None, seed: int = 0):
        self.module = module
        self.random = Random(seed)
        self.values: dict[SSAValue, Operation] = {}
        self._numbers: dict[SSAValue, int] = {}
        self._gone: dict[SSAValue, str] = {}
        self._names: dict[SSAValue, str] = {}
        self._observer = observer
        self.num_steps = 0
        for function in ops_of(module, FuncOp):  # The proof is easy before there is a schedule.
            if is_written(function):
                function.attributes[WRITTEN] = UnitAttr()

    def __repr__(self) -> str:
        return f"<stepwell.Replay, {self.num_steps} steps done>"

    def run(self, op: StepOp) -> tuple[Operation | int, ...]:
        """
        Runs a step, and returns what its results stand for: loops, blocks, numbers. Raises an error at the loop or
        block to blame, which says which step it is.
        """
        try:
            handles = [self.look_up(op, value) for value in op.targets]
            made = tuple(_function_of(op)(self, op, handles))
        except OperationError as error:
            raise _explained(error, op) from error
        self.num_steps += 1
        if len(op.made) != len(made):
            self._fail_by_count(op, made)
        for value, target in zip(op.made, made, strict=True):
            if isinstance(target, int):
                self._numbers[value] = target
                continue
            self.values[value] = target
            self._names[value] = loop_name(target) if isinstance(target, ForOp) else block_name(_block(target))
        self._mark_stale(op)
        if self._observer is not None:
            self._observer(op)
        return made

    def _fail_by_count(self, op: StepOp, made: Sequence[Operation | int]) -> NoReturn:
        """Raises because the program names another number of handles than the step makes here."""
        targets = tuple(each for each in made if isinstance(each, Operation))
        kind = "loop" if targets and isinstance(targets[0], ForOp) else "block"
        names = ", ".join(loop_name(t) if isinstance(t, ForOp) else block_name(_block(t)) for t in targets)
        found = f"{len(made)} {kind}{'' if len(made) == 1 else 's'}{f' ({names})' if names else ''}"
        reason = f"finds {found}, expected {len(op.made)}: the program is for another function"
        culprits = targets or tuple(self.values[value] for value in op.targets)
        raise _explained(ScheduleError(reason, culprits), op)

    def numbers(self, op: StepOp, name: str) -> list[int | None]:
        """
        Returns a parameter of a step that is a list of numbers. Its handles are replaced by the numbers that they stand
        for.
        """
        field = next(each for each in op.FIELDS if each.name == name)
        given = iter(op.numbers(field))
        return [
            self._number(op, next(given)) if number == FROM_HANDLE else number
            for number in numbers_of(op.properties[name])
        ]

    def whole_numbers(self, op: StepOp, name: str) -> list[int]:
        """Returns the `numbers` of a parameter without `?`."""
        return [number for number in self.numbers(op, name) if number is not None]

    def number(self, value: SSAValue) -> int | None:
        """Returns the number that a handle stands for, or `None` where it is of another schedule."""
        return self._numbers.get(value)

    def _number(self, op: StepOp, value: SSAValue) -> int:
        if value not in self._numbers:
            fail(op, "a number is of another schedule")
        return self._numbers[value]

    def look_up(self, op: StepOp, value: SSAValue) -> Operation:
        """Returns what a handle stands for. Raises an error when that is no more."""
        if value in self._gone:
            fail(op, f"the handle of {self._names[value]} is stale: {self._gone[value]}")
        if value not in self.values:
            fail(op, "a handle is of another schedule")
        return self.values[value]

    def _mark_stale(self, op: StepOp) -> None:
        for value, target in list(self.values.items()):
            if not _is_attached(target, self.module):
                self._gone[value] = f"step {self.num_steps}, '{op.name}', removed it"
                del self.values[value]


def _is_attached(op: Operation, module: ModuleOp) -> bool:
    parent: Operation | None = op
    while parent is not None and parent is not module:
        parent = parent.parent_op()
    return parent is module


def _explained(error: OperationError, op: StepOp) -> OperationError:
    """Returns `error` with the name of the step in front, and a note where the step is written."""
    message = error.reason if isinstance(error, ScheduleError) else str(error)
    text = f"'{op.name}': {message}"
    if isinstance(error, ScheduleError):
        text = f"{text}\n{excerpt(error.culprits)}"
    new = OperationError(op, message, hint=error.diagnostic.hint)
    point = nearest_source_point(op)
    notes = () if point is None else (Diagnostic("in this step of the schedule", "note", point),)
    new.diagnostic = replace(error.diagnostic, message=text, notes=notes)
    if not isinstance(error, ScheduleError) and error.diagnostic.point == point:
        new.diagnostic = replace(new.diagnostic, notes=())
    return new


def _block(op: Operation) -> BlockOp:
    assert isinstance(op, BlockOp)
    return op


Made = Sequence[Operation | int]
Run = Callable[[Replay, StepOp, list[Operation]], Made]
"""
A function that runs a step on what its handles of loops and blocks stand for. It returns what its results stand for.
"""


def _function_of(op: StepOp) -> Run:
    """Returns what runs a step of that type: one of ours, or that of another package."""
    if type(op) in PRIMITIVES:
        return run_primitive
    loaders = registry().extensions_of(EXTENSION)
    if op.name not in loaders:
        fail(op, f"nothing is installed that runs this step: no plug-in has a '{EXTENSION}' of that name")
    return loaders[op.name]()


def run_primitive(replay: Replay, op: StepOp, handles: list[Operation]) -> Made:
    """Calls the function of a primitive with the parameters that the step has."""
    primitive = PRIMITIVES[type(op)]
    arguments: list[Any] = []
    places = iter(handles)
    for parameter in primitive.parameters:
        field = primitive.field(parameter.name)
        if parameter.kind is Parameter.VAR_POSITIONAL:
            arguments += places
        elif field is not None:
            arguments.append(_argument(replay, op, field, parameter))
        else:
            arguments.append(len(op.made) if parameter.name == COUNT else next(places))
    given = {"module": replay.module, "random": replay.random, "op": op}
    made = primitive.function(*arguments, **{name: given[name] for name in primitive.given_by_replay})
    if not op.MAKES:
        return ()
    return made if isinstance(made, Sequence) else (made,)


def _argument(replay: Replay, op: StepOp, field: Field, parameter: Parameter) -> Any:
    """Returns what a step says of a parameter, its default where the step says nothing."""
    found = op.properties.get(field.name)
    if field.kind == "flag":
        return found is not None
    if found is None:
        return parameter.default
    if field.kind != "numbers":
        return value_of(field.kind, found)
    has_inferred = "Number | None" in str(parameter.annotation)
    return replay.numbers(op, field.name) if has_inferred else replay.whole_numbers(op, field.name)


def functions_of(module: ModuleOp) -> list[FuncOp]:
    """Returns the loop functions of a module."""
    return ops_of(module, FuncOp)
