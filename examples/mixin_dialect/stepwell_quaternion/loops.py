"""The pass `lower-quaternion-products`: products become loops that compute the four components together."""

from dataclasses import dataclass

from stepwell.core import StepwellPass, copy_location, make_context, parse_text
from stepwell.dialects import graph
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from .chain import hamilton
from .product import MulOp


def loops_of_product(name: str, shape: tuple[int, ...], dtype: str) -> str:
    """Returns the text of a loop function. An iteration takes two quaternions and gives one."""
    buffer = f"memref<{'x'.join(map(str, shape))}x{dtype}>"
    axes = range(len(shape) - 1)
    at = ", ".join(f"%v{axis}" for axis in axes)
    bindings = ", ".join(f"%v{axis} in {shape[axis]} = %i{axis}" for axis in axes)
    lines = [
        f"tensor_loop.func private @{name}(%p: {buffer}, %q: {buffer}) outs(%r: {buffer}) {{",
        f"tensor_loop.grid ({', '.join(f'%i{axis}' for axis in axes)}) in ({', '.join(map(str, shape[:-1]))}) {{",
        f'tensor_loop.block "hamilton" spatial({bindings}) {{',
        *(f"%{i} = arith.constant {i} : index" for i in range(4)),
        *(f"%{x}{c} = memref.load %{x}[{at}, %{i}] : {buffer}" for x in "pq" for i, c in enumerate("wxyz")),
        *hamilton("p", "q", "r", dtype),
        *(f"memref.store %r{c}, %r[{at}, %{i}] : {buffer}" for i, c in enumerate("wxyz")),
        "} } }",
    ]
    return "\n".join(lines)


@dataclass(frozen=True)
class LowerQuaternionProductsPass(StepwellPass):
    """
    Turns products of quaternions into calls of loop functions.

    Before: `%c = quaternion.mul %a, %b : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>`
    After: `%c = graph.call_kernel @quaternion_mul_8x4xf32(%a, %b) : …`

    A product of single quaternions, or of sizes that are not known, stays.
    """

    name = "lower-quaternion-products"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        known = {each.sym_name.data for each in op.ops if hasattr(each, "sym_name")}
        for product in [each for each in op.walk() if isinstance(each, MulOp)]:
            shape, dtype = product.result.type.get_shape(), str(product.result.type.element_type)
            if len(shape) < 2 or not product.result.type.has_static_shape():
                continue
            name = f"quaternion_mul_{'x'.join(map(str, shape))}x{dtype}"
            if name not in known:
                known.add(name)
                module = parse_text(make_context(), loops_of_product(name, shape, dtype), f"<loops of {name}>")
                function = module.body.block.first_op
                function.detach()
                op.body.block.add_op(function)
            call = graph.CallKernelOp(name, product.operands, product.result_types)
            copy_location(product, call)
            Rewriter.replace_op(product, call)
            self.count("products")
