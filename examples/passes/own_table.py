"""A table of one's own: functions that say what stands for an op, or `None` to keep it."""

import stepwell
from stepwell.dialects import graph
from stepwell.rewrites import legalization
from xdsl.ir import Operation


@legalization("graph.exp", table="base-two")
def exp(op: Operation) -> Operation:
    """e^x = 2^(x * log2(e)), for a machine that knows powers of two only."""
    factor = graph.FullOp(1.4426950408889634, op.operands[0].type)
    return graph.Exp2Op(graph.MultiplyOp(op.operands[0], factor))


@legalization("graph.square", table="base-two")
def square(op: Operation) -> Operation | None:
    """Squares of few numbers are kept."""
    if op.operands[0].type.get_shape()[0] <= 4:
        return None
    return graph.MultiplyOp(op.operands[0], op.operands[0])


module = stepwell.parse("legalize.mlir")
print(stepwell.Sequential(["legalize{table=base-two}"])(module))
print(stepwell.Sequential(["legalize{table=nobody-knows}"])(module).is_structurally_equivalent(module))
