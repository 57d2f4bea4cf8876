"""The program of steps, and the base class of the steps in it."""

from __future__ import annotations

from xdsl.ir import Region
from xdsl.irdl import irdl_op_definition, region_def, traits_def
from xdsl.traits import HasParent, IsolatedFromAbove, NoTerminator
from xdsl.utils.exceptions import VerifyException

from ...core.ir.reprs import ShownOp
from .base import StepOp, empty_program


@irdl_op_definition
class ProgramOp(ShownOp):
    """A schedule, which is a program of steps in order."""

    name = "schedule.program"

    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), NoTerminator())
    assembly_format = "attr-dict-with-keyword $body"

    def __init__(self, body: Region | None = None):
        super().__init__(regions=[empty_program() if body is None else body])

    def __repr__(self) -> str:
        return f"<ProgramOp schedule.program of {len(self.body.block.ops)} steps>"

    def verify_(self) -> None:
        for op in self.body.block.ops:
            if not isinstance(op, StepOp):
                raise VerifyException(f"'{op.name}' is no step of a schedule")


class InProgram(StepOp):
    """A step that stands in a `schedule.program`."""

    traits = traits_def(HasParent(ProgramOp))
