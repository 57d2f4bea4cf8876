"""The fusion by hand: a pass that moves each product and the addition of its bias into a function of their own."""

import stepwell
from stepwell.core import module_pass
from stepwell.dialects import graph
from stepwell.patterns import PRIMITIVE, NameSupply, functions_of, is_primitive, outlined
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp


class MatmulAddFusor(graph.GraphMutator):
    def __init__(self, module: ModuleOp):
        self.names, self.made = NameSupply(module), []

    def visit_add(self, op: graph.AddOp) -> CallOp | None:
        product = self.lookup_binding(op.lhs)
        # A product with a second user would be computed twice.
        if not isinstance(product, graph.MatmulOp) or not product.result.has_one_use():
            return None
        name = self.names.fresh("fused_matmul_add")
        inputs = [product.lhs, product.rhs, op.rhs]
        self.made.append(outlined(name, [product, op], op.results, inputs, PRIMITIVE))
        return CallOp(name, inputs, [op.result.type])


@module_pass("fuse-products-by-hand", opt_level=2)
class FuseProductsByHand:
    """Fuses products with their biases, in functions that are not fused themselves."""

    def transform_module(self, module: ModuleOp, ctx: Context) -> None:
        fusor = MatmulAddFusor(module)
        for function in list(functions_of(module)):
            if not is_primitive(function):
                fusor.mutate(function)
        module.body.block.add_ops(fusor.made)


module = stepwell.parse("mlp.mlir")
fused = stepwell.Sequential([FuseProductsByHand(), "eliminate-dead-code"])(module)
shipped = stepwell.Sequential(["fuse-matmul-add"])(module)
print("functions      ", [function.sym_name.data for function in functions_of(fused)])
print("as the shipped ", str(fused) == str(shipped))
print("a second time  ", str(FuseProductsByHand()(fused)) == str(fused))
with stepwell.PassContext(opt_level=1):  # below the level of the pass
    untouched = stepwell.Sequential([FuseProductsByHand()])(module)
print("at level 1     ", [function.sym_name.data for function in functions_of(untouched)])
