"""The rewrite by hand: a visitor that looks up what defines the operand of an addition."""

import stepwell
from stepwell.dialects import graph
from xdsl.ir import Operation


class FuseMultiplyAdd(graph.GraphMutator):
    """add(multiply(a, b), c) becomes ewise_fma(a, b, c)."""

    def visit_add(self, op: graph.AddOp) -> Operation | None:
        for product, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            made_by = self.lookup_binding(product)
            if isinstance(made_by, graph.MultiplyOp):
                return graph.EwiseFmaOp(made_by.lhs, made_by.rhs, other)
        return None


module = stepwell.parse("fma.mlir")
FuseMultiplyAdd().mutate(module)
print(module)
print(stepwell.Sequential(["eliminate-dead-code"])(module))
