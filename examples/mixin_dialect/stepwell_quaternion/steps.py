"""The step of schedules `quaternion.vectorize_product`, and the pass that schedules products by it."""

from dataclasses import dataclass
from typing import ClassVar

from stepwell.core import StepwellPass, make_context, parse_text
from stepwell.dialects import schedule, tensor_loop
from stepwell.schedule import ApplySchedulePass, refuse
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.irdl import irdl_op_definition


@irdl_op_definition
class VectorizeProductOp(schedule.InProgram):
    """Multiplies several quaternions at a time, one in each lane of the vectors."""

    name = "quaternion.vectorize_product"
    TAKES: ClassVar = ("loop",)


def vectorize_product(replay, step, handles):
    """Marks the loop. It returns what the results of the step stand for: there are none."""
    (loop,) = handles
    inside = [each.name for each in loop.body.block.ops]
    if inside.count("tensor_loop.block") != 1 or "tensor_loop.for" in inside:
        refuse("the loop is not right around one product", loop)
    loop.kind = StringAttr("vectorized")
    return ()


@dataclass(frozen=True)
class ScheduleQuaternionProductsPass(StepwellPass):
    """Multiplies quaternions on vectors, in the loop functions of `lower-quaternion-products`."""

    name = "schedule-quaternion-products"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = [each.sym_name.data for each in op.ops if isinstance(each, tensor_loop.FuncOp)]
        own = [name for name in names if name.startswith("quaternion_mul_")]
        for name in own:
            axes = name.removeprefix("quaternion_mul_").count("x") - 1
            loops = [f"%l{axis}" for axis in range(axes)]
            text = f"""schedule.program {{
              %product = schedule.get_block "hamilton" in @{name}
              {", ".join(loops)} = schedule.get_loops %product : {axes}
              quaternion.vectorize_product {loops[-1]}
            }}"""
            program = parse_text(make_context(), text, f"<schedule of {name}>").body.block.first_op
            program.detach()
            op.body.block.add_op(program)
        if own:
            ApplySchedulePass().apply(ctx, op)
