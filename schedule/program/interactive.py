"""
Schedules from Python: every call runs a primitive and records it as a step of a `schedule.program`.

    s = Schedule(module)
    b = s.get_block("matmul", "f")
    i, j, k = s.get_loops(b)
    i0, i1 = s.split(i, [None, 8])
    s.reorder(i0, j, k, i1)
    s.unroll(i1)
    print(s.program())           # replays by apply-schedule
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, ModuleOp
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from ...analysis.drawing.html import folded, output, program
from ...analysis.drawing.show import show
from ...core.messages.diagnostics import OperationError
from ...dialects.schedule import FROM_HANDLE, ProgramOp, StepOp, numbers_attribute
from ...dialects.tensor_loop import BlockOp, ForOp, FuncOp
from ..primitives.steps import COUNT, Primitive, property_of
from .check import Checker
from .handles import BlockHandle, Handle, LoopHandle, Number, NumberHandle
from .methods import PrimitiveMethods
from .replay import Replay, run_primitive


class Schedule(PrimitiveMethods):
    """
    Schedules the loop functions of `module` in place. With `check` every step is tried on random inputs. Samples follow
    from `seed`. The same seed and calls give the same program, which holds the decisions and so replays as it ran.

    A primitive that is not legal raises `PassFailedException` with the loop or block to blame. The module and the
    program then stay as they were before it.
    """

    def __init__(self, module: ModuleOp, check: bool = False, seed: int = 0):
        observer = None
        if check:
            observer = Checker(module).after
        self.module = module
        self._program = ProgramOp()
        self._replay = Replay(module, observer, seed)

    def program(self) -> ProgramOp:
        """Returns the trace as a copy: the steps so far, with the samples."""
        return self._program.clone()

    def show(self, path: str | Path | None = None) -> None:
        """Shows the steps and the loops in a notebook, and the loops as text elsewhere. `path` is a file instead."""
        show(self, path)

    def _shown_text(self) -> str:
        """Returns what `show` prints: the steps so far and the module that they have made."""
        return "\n".join([str(self._program), str(self.module)])

    def __repr__(self) -> str:
        functions = [f"@{each.sym_name.data}" for each in self.module.walk() if isinstance(each, FuncOp)]
        more = f" and {len(functions) - 3} more" if len(functions) > 3 else ""
        steps = len(self._program.body.block.ops)
        return f"<stepwell.Schedule of {', '.join(functions[:3]) or 'no loop function'}{more}, {steps} steps>"

    def _repr_html_(self) -> str:
        steps = folded("steps", program(str(self._program)), is_open=True)
        return output(steps, folded("loops", program(str(self.module)), is_open=True))

    def _record(self, primitive: Primitive, arguments: dict[str, Any]) -> Any:
        handles: list[Handle] = []
        for parameter in primitive.parameters:
            value = arguments[parameter.name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                handles += value
            elif parameter.name != COUNT and primitive.field(parameter.name) is None:
                handles.append(value)
        self._check(handles)
        properties: dict[str, Attribute | None] = {}
        for parameter in primitive.parameters:
            field = primitive.field(parameter.name)
            if field is not None and field.kind == "numbers" and arguments[parameter.name] is not None:
                properties[field.name], numbers = _numbers(parameter.name, arguments[parameter.name])
                self._check(numbers)
                handles += numbers
            elif field is not None:
                properties[field.name] = property_of(field.kind, arguments[parameter.name])
        made = self._perform(self._step(primitive, handles, properties, arguments.get(COUNT)))
        if not primitive.op_type.MAKES:
            return None
        if "..." in primitive.op_type.MAKES:
            return made
        return made[0] if len(made) == 1 else tuple(made)

    def _check(self, handles: Sequence[Handle]) -> None:
        for handle in handles:
            if not isinstance(handle, Handle):
                raise TypeError(f"{handle!r} is no handle of a loop or block")
            if handle.replay is not self._replay:
                raise ValueError("a handle is of another schedule")

    def _step(
        self,
        primitive: Primitive,
        handles: Sequence[Handle],
        properties: dict[str, Attribute | None],
        count: int | None,
    ) -> StepOp:
        """Returns the step with as many results as its parameters say, or as the primitive finds."""
        values = [handle.value for handle in handles]
        if "..." not in primitive.op_type.MAKES:
            return primitive.op_type(values, None, **properties)
        if count is None:
            op = primitive.op_type(values, 0, **properties)
            count = op.num_made
            if count is None:
                targets = [self._replay.look_up(op, value) for value in op.targets]
                count = len(run_primitive(self._replay, op, targets))
        return primitive.op_type(values, count, **properties)

    def _perform(self, op: StepOp) -> list[Handle]:
        try:
            op.verify()
        except VerifyException as error:
            raise OperationError(op, str(error)) from error
        block = self._program.body.block
        block.add_op(op)
        try:
            made = self._replay.run(op)
        except BaseException:
            op.detach()
            raise
        for value, target in zip(op.made, made, strict=True):
            value.name_hint = "t"
            if isinstance(target, ForOp):
                value.name_hint = target.variable.name_hint
            elif isinstance(target, BlockOp):
                value.name_hint = _identifier(target.block_name.data)
        return [_kind_of(target)(value, self._replay) for target, value in zip(made, op.made, strict=True)]


def _kind_of(target: object) -> type[Handle]:
    if isinstance(target, ForOp):
        return LoopHandle
    return BlockHandle if isinstance(target, BlockOp) else NumberHandle


def _numbers(name: str, numbers: Sequence[Number | None]) -> tuple[DenseArrayBase, list[Handle]]:
    """Returns a list of numbers as the parameter `name`, and the handles that stand in it."""
    if isinstance(numbers, int | NumberHandle):
        raise TypeError(f"{name} is {numbers!r}, expected a list of numbers, such as [None, {numbers!r}]")
    for number in numbers:
        if not isinstance(number, int | NumberHandle | None):
            raise TypeError(f"{number!r} is no number, expected an int, None or what a step has sampled")
    written = [FROM_HANDLE if isinstance(number, NumberHandle) else number for number in numbers]
    return numbers_attribute(written), [each for each in numbers if isinstance(each, NumberHandle)]


def _identifier(name: str) -> str | None:
    """Returns a name for a handle, made of letters, digits and underscores."""
    cleaned = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    return cleaned if cleaned and not cleaned[0].isdigit() else None
