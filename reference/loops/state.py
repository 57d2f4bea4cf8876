"""
The machine that runs a program, and the preparation of its functions.

A function is prepared once: each value gets a slot of the frame, and each op becomes a Python function of the frame. A
call makes a new frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from ..arith import NoNumbers, meaning_of
from .faults import fault
from .races import ParallelLoop
from .storage import Buffer

Frame = list[Any]
"""The values of one call of a function, by slot."""

Step = Callable[[Frame], None]
"""One op, ready to run."""

Watch = Callable[[Operation, Sequence[Any], bool], None]
"""A function that is told of each call: the function called, its arguments, and whether it has returned."""

Native = Callable[[Sequence[Any]], None]
"""A function without results that is not interpreted. It takes the values of its arguments."""

MAX_STEPS = 50_000_000
MAX_DEPTH = 64


class Machine:
    """One execution of a program: its functions, its limits and the parallel loops that are running."""

    def __init__(
        self, functions: Mapping[str, Operation], tables: Mapping[str, Prepare], max_steps: int, max_depth: int
    ):
        self.functions = functions
        self.tables = tables
        self.steps_left = max_steps
        self.max_steps = max_steps
        self.max_depth = max_depth
        self.depth = 0
        self.time = 0
        """Counts allocations and iterations of parallel loops."""
        self.parallel: list[ParallelLoop] = []
        self.globals: dict[str, Buffer] = {}
        self.watch: Watch | None = None
        self.natives: Mapping[str, Native] = {}
        """The functions that are run by somebody else, by name."""
        self.samples = 0
        """
        The number of iterations of each loop that run, all where it is 0.

        Where only some run, elements that the others would have written count as written.
        """
        self._prepared: dict[str, Function] = {}

    def tick(self) -> int:
        """Returns the next time."""
        self.time += 1
        return self.time

    def some(self, numbers: range) -> Sequence[int]:
        """Returns the iterations of a loop that run: all, or the first ones and the last one."""
        return numbers if not 0 < self.samples < len(numbers) else [*numbers[: self.samples - 1], numbers[-1]]

    def function(self, name: str, caller: Operation) -> Function:
        """Returns a function, ready to run. Raises `LoopFault` where the module has none of that name with a body."""
        found = self._prepared.get(name)
        if found is None:
            op = self.functions.get(name)
            if op is None or not op.regions or not op.regions[0].blocks:
                raise fault("unknown", caller, f"@{name} has no body in this module, so it cannot be interpreted")
            found = self._prepared[name] = Function(self, op)
        return found


class Body:
    """A block that is ready to run: its arguments, its ops and the operands of its terminator."""

    def __init__(self, machine: Machine, block: Block, slots: list[int], steps: list[Step], ending: Operation | None):
        self._machine = machine
        self._op = ending if ending is not None else block.parent_op()
        self._slots = slots
        self._steps = steps
        self._cost = len(steps) + 1
        self.ending = ending
        self.results: list[int] = []

    def __call__(self, frame: Frame, arguments: Sequence[Any] = ()) -> list[Any]:
        """Runs the block, and returns what its terminator hands on."""
        machine = self._machine
        machine.steps_left -= self._cost
        if machine.steps_left < 0:
            assert self._op is not None
            message = f"the program has not ended after {machine.max_steps} steps"
            raise fault("endless", self._op, message, hint="max_steps sets the limit")
        for slot, value in zip(self._slots, arguments, strict=True):
            frame[slot] = value
        for step in self._steps:
            step(frame)
        return [frame[slot] for slot in self.results]


class Scope:
    """The preparation of one function: the slots of its values."""

    def __init__(self, machine: Machine):
        self.machine = machine
        self.slots: dict[SSAValue, int] = {}
        self.around_loops: dict[Operation, list[LoopWatcher]] = {}
        """What is to happen before and after a loop that blocks with an init stand in."""

    def slot(self, value: SSAValue) -> int:
        """Returns the slot of a value."""
        return self.slots.setdefault(value, len(self.slots))

    def slots_of(self, values: Sequence[SSAValue]) -> list[int]:
        return [self.slot(value) for value in values]

    def region(self, region: Region) -> Body:
        """Returns the one block of a region, ready to run."""
        return self.block(region.block)

    def block(self, block: Block, skip: Operation | None = None) -> Body:
        """Returns a block, ready to run. The op `skip` is left out."""
        arguments = self.slots_of(block.args)
        ops = list(block.ops)
        ending = ops.pop() if ops and ops[-1].has_trait(IsTerminator, value_if_unregistered=False) else None
        body = Body(self.machine, block, arguments, [self.op(each) for each in ops if each is not skip], ending)
        body.results = [] if ending is None else self.slots_of(ending.operands)
        return body

    def op(self, op: Operation) -> Step:
        """Returns an op, ready to run. One that is not known raises a fault when it is reached."""
        prepare = self.machine.tables.get(op.name)
        try:
            if prepare is not None:
                return prepare(self, op)
            meaning = meaning_of(op)
        except NoNumbers as error:
            return _unknown(op, str(error))
        if meaning is None:
            return _unknown(op, "the interpreter does not know this op")
        operands, results = self.slots_of(op.operands), self.slots_of(op.results)
        if len(results) == 1:
            result = results[0]

            def step(frame: Frame) -> None:
                frame[result] = meaning(*[frame[slot] for slot in operands])[0]

            return step

        def steps(frame: Frame) -> None:
            found = meaning(*[frame[slot] for slot in operands])
            for slot, value in zip(results, found, strict=True):
                frame[slot] = value

        return steps


Prepare = Callable[[Scope, Operation], Step]
"""Makes an op of a scope ready to run."""


class LoopWatcher:
    """Is told before a loop runs, and after it has."""

    def begin(self, frame: Frame) -> None:
        raise NotImplementedError

    def end(self, frame: Frame) -> None:
        raise NotImplementedError


def _unknown(op: Operation, why: str) -> Step:
    def step(frame: Frame) -> None:
        raise fault("unknown", op, why)

    return step


class Function:
    """A function that is ready to run."""

    def __init__(self, machine: Machine, op: Operation):
        self.op = op
        self._machine = machine
        scope = Scope(machine)
        self._blocks = {block: scope.block(block) for block in op.regions[0].blocks}
        self._entry = op.regions[0].blocks[0]
        self._scope = scope

    def run(self, caller: Operation, arguments: Sequence[Any]) -> list[Any]:
        """Runs the function in a frame of its own, and returns its results."""
        machine = self._machine
        if machine.depth >= machine.max_depth:
            message = f"calls are nested more than {machine.max_depth} deep"
            raise fault("endless", caller, message, hint="max_depth sets the limit")
        machine.depth += 1
        frame: Frame = [None] * len(self._scope.slots)
        block, values = self._entry, arguments
        while True:
            body = self._blocks[block]
            found = body(frame, values)
            taken = _successor(body.ending, found)
            if taken is None:
                break
            block, values = taken
        machine.depth -= 1
        return found


def _successor(ending: Operation | None, operands: list[Any]) -> tuple[Block, list[Any]] | None:
    """Returns the block that a branch goes to, with its arguments, or None for the end of a function."""
    if ending is None or not ending.successors:
        return None
    if ending.name not in _CHOICES:
        raise fault("unknown", ending, "the interpreter does not know this op")
    number = _CHOICES[ending.name](ending, operands)
    forwarded = [len(block.args) for block in ending.successors]
    start = len(operands) - sum(forwarded[number:])
    return ending.successors[number], operands[start : start + forwarded[number]]


def _case(switch: Any, operands: list[Any]) -> int:
    """Returns the number of the successor that a `cf.switch` goes to, 0 for the default."""
    bits = switch.flag.type.width.data
    flag = int(operands[0]) % 2**bits
    cases = () if switch.case_values is None else switch.case_values.get_values()
    return next((number for number, case in enumerate(cases, 1) if int(case) % 2**bits == flag), 0)


_CHOICES: Final[dict[str, Callable[[Any, list[Any]], int]]] = {
    "cf.br": lambda op, operands: 0,
    "cf.cond_br": lambda op, operands: 0 if operands[0] else 1,
    "cf.switch": _case,
}
"""The number of the successor that a branch goes to. Operands of all successors stand at the end, in their order."""


def symbol_of(op: Operation) -> str | None:
    """Returns the name of a function or global of a module."""
    name = op.get_attr_or_prop("sym_name")
    return name.data if isinstance(name, StringAttr) else None
