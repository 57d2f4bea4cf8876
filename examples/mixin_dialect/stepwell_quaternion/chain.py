"""The op `quaternion.chain`, whose meaning is a loop function: each result needs the one before."""

from stepwell.dialects import graph
from xdsl.irdl import irdl_op_definition

from .product import check_quaternions

TERMS = {"w": "+ww-xx-yy-zz", "x": "+wx+xw+yz-zy", "y": "+wy-xz+yw+zx", "z": "+wz+xy-yx+zw"}
"""The products that each component is the sum of, in the order of `quaternion.mul`."""


def hamilton(p: str, q: str, r: str, dtype: str) -> list[str]:
    """Returns the lines that compute `%rw` to `%rz` from `%pw` to `%pz` and `%qw` to `%qz`."""
    lines = []
    for component, terms in TERMS.items():
        total = ""
        for number, (sign, left, right) in enumerate(zip(terms[::3], terms[1::3], terms[2::3], strict=True)):
            term = f"%{r}{component}{number}"
            lines.append(f"{term} = arith.mulf %{p}{left}, %{q}{right} : {dtype}")
            result = f"%{r}{component}" if number == 3 else f"{term}_sum"
            if total:
                lines.append(f"{result} = arith.{'addf' if sign == '+' else 'subf'} {total}, {term} : {dtype}")
            total = result if total else term
    return lines


@irdl_op_definition
class ChainOp(graph.PureTemplateOp):
    """
    The running product of quaternions, such as the rotations of the joints of an arm: `y[i] = 1 * x[0] * … * x[i]`.

    With `reverse` it runs from the end: `y[i] = 1 * x[n - 1] * … * x[i]`.

    Shapes: `n x 4`.
    Types: floats.

    ```mlir
    %y = quaternion.chain %x, reverse = true : (tensor<6x4xf32>) -> tensor<6x4xf32>
    ```
    """

    name = "quaternion.chain"
    operand = graph.tensor_operand("F")
    reverse = graph.prop(graph.BOOL, False)
    result = graph.tensor_result()

    @classmethod
    def infer(cls, operand, *, reverse):
        check_quaternions(operand)
        if len(operand.shape) != 2:
            raise graph.ShapeError(f"expected n x 4, found shape {graph.shape_text(operand.shape)}")
        return (operand,)

    def loop_function(self) -> str:
        n, dtype = self.operand.type.get_shape()[0], self.operand.type.element_type
        buffer = f"memref<{n}x4x{dtype}>"
        place = "arith.subi %last, %k" if graph.plain_properties(self)["reverse"] else "arith.addi %0, %k"
        totals = ", ".join(f"%t{c} = {'%one' if c == 'w' else '%zero'}" for c in "wxyz")
        lines = [
            f"tensor_loop.func private @chain(%x: {buffer}) outs(%y: {buffer}) {{",
            "tensor_loop.grid (%all) in (1) {",
            'tensor_loop.block "chain" spatial(%v in 1 = %all) {',
            *(f"%{i} = arith.constant {i} : index" for i in range(4)),
            f"%n = arith.constant {n} : index",
            f"%last = arith.constant {n - 1} : index",
            f"%one = arith.constant 1.0 : {dtype}",
            f"%zero = arith.constant 0.0 : {dtype}",
            f"%end:4 = scf.for %k = %0 to %n step %1 iter_args({totals}) -> ({', '.join([str(dtype)] * 4)}) {{",
            f"%i = {place} : index",
            *(f"%x{c} = memref.load %x[%i, %{i}] : {buffer}" for i, c in enumerate("wxyz")),
            *hamilton("t", "x", "r", str(dtype)),
            *(f"memref.store %r{c}, %y[%i, %{i}] : {buffer}" for i, c in enumerate("wxyz")),
            f"scf.yield %rw, %rx, %ry, %rz : {', '.join([str(dtype)] * 4)}",
            "} } } }",
        ]
        return "\n".join(lines)
