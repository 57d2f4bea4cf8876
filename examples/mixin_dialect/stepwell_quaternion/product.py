"""The op `quaternion.mul`, whose meaning is a tensor expression."""

from stepwell import te
from stepwell.dialects import graph
from xdsl.irdl import irdl_op_definition


def check_quaternions(x: graph.Shaped) -> None:
    """Raises an error of the op where the last dimension is not that of `w, x, y, z`."""
    if not x.shape or x.shape[-1] != 4:
        found = graph.shape_text(x.shape)
        raise graph.ShapeError(f"the last dimension holds w, x, y, z: expected 4, found shape {found}")


@irdl_op_definition
class MulOp(graph.PureGraphOp):
    """
    The Hamilton product of quaternions, element by element along all dimensions but the last.

    Shapes: both operands and the result are equal. The last dimension is 4: w, x, y, z.
    Types: floats.
    Source: W. R. Hamilton, "On quaternions", 1844. The product is not commutative.

    ```mlir
    %c = quaternion.mul %a, %b : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
    """

    name = "quaternion.mul"
    lhs = graph.tensor_operand("F")
    rhs = graph.tensor_operand("F")
    result = graph.tensor_result()

    @classmethod
    def infer(cls, lhs, rhs):
        if lhs.shape != rhs.shape:
            one, other = graph.shape_text(lhs.shape), graph.shape_text(rhs.shape)
            raise graph.ShapeError(f"lhs has shape {one} but rhs has shape {other}")
        check_quaternions(lhs)
        return (lhs,)

    def te(self, a, b):
        def component(*index):
            *outer, last = index
            p, q = ([each[(*outer, i)] for i in range(4)] for each in (a, b))
            w = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3]
            x = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2]
            y = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1]
            z = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]
            upper = te.select(te.equal(last, 2), y, z)
            return te.select(te.equal(last, 0), w, te.select(te.equal(last, 1), x, upper))

        return (te.compute(a.shape, component, name="hamilton"),)
