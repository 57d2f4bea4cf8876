"""The lowering by hand: a table from ops to tensor expressions, each of which becomes a loop function."""

import stepwell
from stepwell import te
from stepwell.dialects import graph
from stepwell.te import library
from xdsl.ir import Operation

EXPRESSIONS = {
    "graph.matmul": library.matmul,
    "graph.add": library.add,
    "graph.relu": library.relu,
    "graph.permute_dims": library.permute_dims,
}


class LowerByMap(graph.GraphMutator):
    def __init__(self) -> None:
        self.kernels = {}

    def visit_op(self, op: Operation) -> graph.CallKernelOp | None:
        if op.name not in EXPRESSIONS:
            return None
        inputs = [te.placeholder(value.type.get_shape(), "f32") for value in op.operands]
        outputs = [EXPRESSIONS[op.name](*inputs)]
        name = f"{op.name.removeprefix('graph.')}_{len(self.kernels)}"
        self.kernels[name] = stepwell.create_prim_func([*inputs, *outputs], name)
        return graph.CallKernelOp(name, op.operands, [op.results[0].type])


module = stepwell.parse("mlp.mlir")
lowering = LowerByMap()
lowering.mutate(module)
module.body.block.add_ops(lowering.kernels.values())
module.verify()
print(next(iter(module.ops)))
print(lowering.kernels["relu_3"])
